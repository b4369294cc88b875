// SPDX-License-Identifier: Apache-2.0
// The program: hands the command line to a verb; the only place where exceptions are caught.
#include <exception>
#include <new>
#include <string>

#include "cli/terminal/output.h"
#include "cli/verbs.h"

int main(int argc, char** argv) {
  try {
    return clrscope::cli::Run(clrscope::cli::Args(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::bad_alloc&) {
    clrscope::cli::Warn("out of memory");
  } catch (const std::exception& e) {
    clrscope::cli::Warn(std::string("internal error: ") + e.what() + "; please report this");
  }
  return clrscope::cli::kExitFailure;
}
