// SPDX-License-Identifier: Apache-2.0
// The text of a source file that a recording's lines are of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::report {

struct SourceCode {
  std::string where;               // "the PDB", or a path
  std::vector<std::string> lines;  // from line 1
  bool checked = false;            // it is the text that was compiled, by its checksum
};

// The one source file of the profile whose path is `name`, or ends with it: "OrderService.cs",
// "Orders/OrderService.cs". errors: kEmpty (none), kUsage (several)
Result<uint32_t> FindSourceFile(const profile::Profile& profile, std::string_view name);

struct SourceSearch {
  std::optional<SourceCode> found;
  std::string another;  // where a text of another version is, by its checksum
};
// From the PDB; below one of `folders`, by as much of the compiler's path as there is; with
// `own_path`, or at that path.
SourceSearch LookForSource(const profile::Profile& profile, uint32_t file,
                           const std::vector<std::string>& folders, bool own_path);

// With `own_path`. errors: kNotFound, which says what was another version
Result<SourceCode> ReadSource(const profile::Profile& profile, uint32_t file,
                              const std::vector<std::string>& folders);

}  // namespace clrscope::report
