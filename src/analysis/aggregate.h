// SPDX-License-Identifier: Apache-2.0
// Adds up slices: totals by series, by thread and by span of time.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "profile/process_tables.h"
#include "profile/slice.h"

namespace clrscope::analysis {

struct TimeRange {
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  // Slices are not divided: one belongs to a range when its middle does.
  bool Contains(const profile::Slice& s) const { return Contains(s.start_ns, s.end_ns); }
  bool Contains(int64_t start_ns, int64_t end_ns) const {
    const int64_t middle = std::midpoint(start_ns, end_ns);  // damaged captures hold any times
    return middle >= from_ns && middle < to_ns;
  }
};

class Aggregate final : public profile::SliceSink {
 public:
  // `recording` resolves series to their keys and must outlive this.
  explicit Aggregate(const profile::Recording* recording, TimeRange range = {})
      : recording_(recording), range_(range) {}

  void OnSlice(profile::Slice&& slice) override { Add(slice); }
  void Add(const profile::Slice& slice);
  // Intervals of a process come in order of time.
  void Add(const profile::AgentInterval& interval);
  // Forgets what a process allocated: its tables go.
  void Drop(uint32_t process) {
    if (process < sums_.size()) sums_[process].clear();
    agents_.erase(process);
  }

  // Nothing was cut out.
  bool whole() const {
    return range_.from_ns == TimeRange{}.from_ns && range_.to_ns == TimeRange{}.to_ns;
  }

  struct TimeKey {
    int64_t start_ns, end_ns;
    uint32_t process;
    profile::HeapKind kind;
    profile::Source source;
    auto operator<=>(const TimeKey&) const = default;
  };
  using ThreadKey =
      std::tuple<uint32_t, uint64_t, profile::HeapKind, profile::Source>;  // process, thread

  // What the agent told of a process.
  struct Agent {
    using FlowKey = std::tuple<uint32_t, uint32_t, profile::HeapKind>;  // node, type
    std::map<FlowKey, profile::Estimate> flows;
    std::vector<profile::IntervalLive> lives;  // of the last interval
    bool followed = false;
    int64_t live_at_ns = 0;
    double live_mean_bytes = profile::kSamplingMeanBytes;
    std::vector<profile::LiveAgeRow> live_ages;
    std::vector<profile::GcCpuRow> gc_cpu;
    std::map<std::tuple<int64_t, int64_t, profile::HeapKind>, profile::Estimate> times;
  };
  const std::map<uint32_t, Agent>& agents() const { return agents_; }

  // By process index, then by series id; shorter where the tail is zero.
  const std::vector<std::vector<profile::Sums>>& sums() const { return sums_; }
  const std::map<TimeKey, profile::Estimate>& times() const { return times_; }
  const std::map<ThreadKey, profile::Estimate>& threads() const { return threads_; }

 private:
  const profile::Recording* recording_;
  TimeRange range_;
  std::vector<std::vector<profile::Sums>> sums_;
  std::map<TimeKey, profile::Estimate> times_;
  std::map<ThreadKey, profile::Estimate> threads_;
  std::map<uint32_t, Agent> agents_;
};

}  // namespace clrscope::analysis
