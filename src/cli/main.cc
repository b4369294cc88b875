// SPDX-License-Identifier: Apache-2.0
// The program: hands the command line to a verb; the only place where exceptions are caught.
#include <exception>
#include <new>
#include <string>

#include "cli/terminal/output.h"
#include "cli/verbs.h"
#include "cli/version.h"

namespace clrscope::cli {
extern const char kCommit[];  // made by cmake/commit.cmake
namespace {
#ifdef CLRSCOPE_IS_STATIC
constexpr bool kStatic = true;
#else
constexpr bool kStatic = false;
#endif
}  // namespace
}  // namespace clrscope::cli

int main(int argc, char** argv) {
  try {
    return clrscope::cli::Run(clrscope::cli::Args(argv + (argc > 0 ? 1 : 0), argv + argc),
                              {clrscope::cli::kCommit, clrscope::cli::kStatic});
  } catch (const std::bad_alloc&) {
    clrscope::cli::Warn("out of memory");
  } catch (const std::exception& e) {
    clrscope::cli::Warn(std::string("internal error: ") + e.what() + "; please report this");
  }
  return clrscope::cli::kExitFailure;
}
