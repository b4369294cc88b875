// SPDX-License-Identifier: Apache-2.0
// The routes of what the agent follows: its intervals tell the activities that objects were
// allocated in, and go on with the routes of these. They wait until what had ended by then has its
// route. docs/decisions/0016-requests.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "analysis/families/requests/activity_path.h"
#include "profile/tables/agent_tables.h"

namespace clrscope::analysis {

class RequestFold;

class LiveRequests final : public profile::IntervalSink {
 public:
  // More than an agent can follow: frames that were lost may have told that some have ended.
  static constexpr size_t kMostActivities = 1'200'000;

  // Both must outlive this.
  LiveRequests(RequestFold* requests, profile::IntervalSink* next)
      : requests_(*requests), next_(*next) {}

  void OnInterval(profile::AgentInterval&& interval) override;
  // Routes are known of all requests that ended by then; INT64_MAX: as far as they ever will be.
  void Settle(int64_t to_ns);

 private:
  struct Activity {
    ActivityPath path;
    int64_t time_ns = 0;
    uint32_t request = 0;  // of a recording's row
    bool certain = false;
  };
  void HandOn(profile::AgentInterval&& interval);
  bool Resolve(Activity& activity);
  uint32_t RequestOf(uint32_t number) const;

  RequestFold& requests_;
  profile::IntervalSink& next_;
  std::deque<profile::AgentInterval> waiting_;
  int64_t settled_ns_ = INT64_MIN;
  std::map<uint32_t, Activity> activities_;  // by number
  std::vector<uint32_t> uncertain_;
  uint64_t next_sequence_ = 0;
  int64_t shift_ns_ = 0;
};

}  // namespace clrscope::analysis
