// SPDX-License-Identifier: Apache-2.0
// To which request something belonged that is told late: what the agent follows, and events that
// are read when their request has ended.
#include <algorithm>

#include "analysis/families/requests/live_requests.h"
#include "analysis/families/requests/request_fold.h"
#include "profile/estimate/duration_scale.h"

namespace clrscope::analysis {

using profile::DurationScale;

namespace {

// The agent's clock and that of the runtime's events are told apart by so much.
constexpr int64_t kClocksNs = 20'000'000;

}  // namespace

profile::IntervalSink* RequestFold::FollowLive(profile::IntervalSink* next) {
  live_ = std::make_unique<LiveRequests>(this, next);
  return live_.get();
}

void RequestFold::Remember(const Request& r, uint32_t route, int64_t to_ns, bool ended) {
  const bool asked = live_ != nullptr || remembers_;
  if (!asked && !ended) return;
  const int64_t told_ns = std::max(to_ns, advanced_ns_);
  if (!ended_requests_.Add({r.path, told_ns, r.start_ns, to_ns, route, ended}) && asked)
    tables_->losses.Add(Loss::kRequestsForgotten);
}

bool RequestFold::AddLate(const EndedRequests::Ended& request, const Event& e) {
  if (!request.ended || e.time_ns < request.from_ns || e.time_ns > request.to_ns + kGraceNs)
    return false;
  const bool after = e.time_ns > request.to_ns;
  const uint16_t step = DurationScale::StepOf(request.to_ns - request.from_ns);
  const std::optional<Watched> watched = WatchedAt(request.from_ns, e, {});
  if (!watched) return false;
  HandOut(e, (after ? book_.After() : request.route) + uint64_t{1},
          after ? DurationScale::kUnknown : DurationScale::Rounded(step),
          after ? Watched{} : *watched, 1);
  return true;
}

int64_t RequestFold::SettledTo(int64_t now_ns) const {
  const int64_t ended_ns = now_ns - grace_ns_;
  if (!templates_expected_) return ended_ns;
  return std::min(ended_ns, std::max(collected_to_ns_, now_ns - LongestTemplate()));
}

uint64_t RequestFold::RequestOf(const ActivityPath& path, int64_t time_ns) {
  for (size_t n = path.size(); n > 0; --n) {
    const ActivityPath prefix = path.Prefix(n);
    uint32_t route = kNone;
    if (const uint32_t slot = index_.Find(prefix); slot != PathIndex::kNone) {
      const Request& r = requests_[slot];
      if (time_ns < r.start_ns) return 0;
      route = r.stopped() && time_ns > r.stop_ns ? book_.After() : RouteSoFar(r);
    } else if (const EndedRequests::Ended* e = ended_requests_.Find(prefix); e != nullptr) {
      if (time_ns > e->to_ns && !e->ended) return 0;
      route = time_ns > e->to_ns ? book_.After() : e->route;
    } else {
      continue;
    }
    ++tables_->requests.changes;
    return route + uint64_t{1};
  }
  return 0;
}

RequestFold::Whose RequestFold::WhoseIs(const ActivityPath& path, int64_t time_ns) {
  const auto after = [&]() -> Whose {
    ++tables_->requests.changes;
    return {book_.After() + 1, true};
  };
  for (size_t n = path.size(); n > 0; --n) {
    const ActivityPath prefix = path.Prefix(n);
    if (const uint32_t slot = index_.Find(prefix); slot != PathIndex::kNone) {
      const Request& r = requests_[slot];
      // Whether its window is whole is not known yet.
      if (r.windowed) return {0, false};
      if (r.stopped() && time_ns > r.stop_ns + kClocksNs) return after();
      ++tables_->requests.changes;
      return {RouteSoFar(r) + 1, false};
    }
    if (const EndedRequests::Ended* e = ended_requests_.Find(prefix); e != nullptr) {
      if (time_ns <= e->to_ns + kClocksNs) return {e->route + 1, true};
      return e->ended ? after() : Whose{0, true};
    }
  }
  return {0, true};
}

}  // namespace clrscope::analysis
