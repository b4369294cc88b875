// SPDX-License-Identifier: Apache-2.0
// Requests in windows of time: a request is followed from its start, if that is within a window, to
// its end or the window's, whichever comes first. What began before the window has no id, or that
// of a request of an earlier window which its work outlived: neither counts.
// docs/decisions/0016-requests.md
#include <algorithm>
#include <utility>

#include "analysis/families/requests/request_fold.h"
#include "profile/estimate/duration_scale.h"

namespace clrscope::analysis {

using profile::DurationScale;
using profile::LabelKey;
using profile::LabelSet;
using profile::RequestPart;

void RequestFold::BeginWindows(int64_t now_ns) {
  Interrupt(now_ns);
  in_windows_ = true;
  book_.SetPartial();
  watched_to_ns_ = now_ns;
  counted_ = starts_.per_second();
  intervals_ = 0;
  activities_per_second_ = 0;
}

void RequestFold::EndWindows() {
  in_windows_ = false;
  starts_.Clear();
  if (!windows_.empty() && !windows_.back().closed()) windows_.back().failed = true;
}

void RequestFold::OpenWindow(uint64_t group) {
  children_.Forget();
  Window& w = windows_.emplace_back();
  w.group = group;
}

void RequestFold::CloseWindow(int64_t end_ns, bool failed) {
  if (windows_.empty() || windows_.back().closed()) return;
  Window& w = windows_.back();
  w.end_ns = std::min(end_ns, end_ns_);
  w.failed = w.failed || failed;
}

double RequestFold::per_second() const {
  return in_windows_ ? counted_ + activities_per_second_ : starts_.per_second();
}

// Its events are of no request that is known.
void RequestFold::GiveUp(Request& r) {
  TakeEvents(r, [this](const Event& e) { HandOut(e); });
}

void RequestFold::EndWatched(Request& r, const Window& w, double weight) {
  const bool ended = r.stopped() && r.stop_ns <= w.end_ns;
  const int64_t to_ns = ended ? r.stop_ns : w.end_ns;
  LearnAction(r);
  const uint32_t route = RouteOf(r, true, to_ns);
  const uint16_t step = DurationScale::StepOf(to_ns - r.start_ns);
  const auto at = [&](int64_t ns) { return Watched{w.group, DurationScale::AgeOf(ns)}; };
  Count(route, RequestPart::kWatched, 0, r.start_ns, {1, 0, 1}, at(w.end_ns - r.start_ns));
  TakeEvents(r, [&](const Event& e) {
    if (e.time_ns > to_ns) {
      UncountEvent(r, e);
      return HandOut(e);
    }
    const auto watched = WatchedAt(r.start_ns, e, at(e.time_ns - r.start_ns));
    if (!watched) return HandOut(e);
    HandOut(e, route + uint64_t{1}, DurationScale::Rounded(step), *watched, weight);
  });
  const auto idle = CountIdle(r, route, to_ns, ended);
  ++tables_->requests.changes;
  Remember(r, route, to_ns, false);
  if (ended) {
    const int64_t ns = to_ns - r.start_ns;
    Count(route, RequestPart::kEnded, step, to_ns, {1, static_cast<uint64_t>(ns), 1}, at(ns));
    int64_t& longest = tables_->requests.routes[route].max_ns;
    longest = std::max(longest, ns);
    if (IsFailedAction(r, route)) Count(route, RequestPart::kFailed, 0, to_ns, {1, 0, 1}, at(ns));
    CountLooked(r, route);
    const int64_t gc_ns = pauses_.Within(r.start_ns, to_ns);
    if (gc_ns > 0)
      Count(route, RequestPart::kGcWaited, 0, to_ns, {1, static_cast<uint64_t>(gc_ns), 0}, at(ns));
    NoteSlow(r, route, ns, gc_ns, idle);
  }
}

void RequestFold::FinishWindow(Window& w, int64_t now_ns) {
  const bool good = !w.failed && w.closed();
  int64_t begin_ns = now_ns;
  for (const Turn& turn : w.requests)
    if (requests_[turn.slot].serial == turn.serial)
      begin_ns = std::min(begin_ns, requests_[turn.slot].start_ns);
  // The runtime gives ids from some moment of the session's opening on: from the first start.
  const int64_t length_ns = good ? std::max<int64_t>(0, w.end_ns - begin_ns) : 0;
  const int64_t stands_for_ns = good ? std::max<int64_t>(0, w.end_ns - watched_to_ns_) : 0;
  const double weight =
      length_ns > 0 ? static_cast<double>(stands_for_ns) / static_cast<double>(length_ns) : 1;
  for (const Turn& turn : w.requests) {
    Request& r = requests_[turn.slot];
    if (r.serial != turn.serial) continue;
    if (good && r.start_ns < w.end_ns)
      EndWatched(r, w, weight);
    else
      GiveUp(r);
    Free(turn.slot);
  }
  w.requests.clear();
  if (!good) return;
  if (length_ns > 0)
    activities_per_second_ =
        static_cast<double>(w.activities) * 1e9 / static_cast<double>(length_ns);
  watched_to_ns_ = w.end_ns;
  const uint16_t label = tables_->labels.Find(
      LabelSet()
          .With(LabelKey::kRequestPart, static_cast<uint64_t>(RequestPart::kWindows))
          .With(LabelKey::kRequestWindow, w.group));
  if (label == profile::LabelTable::kOther) return tables_->losses.Add(Loss::kLabelsCapped);
  AddOwn(w.end_ns, label,
         {1, static_cast<uint64_t>(length_ns), static_cast<uint64_t>(stands_for_ns)});
}

// `all`: whatever is known of them. One that is open is given up, and what follows of it, too.
void RequestFold::FinishWindows(int64_t now_ns, bool all) {
  while (!windows_.empty()) {
    Window& w = windows_.front();
    if (!w.closed()) {
      if (!all) return;
      w.failed = true;
      return FinishWindow(w, now_ns);
    }
    const bool told = !templates_expected_ || collected_to_ns_ >= w.end_ns ||
                      w.end_ns < now_ns - LongestTemplate();
    if (!all && (w.end_ns > now_ns - grace_ns_ || !told)) return;
    FinishWindow(w, now_ns);
    windows_.pop_front();
  }
}

}  // namespace clrscope::analysis
