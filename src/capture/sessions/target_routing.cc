// SPDX-License-Identifier: Apache-2.0
// Which actions of MVC there are, and which requests run again for an error page: where a program
// has conventional routes or such pages, it is asked for some moments, or all along
// (TargetOptions::actions). docs/decisions/0016-requests.md
#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "capture/sessions/cpu_budget.h"
#include "capture/sessions/target.h"

namespace clrscope::capture {
namespace {

using std::chrono::nanoseconds;

constexpr double kLookNsPerRequest = kRoutingNsPerRequest + kStatusNsPerRequest;
constexpr int64_t kEveryNs = 10'000'000'000, kShortestLookNs = 100'000'000,
                  kLongestLookNs = 3'000'000'000;
// A window may see no request of a page at all, and costs little: the next ones look, too, each
// time that twice as many have run again.
constexpr int64_t kWindowEveryNs = 1'000'000'000;

// `most`: requests a second that may be told, over the time to the next look.
int64_t LengthOf(double per_second, double most) {
  const double part = most / std::max(1.0, per_second);
  return std::clamp(static_cast<int64_t>(std::min(1.0, part) * static_cast<double>(kEveryNs)),
                    kShortestLookNs, kLongestLookNs);
}

}  // namespace

void Target::ResetRouting() {
  routing_run_.reset();
  routing_wanted_ = false;
  if (!options_.requests) return;
  if (options_.actions) fold_->requests().SplitActions();
  if (ExtrasOf(options_).routing)
    fold_->requests().OpenRouting();
  else if (home_.storms != nullptr)
    fold_->requests().ExpectActions();
}

void Target::WatchRouting() {
  if (state_ != State::kRecording || home_.storms == nullptr || ExtrasOf(options_).routing) return;
  const int64_t now_ns = home_.clock->now_ns();
  if (routing_run_ != nullptr || routing_wanted_ || now_ns < next_routing_ns_) return;
  const bool actions = fold_->requests().WantsActions(),
             reexecuted = fold_->requests().WantsReexecuted();
  if (!actions && !reexecuted) return;
  // Within a hundredth of the machine's CPU, or half of what requests may take.
  const double per_second = fold_->requests().per_second();
  double most = CpuBudget(std::thread::hardware_concurrency(), kLookNsPerRequest).most_per_second();
  if (meter_.limited())
    most = meter_.Allowed(profile::OverheadPart::kRequests) / 2 / kLookNsPerRequest;
  const int64_t length_ns = LengthOf(per_second, most);
  const double paid_ns = static_cast<double>(length_ns) * per_second / std::max(most, 1.0);
  next_routing_ns_ = now_ns + std::max(kEveryNs, static_cast<int64_t>(paid_ns));
  if (!std::exchange(routing_told_, true))
    notes_.push_back(fmt::format(
        "process {} {}: for some seconds clrscope enables ASP.NET Core's EndpointMatched and "
        "EndRequest events to find out {} (about {:.0f} µs a request)",
        process_.pid, actions ? "has conventional routes" : "runs requests again for error pages",
        actions ? "which actions there are" : "which ones", kLookNsPerRequest / 1000));
  if (request_phase_ != RequestPhase::kAll) {
    routing_wanted_ = true;
    if (!actions) next_routing_ns_ = now_ns + kWindowEveryNs;
    return;
  }
  routing_run_ = std::make_shared<WindowRun>();
  RunWindow(RoutingSession(kEventBufferMb), Kind::kRouting, routing_run_, nanoseconds(0),
            nanoseconds(length_ns));
  routing_run_->requests_at = fold_->requests().all_started();
}

void Target::EndRouting(const Live& live) {
  const bool failed = !live.decoder->complete() ||
                      live.decoder->losses()[Loss::kEventsDropped] != 0 ||
                      (live.window != nullptr && live.window->failed);
  const int64_t end_ns =
      live.window != nullptr ? home_.clock->SinceStart(live.window->end_ns) : fold_->last_ns();
  fold_->requests().CloseRouting(end_ns, failed);
  if (live.window != nullptr)
    meter_.Spend(profile::OverheadPart::kRequests,
                 static_cast<double>(fold_->requests().all_started() - live.window->requests_at) *
                     kLookNsPerRequest);
  if (routing_run_ == live.window) routing_run_.reset();
}

}  // namespace clrscope::capture
