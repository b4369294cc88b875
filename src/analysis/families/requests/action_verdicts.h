// SPDX-License-Identifier: Apache-2.0
// MVC's conventional routes ("{controller=Home}/{action=Index}/{id?}") fit nearly every path, but
// the program takes one only where there is such an action. That is learned from what it told of
// requests: docs/decisions/0016-requests.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/families/requests/route_template.h"

namespace clrscope::analysis {

// Route values of a request; empty: it has none. Spelled as the program has them.
struct ActionValues {
  std::string area, controller, action;
};
// From what DiagnosticSourceEventSource makes of HttpRequest.RouteValues, with "*Enumerate":
// "[controller, Home],[action, Index],[id, 5]".
ActionValues ParseActionValues(std::string_view route_values);

// By template and what a path makes of its action (RouteTemplate::ActionKey).
class ActionVerdicts {
 public:
  static constexpr size_t kMost = 10'000;

  // kMaybe: nothing is known.
  Fit Of(uint32_t index, std::string_view key) const;
  void Learn(uint32_t index, std::string_view key, bool exists);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Keys = std::unordered_map<std::string, bool, Hash, std::equal_to<>>;
  std::unordered_map<uint32_t, Keys> by_template_;
  size_t size_ = 0;
};

}  // namespace clrscope::analysis
