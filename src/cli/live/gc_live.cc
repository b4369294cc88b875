// SPDX-License-Identifier: Apache-2.0
#include "cli/live/gc_live.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "capture/record/signals.h"
#include "cli/terminal/output.h"

namespace clrscope::cli {
namespace {

using namespace std::chrono_literals;
using profile::GcRecord;
using SteadyClock = std::chrono::steady_clock;

class GcWatch final : public capture::SessionObserver {
 public:
  GcWatch(const GcWatchOptions& options, const OnGc& on_gc) : options_(options), on_gc_(on_gc) {}

  Result<profile::Profile> Run() {
    ASSIGN_OR_RETURN(const capture::Signals signals, capture::Signals::Take());
    ASSIGN_OR_RETURN(engine_, StartEngine(options_.selection, true,
                                          [this](auto& engine) { engine.AddObserver(this); }));
    const auto start = SteadyClock::now();
    while (!quit_) {
      if (!engine_->Work()) Wait(signals);
      signals.ForEach([this](int signal) { OnSignal(signal); });
      RETURN_IF_ERROR(ShowNew(false));
      if (options_.duration_ns &&
          SteadyClock::now() - start >= std::chrono::nanoseconds(*options_.duration_ns))
        break;
      if (!options_.selection.discovers() && !engine_->any_recording()) break;
    }
    StopLive(*engine_);
    RETURN_IF_ERROR(ShowNew(true));
    return Bound();
  }

  void OnEnded(const capture::Target& target) override {
    if (target.lost()) Warn(fmt::format("process {} ended", target.process().pid));
  }
  void OnNote(const capture::Target&, const std::string& note) override { Warn(note); }
  void OnSkipped(const ipc::DotnetProcess& process, const Error& error) override {
    Warn(fmt::format("not watched: {} ({}): {}", process.name, process.pid, error.message));
  }

 private:
  // So many before a collection tell what follows from them.
  static constexpr size_t kContext = 64;
  struct History {
    profile::GcRecords gcs;
    size_t shown = 0;
    uint64_t gone = 0;
  };

  void Wait(const capture::Signals& signals) {
    pollfd fd = {signals.fd(), POLLIN, 0};
    engine_->Wait(100ms, std::span(&fd, 1));
  }

  void OnSignal(int signal) {
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) quit_ = true;
    if (signal == SIGTSTP) SuspendLive(*engine_);
  }

  // Binding costs more than a line: a flood of collections is shown some at a time.
  Status ShowNew(bool at_once) {
    bool any = false;
    const auto& processes = engine_->recording().processes;
    histories_.resize(processes.size());
    for (size_t p = 0; p < processes.size(); ++p) {
      History& h = histories_[p];
      // Copied: what comes a few at a time would keep a block each.
      h.gcs.Append(processes[p]->gcs);
      processes[p]->gcs.clear();
      any = any || h.shown < h.gcs.size();
    }
    const auto now = SteadyClock::now();
    if (!any || (!at_once && now < next_)) return OkStatus();
    next_ = now + 100ms;
    if (on_gc_) RETURN_IF_ERROR(Show());
    for (History& h : histories_) {
      h.shown = h.gcs.size();
      if (h.gcs.size() <= options_.max_gcs + options_.max_gcs / 8) continue;
      const size_t most = h.gcs.size() - options_.max_gcs;
      h.gcs.KeepLast(options_.max_gcs);
      h.gone += most;
      h.shown -= most;
    }
    return OkStatus();
  }

  Status Show() {
    const auto& processes = engine_->recording().processes;
    std::vector<std::set<uint32_t>> fresh(processes.size());
    for (size_t p = 0; p < processes.size(); ++p) {
      const History& h = histories_[p];
      const size_t from = h.shown > kContext ? h.shown - kContext : 0;
      processes[p]->gcs = profile::GcRecords(h.gcs.begin() + from, h.gcs.end());
      for (size_t i = h.shown; i < h.gcs.size(); ++i) fresh[p].insert(h.gcs[i].number);
    }
    const profile::Profile bound = Bind();
    for (const auto& t : processes) t->gcs.clear();
    for (const analysis::ProcessGcs& report : analysis::GcReportOf(bound))
      for (size_t i = 0; i < report.gcs.size(); ++i)
        if (fresh[report.process].contains(report.gcs[i].number))
          RETURN_IF_ERROR(on_gc_(report, i, bound));
    return OkStatus();
  }

  profile::Profile Bind() {
    const profile::Recording& recording = engine_->recording();
    return analysis::Bind(recording, analysis::Aggregate(&recording), {});
  }

  profile::Profile Bound() {
    const auto& processes = engine_->recording().processes;
    for (size_t p = 0; p < processes.size(); ++p) {
      processes[p]->gcs = std::move(histories_[p].gcs);
      if (histories_[p].gone != 0)
        Warn(
            fmt::format("process {}: its first {} GCs are not in the summary; clrscope record "
                        "keeps all",
                        processes[p]->info.pid, histories_[p].gone));
    }
    return Bind();
  }

  const GcWatchOptions& options_;
  const OnGc& on_gc_;
  std::unique_ptr<capture::SessionEngine> engine_;
  std::vector<History> histories_;  // by index of the process
  SteadyClock::time_point next_;
  bool quit_ = false;
};

}  // namespace

Result<profile::Profile> WatchGcs(const GcWatchOptions& options, const OnGc& on_gc) {
  return GcWatch(options, on_gc).Run();
}

}  // namespace clrscope::cli
