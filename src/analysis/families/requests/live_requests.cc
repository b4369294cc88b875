// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/live_requests.h"

#include <algorithm>
#include <utility>

#include "analysis/families/requests/request_fold.h"
#include "profile/estimate/reservoir.h"

namespace clrscope::analysis {

void LiveRequests::OnInterval(profile::AgentInterval&& interval) {
  waiting_.push_back(std::move(interval));
  Settle(settled_ns_);
}

void LiveRequests::Settle(int64_t to_ns) {
  settled_ns_ = to_ns;
  while (!waiting_.empty() && waiting_.front().end_ns() <= to_ns) {
    HandOn(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

bool LiveRequests::Resolve(Activity& a) {
  const RequestFold::Whose whose = requests_.WhoseIs(a.path, a.time_ns);
  a.request = whose.request;
  return a.certain = whose.certain;
}

uint32_t LiveRequests::RequestOf(uint32_t number) const {
  if (number == 0) return 0;
  const auto it = activities_.find(number);
  return it == activities_.end() ? 0 : it->second.request;
}

void LiveRequests::HandOn(profile::AgentInterval&& interval) {
  profile::IntervalFrame& f = interval.frame;
  if (f.sequence < next_sequence_ || interval.shift_ns != shift_ns_) {  // another agent
    activities_.clear();
    uncertain_.clear();
  }
  next_sequence_ = f.sequence + 1;
  shift_ns_ = interval.shift_ns;
  // Requests that go on may have ended since.
  std::erase_if(uncertain_, [this](uint32_t number) {
    const auto it = activities_.find(number);
    return it == activities_.end() || Resolve(it->second);
  });
  for (const profile::IntervalActivity& told : f.activities) {
    const auto [it, added] = activities_.try_emplace(told.number);
    if (!added) continue;
    it->second.path = ActivityPath::Of(told.id);
    it->second.time_ns = told.first_ns + interval.shift_ns;
    if (!Resolve(it->second)) uncertain_.push_back(told.number);
  }
  for (profile::IntervalLive& l : f.lives) l.request = RequestOf(l.request);
  for (profile::IntervalTurnover& t : f.turnover) t.request = RequestOf(t.request);
  profile::MergeLives(f.lives);
  profile::MergeTurnover(f.turnover);
  for (const uint32_t number : f.ended_activities) activities_.erase(number);
  while (activities_.size() > kMostActivities) activities_.erase(activities_.begin());
  f.activities.clear();
  f.ended_activities.clear();
  // A session tells what is allocated, with its requests.
  f.flows.clear();
  f.parts.clear();
  next_.OnInterval(std::move(interval));
}

}  // namespace clrscope::analysis
