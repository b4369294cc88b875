// SPDX-License-Identifier: Apache-2.0
// Which address on the web a source file has, as a PDB's SourceLink says.
// Source: dotnet/designs accepted/2020/diagnostics/source-link.md
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clrscope::places {

class SourceLink {
 public:
  SourceLink() = default;
  // {"documents": {"/src/*": "https://example.com/*"}}; what is damaged links nothing.
  explicit SourceLink(std::string_view json);

  // "" where there is none, or it is no http(s) address.
  std::string UrlOf(std::string_view path) const;

 private:
  std::vector<std::pair<std::string, std::string>> links_;  // longest pattern first
};

}  // namespace clrscope::places
