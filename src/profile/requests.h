// SPDX-License-Identifier: Apache-2.0
// What is known of requests beside how many there were and how long they took: the figure of
// Measure::kRequests has that, its cells labelled with route and duration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/strong.h"
#include "profile/tables/labels.h"

namespace clrscope::profile {

// What nothing ran for, of the requests of a route.
struct IdleTime {
  double queued_ns = 0, awaiting_ns = 0;
};
struct IdleFacts {
  struct Of : IdleTime {
    double watched = 0;  // requests
  };
  Of whole;                       // requests that were followed from their start to their end
  std::map<uint16_t, Of> ages{};  // in windows: watched to this age, idle at it (DurationScale)
  double watched() const;
  // Of `count` requests; none: nobody looked. In windows what was seen at an age stands for as many
  // requests more as fewer were watched to it.
  std::optional<IdleTime> Sum(double count) const;
};

// An operation within requests of a route, such as a call of another service.
struct ChildFacts {
  StringId operation;
  std::map<uint16_t, double> steps;  // of DurationScale: how many took so long
  double count = 0, sum_ns = 0, failed = 0;

  // Some of them; `labels` of RequestPart::kChild.
  void Add(const LabelSet& labels, double n, double ns) {
    steps[static_cast<uint16_t>(labels[LabelKey::kDuration])] += n;
    count += n;
    sum_ns += ns;
    if (labels[LabelKey::kStatus] != 0) failed += n;
  }
};

// Of one route of one process.
struct RouteFacts {
  uint32_t process = 0;
  StringId route;  // "GET /items/{id}"; none: what belongs to no request
  StringId of;     // an action's: the route that the runtime counts it to; none: it is no action
  // As the runtime's histogram counts them.
  double counted = 0, counted_ns = 0, failed = 0;
  std::map<uint32_t, double> statuses;
  // Those of `counted` that ran again for an error page, to which the runtime counts them.
  double reexecuted = 0;
  bool statuses_sure = true;  // false: which of them ended with which status is not known
  bool error_page = false;    // requests of other routes ran again for it
  double unended = 0;         // they went on when the recording ended
  double gc_waited_ns = 0, gc_caused_ns = 0;
  int64_t max_ns = 0;  // of the whole recording
  // In windows of time: requests that were seen to begin in one, how many requests each of them
  // stands for, and the part of the route's requests that took longer than a window.
  double watched = 0, stands_for = 1, beyond_windows = 0;
  IdleFacts idle{};
  std::vector<ChildFacts> children;  // each operation once

  ChildFacts& ChildOf(StringId operation) {
    for (ChildFacts& c : children)
      if (c.operation == operation) return c;
    children.emplace_back().operation = operation;
    return children.back();
  }
};

// The windows of time in which requests were followed: their length in all, and of what time.
struct RequestWindows {
  double count = 0, ns = 0, of_ns = 0;
  bool any() const { return count > 0; }
};

// One of the slowest.
struct SlowRequestRow {
  uint32_t process = 0;
  StringId route, path;
  int64_t start_ns = 0, duration_ns = 0;
  bool finished = true;
  uint64_t samples = 0;
  double bytes = 0, objects = 0;
  uint64_t exceptions = 0;
  int64_t lock_wait_ns = 0, gc_waited_ns = 0;
  int64_t queued_ns = -1, awaiting_ns = -1;  // negative: not known
};

struct Requests {
  std::vector<RouteFacts> routes;
  std::vector<SlowRequestRow> slowest;  // the slowest first
  RequestWindows windows;
  bool narrowed = false;  // to some of the requests of a route: what is told of all is of no use
};

// Rows of what belongs to no route.
inline constexpr std::string_view kNoRequest = "(no request)",
                                  kAfterResponse = "(after the response)", kOtherRoutes = "(other)",
                                  kOtherOperations = "(other)";

}  // namespace clrscope::profile
