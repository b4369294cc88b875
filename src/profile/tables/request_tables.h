// SPDX-License-Identifier: Apache-2.0
// What is known of a process's requests beside its series: their routes, the operations within
// them, and the slowest ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/strong.h"

namespace clrscope::profile {

// The numbers are stored in captures.
enum class RouteKind : uint8_t {
  // As the runtime's histogram tells it: `text` is the template. Without a method: as its counter
  // of matches tells it, which knows none; RequestPart::kMatched alone is of such a route.
  kTemplate = 0,
  kNoRoute = 1,   // of a method, that match no template: 404, 405, middleware; without: as above
  kPath = 2,      // no template was known yet: `text` is the path of the first one
  kAfter = 3,     // work that goes on after the response
  kOther = 4,     // there are too many routes
  kActivity = 5,  // no request, but an activity of the program's: `text` is "NAME (source)"
  kAction = 6,    // of MVC: `text` is the template with the action's name, `of` the template
};
inline constexpr RouteKind kLastRouteKind = RouteKind::kAction;

struct RequestRoute {
  RouteKind kind = RouteKind::kOther;
  StringId method, text;
  int64_t max_ns = 0;  // the longest of its requests
  uint32_t of = 0;     // of kAction: index into `routes`
};

// One of the requests that took longest.
struct SlowRequest {
  int64_t start_ns = 0, duration_ns = 0;
  uint32_t route = 0;  // index into `routes`
  std::string path;    // cut after some 100 bytes
  bool finished = true;
  uint64_t samples = 0;  // of allocations
  double bytes = 0, objects = 0;
  uint64_t exceptions = 0;
  int64_t lock_wait_ns = 0, gc_waited_ns = 0;
  int64_t queued_ns = -1, awaiting_ns = -1;  // negative: not known
};

struct RequestTables {
  // Slowest requests that are kept.
  static constexpr size_t kMostSlow = 200;
  std::vector<RequestRoute> routes;
  std::vector<StringId> operations;  // "HTTP api.example.com:443"
  std::vector<SlowRequest> slowest;  // a heap: the fastest of them first
  uint64_t changes = 0;              // so that a writer knows of them
};

}  // namespace clrscope::profile
