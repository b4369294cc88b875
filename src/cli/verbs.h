// SPDX-License-Identifier: Apache-2.0
// The table of verbs, and the program's own help. A new verb is one more row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/version.h"

namespace clrscope::cli {

using Args = std::vector<std::string>;  // of a verb: what follows it on the command line

struct Verb {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Args& args);  // returns the exit code
};
std::span<const Verb> Verbs();

// The whole program: `args` is the command line without the program's name.
int Run(const Args& args, const Build& build);

}  // namespace clrscope::cli
