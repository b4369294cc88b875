// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/cpu/cpu_fold.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "profile/stacks/made_up_frames.h"

namespace clrscope::analysis {

using profile::LabelKey;
using profile::LabelSet;
using profile::LabelTable;
using profile::SeriesKey;
using profile::Source;
using profile::StackTree;

uint16_t CpuFold::LabelOf(uint64_t thread) {
  const uint16_t label = tables().labels.Find(LabelSet().With(LabelKey::kThread, thread));
  if (label == LabelTable::kOther) tables().losses.Add(Loss::kLabelsCapped);
  return label;
}

uint32_t CpuFold::MadeUp(uint64_t address, uint64_t thread, int64_t time_ns) {
  return tables().stacks.Fold(reinterpret_cast<const std::byte*>(&address), 1, sizeof(address),
                              thread, time_ns);
}

void CpuFold::OnSample(uint64_t thread, int64_t time_ns, std::span<const uint64_t> addresses,
                       uint64_t ns) {
  on_ = true;
  ++samples_;
  if (waiting_ >= kMostSamples || (threads_.size() >= kMostThreads && !threads_.contains(thread)))
    return tables().losses.Add(Loss::kCpuSamplesDropped);
  uint32_t node = StackTree::kNoStack;
  if (!addresses.empty())
    node = tables().stacks.Fold(reinterpret_cast<const std::byte*>(addresses.data()),
                                static_cast<uint32_t>(addresses.size()), sizeof(uint64_t), thread,
                                time_ns);
  if (node == StackTree::kOther) tables().losses.Add(Loss::kStackNodesCapped);
  threads_[thread].waiting.push_back({time_ns, node, ns});
  ++waiting_;
}

void CpuFold::Emit(uint64_t thread, int64_t time_ns, uint32_t node, int64_t ns, bool sampled) {
  if (ns < 0) ns = 0;
  const SeriesKey key = SeriesKey::Make(node, 0, profile::HeapKind::kUnknown, Source::kCpuClock, 0);
  tables().source_samples[static_cast<size_t>(Source::kCpuClock)] += sampled ? 1 : 0;
  slices_.Add(time_ns, key, LabelOf(thread), 0, 0,
              {1, static_cast<uint64_t>(ns), sampled ? uint64_t{1} : 0});
}

// By the clock samples stand for about the same each; what is rounded off goes to the next one.
void CpuFold::HandOut(uint64_t thread, Thread& t, int64_t ns) {
  double clock = 0;
  for (const Sample& s : t.waiting) clock += static_cast<double>(s.ns);
  const double factor = clock > 0 ? static_cast<double>(std::max<int64_t>(0, ns)) / clock : 0;
  double exact = 0;
  int64_t given = 0;
  for (const Sample& s : t.waiting) {
    exact += factor * static_cast<double>(s.ns);
    const int64_t part = std::llround(exact) - given;
    given += part;
    Emit(thread, s.time_ns, s.node, part, true);
  }
  waiting_ -= t.waiting.size();
  t.waiting.clear();
}

int64_t CpuFold::TakeKernel(uint64_t id, Thread& t, const ThreadTime& now, int64_t ns,
                            int64_t now_ns) {
  if (kernel_told_ || now.system_ticks < 0 || t.system_ticks < 0) return 0;
  const int64_t user = now.user_ticks - t.user_ticks, system = now.system_ticks - t.system_ticks;
  if (system <= 0 || ns <= 0) return 0;
  const auto part = static_cast<int64_t>(static_cast<double>(ns) * static_cast<double>(system) /
                                         static_cast<double>(std::max<int64_t>(1, user + system)));
  Emit(id, now_ns, MadeUp(profile::kKernelAddress, id, now_ns), part, false);
  return part;
}

void CpuFold::OnTimes(int64_t now_ns, std::span<const ThreadTime> threads, int64_t process_ns) {
  if (!on_) return;
  for (auto& [id, t] : threads_) t.there = false;
  int64_t of_threads = 0;
  for (const ThreadTime& now : threads) {
    if (threads_.size() >= kMostThreads && !threads_.contains(now.thread)) continue;
    Thread& t = threads_[now.thread];
    t.there = true;
    // A number of a thread that has ended may be used again.
    const bool again = t.cpu_ns > now.cpu_ns;
    // One that was born since the last reading has used all of it since.
    const int64_t before = t.cpu_ns >= 0 && !again ? t.cpu_ns : process_ns_ >= 0 ? 0 : now.cpu_ns;
    const int64_t used = now.cpu_ns - before;
    of_threads += used;
    t.cpu_ns = now.cpu_ns;
    t.left_ns += used - TakeKernel(now.thread, t, now, used, now_ns);
    t.user_ticks = now.user_ticks;
    t.system_ticks = now.system_ticks;
    if (own_thread_ != 0 && now.thread == own_thread_ && t.left_ns > 0)
      Emit(now.thread, now_ns, MadeUp(profile::kAgentAddress, now.thread, now_ns),
           std::exchange(t.left_ns, 0), false);
    if (t.waiting.empty()) continue;
    HandOut(now.thread, t, t.left_ns);
    t.left_ns = std::min<int64_t>(0, t.left_ns);
  }
  // What the others used before they ended is known of all of them together.
  double clock = 0;
  for (auto& [id, t] : threads_) {
    if (t.there) continue;
    ended_left_ns_ += t.left_ns;
    for (const Sample& s : t.waiting) clock += static_cast<double>(s.ns);
  }
  if (process_ns_ >= 0 && process_ns >= process_ns_)
    ended_left_ns_ += process_ns - process_ns_ - of_threads;
  if (process_ns >= 0) process_ns_ = process_ns;
  const double factor = process_ns < 0 ? 1
                        : clock > 0    ? std::max(0.0, static_cast<double>(ended_left_ns_)) / clock
                                       : 0;
  for (auto it = threads_.begin(); it != threads_.end();) {
    Thread& t = it->second;
    if (t.there) {
      ++it;
      continue;
    }
    double own = 0;
    for (const Sample& s : t.waiting) own += static_cast<double>(s.ns);
    const auto ns = static_cast<int64_t>(factor * own);
    if (process_ns >= 0 && !t.waiting.empty()) ended_left_ns_ -= ns;
    HandOut(it->first, t, ns);
    it = threads_.erase(it);
  }
  slices_.Flush();
}

void CpuFold::Flush(int64_t) {
  for (auto& [id, t] : threads_) {
    int64_t ns = 0;
    for (const Sample& s : t.waiting) ns += static_cast<int64_t>(s.ns);
    t.left_ns -= ns;
    HandOut(id, t, ns);
  }
  slices_.Flush();
}

void CpuFold::Finish(int64_t now_ns) {
  if (!on_) return;
  Flush(now_ns);
  const auto rest = [&](uint64_t thread, int64_t ns) {
    if (ns > 0)
      Emit(thread, now_ns, MadeUp(profile::kNotSampledAddress, thread, now_ns), ns, false);
  };
  for (auto& [id, t] : threads_) rest(id, std::exchange(t.left_ns, 0));
  rest(0, std::exchange(ended_left_ns_, 0));
  slices_.Flush();
}

void CpuFold::Shift(int64_t shift_ns) {
  for (auto& [id, t] : threads_)
    for (Sample& s : t.waiting) s.time_ns -= shift_ns;
}

}  // namespace clrscope::analysis
