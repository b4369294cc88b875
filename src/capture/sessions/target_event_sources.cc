// SPDX-License-Identifier: Apache-2.0
// Programs that have EventSource switched off send no request, no task and no counter. Where their
// configuration says so they are not asked. Where it cannot be seen, silence is all that there is
// to go by.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/sessions/target.h"
#include "ipc/processes/process_facts.h"

namespace clrscope::capture {
namespace {

// Counters and the histogram of requests come once a second.
constexpr int64_t kSilentNs = 5'000'000'000;

}  // namespace

bool Target::OfEventSources(Kind kind) {
  using enum OpenedTarget::Kind;
  return kind == kCounter || kind == kAllocationCounter || kind == kPool || kind == kRequests ||
         kind == kRequestsEnding || kind == kRequestWindow || kind == kTasks ||
         kind == kTasksEnding || kind == kTaskWindow || kind == kRouting || kind == kRequestCounter;
}

void Target::MissEventSources() {
  tables_->losses.Set(Loss::kEventSourcesOff, 1);
  if (std::exchange(sources_missed_, true)) return;
  notes_.push_back(
      fmt::format("process {} has EventSource switched off ({} is false in its "
                  "runtimeconfig.json): it tells of no request, and has no counters; "
                  "<EventSourceSupport>true</EventSourceSupport> in its project switches it on",
                  process_.pid, ipc::kEventSourceSwitch));
}

bool Target::SourcesTell() {
  for (const Live& s : sessions_) sources_tell_ |= OfEventSources(s.kind) && s.decoder->told();
  return sources_tell_;
}

bool Target::Silence::Lasts(int64_t now_ns, bool silent) {
  if (!silent) since_ns.reset();
  if (silent && !since_ns) since_ns = now_ns;
  return silent && now_ns - *since_ns >= kSilentNs;
}

// Requests came, and the histogram that was asked for has never said a word of them. Activities are
// no requests, and another tool's session is another reason.
bool Target::CountsMissing() {
  counts_asked_ |= Session(Kind::kRequestCounter) != nullptr;
  const analysis::RequestFold& requests = fold_->requests();
  return counts_asked_ && requests.all_started() != 0 && requests.collected_to_ns() == 0 &&
         !options_.activities && tables_->losses[Loss::kRequestsUncounted] == 0;
}

void Target::WatchEventSources(int64_t now_ns) {
  if (sources_missed_) return MissEventSources();  // in another recording, too
  if (state_ == State::kEnded) return;
  const bool open = std::any_of(sessions_.begin(), sessions_.end(),
                                [](const Live& s) { return OfEventSources(s.kind); });
  const bool silent = sources_silence_.Lasts(now_ns, open && !SourcesTell());
  if (options_.requests && (silent || SourcesTell()))
    tables_->losses.Set(Loss::kEventSourcesSilent, silent);
  if (silent && !std::exchange(sources_silence_.told, true)) {
    const bool counters = Session(Kind::kPool) != nullptr || Session(Kind::kCounter) != nullptr ||
                          Session(Kind::kAllocationCounter) != nullptr;
    notes_.push_back(fmt::format(
        "no {} comes from process {}: it {}, or has EventSource switched off ({} is false)",
        counters ? "counter of the runtime" : "event of ASP.NET Core", process_.pid,
        counters ? "stands still" : "has answered no request, is no program of ASP.NET Core",
        ipc::kEventSourceSwitch));
  }
  const bool uncounted = counts_silence_.Lasts(now_ns, CountsMissing());
  if (uncounted || fold_->requests().collected_to_ns() != 0)
    tables_->losses.Set(Loss::kRequestCountsMissing, uncounted);
  if (uncounted && !std::exchange(counts_silence_.told, true))
    notes_.push_back(fmt::format(
        "the runtime of process {} does not count its requests, as where "
        "System.Diagnostics.Metrics.Meter.IsSupported is false: their errors and statuses are not "
        "known, and with --requests=all only it is known how many there are",
        process_.pid));
}

}  // namespace clrscope::capture
