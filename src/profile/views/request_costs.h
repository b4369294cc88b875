// SPDX-License-Identifier: Apache-2.0
// What each route costs, over every measure of a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "profile/views/durations.h"

namespace clrscope::profile {

// Operations of one name within requests.
struct ChildCost {
  std::string_view operation;
  Durations durations;
  double failed = 0;
};

struct RequestCost {
  uint32_t process = 0;
  std::string_view route;  // "GET /items/{id}", or one of the names of profile/requests.h
  bool is_route = true;    // requests of that name are counted
  double count = 0;        // requests that ended
  Durations durations;
  RouteFacts facts;
  Estimate allocated;  // where allocations know requests: Figure::by_request()
  Estimate live;       // … what lives of it, where live objects know them
  Estimate cpu;        // … what threads used for it, where that is known
  double exceptions = 0, lock_wait_ns = 0;
  std::optional<IdleTime> idle{};   // none: it was not looked at
  std::vector<ChildCost> children;  // what took longest in all first
  double unseen_weight = 1;         // what a sample would have stood for, where there is none
};

// By process and route; what belongs to no request has a row too. `profile` must outlive them.
std::vector<RequestCost> RequestCosts(const Profile& profile);

// Whether a row of that name is of no route.
bool IsOfNoRoute(std::string_view name);

}  // namespace clrscope::profile
