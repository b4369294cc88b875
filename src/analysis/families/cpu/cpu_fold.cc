// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/cpu/cpu_fold.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analysis/families/requests/request_fold.h"
#include "analysis/families/wall/wall_fold.h"
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

int64_t CpuFold::Thread::clock_ns() const {
  return std::accumulate(
      waiting.begin(), waiting.end(), int64_t{0},
      [](int64_t sum, const Sample& s) { return sum + static_cast<int64_t>(s.ns); });
}

uint32_t CpuFold::Fold(std::span<const uint64_t> addresses, uint64_t thread, int64_t time_ns,
                       bool cut) {
  if (addresses.empty()) return StackTree::kNoStack;
  const auto frames = static_cast<uint32_t>(addresses.size());
  const uint32_t node = tables().stacks.Fold(reinterpret_cast<const std::byte*>(addresses.data()),
                                             frames, sizeof(uint64_t), thread, time_ns,
                                             cut ? frames : StackTree::kMostFrames);
  if (node == StackTree::kOther) tables().losses.Add(Loss::kStackNodesCapped);
  return node;
}

void CpuFold::OnSample(const Sampled& s) {
  on_ = true;
  if (waiting_ >= kMostSamples || (threads_.size() >= kMostThreads && !threads_.contains(s.thread)))
    return tables().losses.Add(Loss::kCpuSamplesDropped);
  if (s.cut || StackTree::IsCut(static_cast<uint32_t>(s.addresses.size())))
    tables().losses.Add(Loss::kTruncatedStack);
  threads_[s.thread].waiting.push_back(
      {s.time_ns, s.ns, Fold(s.addresses, s.thread, s.time_ns, s.cut),
       static_cast<uint16_t>(std::min<size_t>(s.natives, UINT16_MAX)), s.callers_missed});
  ++waiting_;
}

void CpuFold::Value(uint64_t id, const Thread& t, const Sample& s, int64_t ns, bool sampled) {
  valued_.push_back({id, s.time_ns, std::max<int64_t>(0, ns), s.node, s.natives, s.callers_missed,
                     sampled, t.collector});
}

// By the clock samples stand for about the same each; what is rounded off goes to the next one.
void CpuFold::HandOut(uint64_t id, Thread& t, int64_t ns) {
  const auto clock = static_cast<double>(t.clock_ns());
  const double factor = clock > 0 ? static_cast<double>(std::max<int64_t>(0, ns)) / clock : 0;
  double exact = 0;
  int64_t given = 0;
  for (const Sample& s : t.waiting) {
    exact += factor * static_cast<double>(s.ns);
    const int64_t part = std::llround(exact) - given;
    given += part;
    Value(id, t, s, part, true);
  }
  t.waiting.clear();
}

void CpuFold::AddUnsampled(uint64_t id, const Thread& t, uint64_t address, int64_t ns,
                           int64_t now_ns) {
  if (ns <= 0) return;
  ++waiting_;
  Value(id, t, {now_ns, 0, Fold({&address, 1}, id, now_ns, false), 1, false}, ns, false);
}

int64_t CpuFold::TakeKernel(uint64_t id, Thread& t, const ThreadTime& now, int64_t ns,
                            int64_t now_ns) {
  if (kernel_told_ || now.system_ticks < 0 || t.system_ticks < 0) return 0;
  const int64_t user = now.user_ticks - t.user_ticks, system = now.system_ticks - t.system_ticks;
  if (system <= 0 || ns <= 0) return 0;
  const auto part = static_cast<int64_t>(static_cast<double>(ns) * static_cast<double>(system) /
                                         static_cast<double>(std::max<int64_t>(1, user + system)));
  AddUnsampled(id, t, profile::kKernelAddress, part, now_ns);
  return part;
}

uint32_t CpuFold::CollectorNode(const Valued& v) {
  scratch_.assign(1, profile::kCollectorAddress);
  const StackTree& stacks = tables().stacks;
  uint32_t at = StackTree::kRoot;
  if (!v.collector) {
    at = v.node;
    for (uint16_t n = 0; n < v.natives && at >= StackTree::kFirstReal; ++n) at = stacks.parent(at);
    for (; at >= StackTree::kFirstReal; at = stacks.parent(at))
      scratch_.push_back(stacks.addresses()[stacks.address_index(at)].address);
  }
  return Fold(scratch_, v.thread, v.time_ns, at == StackTree::kTruncated);
}

void CpuFold::Settle(int64_t to_ns) {
  size_t kept = 0;
  for (const Valued& v : valued_) {
    if (v.time_ns > to_ns) {
      valued_[kept++] = v;
      continue;
    }
    const bool collected =
        v.collector || (v.natives > 0 && v.sampled && collecting_.Collected(v.thread, v.time_ns));
    if (v.callers_missed && !v.collector) tables().losses.Add(Loss::kCpuCallersMissed);
    SeriesKey key = SeriesKey::Make(collected ? CollectorNode(v) : v.node, 0,
                                    profile::HeapKind::kUnknown, Source::kCpuClock, 0);
    key.labels = LabelOf(v.thread);
    const profile::Sums sums{1, static_cast<uint64_t>(v.ns), v.sampled ? uint64_t{1} : 0};
    if (wall_ != nullptr) wall_->OnRunning(v.thread, v.time_ns, key.node, sums);
    if (v.sampled && requests_ != nullptr && requests_->AddCpu(v.thread, v.time_ns, key, sums))
      continue;
    tables().source_samples[static_cast<size_t>(Source::kCpuClock)] += v.sampled ? 1 : 0;
    slices_.Add(v.time_ns, key, key.labels, 0, 0, sums);
  }
  waiting_ -= valued_.size() - kept;
  valued_.resize(kept);
  slices_.Flush();
}

void CpuFold::OnTimes(int64_t now_ns, std::span<const ThreadTime> threads, int64_t process_ns) {
  if (!on_ || ended_) return;
  for (auto& [id, t] : threads_) t.there = false;
  int64_t of_threads = 0;
  for (const ThreadTime& now : threads) {
    if (threads_.size() >= kMostThreads && !threads_.contains(now.thread)) continue;
    Thread& t = threads_[now.thread];
    t.there = true;
    t.collector = now.collector;
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
    if (t.waiting.empty()) continue;
    HandOut(now.thread, t, t.left_ns);
    t.left_ns = std::min<int64_t>(0, t.left_ns);
  }
  // What the others used before they ended is known of all of them together.
  double clock = 0;
  for (auto& [id, t] : threads_) {
    if (t.there) continue;
    ended_left_ns_ += t.left_ns;
    clock += static_cast<double>(t.clock_ns());
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
    const auto ns = static_cast<int64_t>(factor * static_cast<double>(t.clock_ns()));
    if (process_ns >= 0 && !t.waiting.empty()) ended_left_ns_ -= ns;
    HandOut(it->first, t, ns);
    it = threads_.erase(it);
  }
  Advance(now_ns);
}

void CpuFold::OnEnd(int64_t time_ns, int64_t process_ns, double kernel) {
  if (!on_ || ended_ || process_ns < process_ns_ || process_ns_ < 0) return;
  if (!kernel_told_) {
    const auto part = static_cast<int64_t>(static_cast<double>(process_ns - process_ns_) * kernel);
    AddUnsampled(0, {}, profile::kKernelAddress, part, time_ns);
    process_ns_ += part;
  }
  OnTimes(time_ns, {}, process_ns);
  ended_ = true;
}

void CpuFold::Flush() {
  for (auto& [id, t] : threads_) {
    const int64_t ns = t.clock_ns();
    t.left_ns -= ns;
    HandOut(id, t, ns);
  }
  Settle(INT64_MAX);
}

void CpuFold::Finish(int64_t now_ns) {
  if (!on_) return;
  Flush();
  for (auto& [id, t] : threads_)
    AddUnsampled(id, t, profile::kNotSampledAddress, std::exchange(t.left_ns, 0), now_ns);
  AddUnsampled(0, {}, profile::kNotSampledAddress, std::exchange(ended_left_ns_, 0), now_ns);
  Settle(INT64_MAX);
}

void CpuFold::Leave(int64_t now_ns) {
  Finish(now_ns);
  threads_.clear();
  process_ns_ = -1;
}

void CpuFold::Shift(int64_t shift_ns) {
  for (auto& [id, t] : threads_)
    for (Sample& s : t.waiting) s.time_ns -= shift_ns;
  collecting_.Shift(shift_ns);
}

}  // namespace clrscope::analysis
