// SPDX-License-Identifier: Apache-2.0
// Narrows a profile to the types, methods and processes that someone asked about.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::profile {

// Empty = everything. `type` and `method` are RE2 patterns, found anywhere in the C# name or in the
// runtime's name; a stack matches when any of its frames does. `process` is a pid or a whole name;
// `thread` a pattern that is found in a thread's name or is its number.
struct Filter {
  std::string type{}, method{}, process{}, thread{};
  std::string request{};  // a pattern that is found in the route's name
  // Of requests that took as long, rounded down (profile/estimate/duration_scale.h): so many
  // nanoseconds, or this quantile of their route's; 0 = any.
  int64_t slower_than_ns = 0;
  double slower_than_quantile = 0;
  // Of wall time: names of states, with commas between them; empty: all but idle.
  std::string state{};
  bool all_states = false;
  // A figure that does not know threads (spans of time) of its cells loses its own by such a
  // filter: Figure::by_thread(), by_time().
  bool of_cells() const { return !type.empty() || !method.empty(); }
  bool by_duration() const { return slower_than_ns > 0 || slower_than_quantile > 0; }
  bool of_requests() const { return !request.empty() || by_duration(); }
  bool any_but_process() const { return of_cells() || !thread.empty() || of_requests(); }
};

// Whether a route's name matches `request`; null: it is empty. errors: kUsage
Result<std::function<bool(std::string_view)>> RouteMatch(const Filter& filter);

// Removes what does not match, in place; of wall time also what is idle, unless the states are
// asked for. errors: kUsage (a bad pattern, with its position), kEmpty
// (no such process, naming those that there are). Nothing left is no error.
Status Apply(const Filter& filter, Profile& profile);

}  // namespace clrscope::profile
