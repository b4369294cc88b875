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
  bool Contains(const profile::Slice& s) const {
    const int64_t middle = std::midpoint(s.start_ns, s.end_ns);  // damaged captures hold any times
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
  // Forgets what a process allocated: its tables go.
  void Drop(uint32_t process) {
    if (process < sums_.size()) sums_[process].clear();
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
};

}  // namespace clrscope::analysis
