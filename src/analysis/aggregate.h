// SPDX-License-Identifier: Apache-2.0
// Adds up slices: totals by series, by thread and by span of time.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/tables/process_tables.h"
#include "profile/tables/slice.h"

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
  // Of events: each span of time that they came in, or only their sums.
  enum class Keep : uint8_t { kMoments, kSums };
  // Of allocations, what is kept of each series beside its sums: who they are by, and when they
  // came. A filter of types, stacks or threads needs it; all of a long recording takes room.
  struct Detail {
    bool threads = false, times = false, requests = false;
    bool any() const { return threads || times || requests; }
  };
  // `recording` resolves series to their keys and must outlive this.
  explicit Aggregate(const profile::Recording* recording, TimeRange range = {},
                     Keep keep = Keep::kMoments)
      : recording_(recording), range_(range), keep_(keep) {}
  Aggregate(const profile::Recording* recording, TimeRange range, Detail detail,
            Keep keep = Keep::kMoments)
      : recording_(recording), range_(range), keep_(keep), detail_(detail) {}
  const Detail& detail() const { return detail_; }

  void OnSlice(profile::Slice&& slice) override { Add(slice); }
  void Add(const profile::Slice& slice);
  // Intervals of a process come in order of time.
  void Add(const profile::AgentInterval& interval);
  // Forgets what a process allocated: its tables go.
  void Drop(uint32_t process) {
    if (process < sums_.size()) sums_[process].clear();
    agents_.erase(process);
    std::erase_if(moments_, [process](const auto& m) { return m.first.first == process; });
    for (auto* const parts : {&parts_, &windowed_parts_})
      std::erase_if(*parts, [process](const auto& m) { return std::get<0>(m.first) == process; });
  }

  bool InRange(int64_t time_ns) const { return range_.Contains(time_ns, time_ns); }
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

  // Of series of events (profile::IsEvent), by process and series: what came when.
  struct Moment {
    int64_t start_ns, end_ns;
    profile::Sums sums;
  };

  // What the agent told of a process.
  struct Agent {
    // Node, type, kind, window. Rows of windows are weighted and not scaled yet (AgentWindows).
    using FlowKey = std::tuple<uint32_t, uint32_t, profile::HeapKind, uint8_t>;
    std::map<FlowKey, profile::Estimate> flows;
    std::vector<profile::IntervalLive> lives;  // of the last interval
    bool followed = false;
    bool requests_told = false;  // of the last interval's rows
    int64_t live_at_ns = 0;
    double live_mean_bytes = profile::kSamplingMeanBytes;
    std::vector<profile::LiveAgeRow> live_ages;
    std::vector<profile::GcCpuRow> gc_cpu;
    std::map<std::tuple<int64_t, int64_t, profile::HeapKind, uint8_t>, profile::Estimate> times;
    // With detail: what of a flow came when and by whom; 0 = nobody knows.
    struct Part {
      int64_t start_ns = 0, end_ns = 0;
      profile::Estimate value;
    };
    // Node, type, kind, thread, window.
    using PartKey = std::tuple<uint32_t, uint32_t, profile::HeapKind, uint64_t, uint8_t>;
    std::map<PartKey, std::vector<Part>> parts;
    std::map<std::tuple<uint64_t, profile::HeapKind, uint8_t>, profile::Estimate> threads;
    bool threads_told = false;
    profile::IntervalWindows windows, all_windows;  // of the range; since the agent's start
    int64_t windows_ns = 0;                         // how long they were
    int64_t windows_from_ns = 0, windows_to_ns = 0;
    using EventKey = std::tuple<profile::Source, uint32_t, uint32_t, profile::LabelSet>;
    std::map<EventKey, std::vector<Moment>> events;  // by source, node and type
  };
  const std::map<uint32_t, Agent>& agents() const { return agents_; }

  using SeriesOf = std::pair<uint32_t, uint32_t>;
  const std::map<SeriesOf, std::vector<Moment>>& moments() const { return moments_; }
  // With detail: the same of series of allocations, by thread (0: nobody knows, or not asked for).
  using PartOf = std::tuple<uint32_t, uint32_t, uint64_t>;  // process, series, thread
  const std::map<PartOf, std::vector<Moment>>& parts() const { return parts_; }
  // Of allocations that were recorded in windows of time: series are in moments(), and here what of
  // them each thread did.
  const std::map<PartOf, std::vector<Moment>>& windowed_parts() const { return windowed_parts_; }
  // Threads of the process's samples are sums of their own: of a capture that kept no more.
  bool apart(uint32_t process) const { return apart_.contains(process); }
  // Samples of threads for which a slice had no room.
  uint64_t other_threads() const { return other_threads_; }

  // By process index, then by series id; shorter where the tail is zero.
  const std::vector<std::vector<profile::Sums>>& sums() const { return sums_; }
  const std::map<TimeKey, profile::Estimate>& times() const { return times_; }
  const std::map<ThreadKey, profile::Estimate>& threads() const { return threads_; }

 private:
  void AddThreads(const profile::Slice& slice);
  void AddParts(const profile::Slice& slice);
  void AddFlows(const profile::AgentInterval& interval, Agent& agent) const;
  void AddPart(const PartOf& of, const profile::Slice& slice, const profile::Sums& sums);
  void AddMoment(std::vector<Moment>& moments, const Moment& moment) const;

  const profile::Recording* recording_;
  TimeRange range_;
  Keep keep_;
  Detail detail_;
  std::vector<std::vector<profile::Sums>> sums_;
  std::map<TimeKey, profile::Estimate> times_;
  std::map<ThreadKey, profile::Estimate> threads_;
  std::map<uint32_t, Agent> agents_;
  std::map<SeriesOf, std::vector<Moment>> moments_;
  std::map<PartOf, std::vector<Moment>> parts_, windowed_parts_;
  std::set<uint32_t> apart_;
  uint64_t other_threads_ = 0;
};

}  // namespace clrscope::analysis
