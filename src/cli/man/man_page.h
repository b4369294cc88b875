// SPDX-License-Identifier: Apache-2.0
// The manual page, in man(7), of the same texts as --help: nothing of it is written twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clrscope::cli {

// One option as help shows it: "-o, --output", "FILE", what it does. `value` is "" of flags.
struct OptionText {
  std::string names, value, about;
};
struct OptionGroup {
  std::string heading;  // "Options", "Filters"
  std::vector<OptionText> options;
};

// Text that man shows as it is, characters beyond ASCII by their numbers; a line stays a line.
std::string ManText(std::string_view text);
// A paragraph that keeps its lines and its blanks, as examples do.
std::string ManVerbatim(std::string_view text);
// ".TH" and what follows up to the verbs. `date`: "2026-11-25".
std::string ManTitle(std::string_view version, std::string_view date);
// A verb, as a part of the page's section COMMANDS.
std::string ManVerb(std::string_view verb, std::string_view usage, std::string_view about,
                    std::string_view examples, const std::vector<OptionGroup>& groups);

}  // namespace clrscope::cli
