// SPDX-License-Identifier: Apache-2.0
// Wall time: where threads wait, by looks at them. docs/decisions/0017-cpu.md
#include <fmt/format.h>

#include "capture/kernel/wall_sampler.h"
#include "capture/sessions/target.h"

namespace clrscope::capture {

void Target::BeginWall() {
  fold_->cpu().TellWall(&fold_->wall());
  wall_dropped_ = 0;
  wall_ = std::make_unique<WallSampler>(process_.pid, options_.wall_hz, KnowCode());
}

bool Target::PumpWall() {
  wall_spans_.clear();
  // Another thread has read this: what is mapped now is better.
  if (const std::string maps = wall_->Take(wall_spans_); !maps.empty() && !ReadImages())
    SeeMaps(maps);
  for (const WallSpan& s : wall_spans_)
    fold_->wall().OnSpan({static_cast<uint64_t>(s.thread), s.ns,
                          home_.clock->SinceStart(s.first_ns), home_.clock->SinceStart(s.last_ns),
                          s.looks, s.state, s.addresses});
  tables_->losses.Add(Loss::kCpuSamplesDropped, wall_->dropped() - wall_dropped_);
  wall_dropped_ = wall_->dropped();
  if (wall_->blind() && !std::exchange(wall_blind_told_, true))
    notes_.push_back(fmt::format(
        "where threads of process {} wait is not told here, only for how long: it takes the right "
        "to trace the process (its user and kernel.yama.ptrace_scope=0, or CAP_SYS_PTRACE)",
        process_.pid));
  return !wall_spans_.empty();
}

void Target::StopWall() {
  if (wall_ == nullptr) return;
  wall_->Stop();
  (void)PumpWall();
  // Programs with many threads that run.
  if (const auto hz = wall_->slowed_to_hz())
    notes_.push_back(fmt::format(
        "clrscope looked at the threads of process {} for wall time {:.0f} times a second, not {}: "
        "looks take 1 % of a CPU at most for each process",
        process_.pid, *hz, options_.wall_hz));
  wall_.reset();
}

}  // namespace clrscope::capture
