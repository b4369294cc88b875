// SPDX-License-Identifier: Apache-2.0
// What a live view shows: types, sites, processes and threads, with totals since the start and the
// last seconds one by one. Fed with a bound second at a time; memory grows with distinct rows only.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "profile/profile.h"

namespace clrscope::analysis {

enum class LiveBy : uint8_t { kType, kSite, kProcess, kThread, kRequest };
inline constexpr size_t kLiveBys = 5;

class LiveTables {
 public:
  // Of one measure.
  explicit LiveTables(profile::Measure measure = profile::Measure::kAllocations)
      : spec_(&profile::SpecOf(measure)) {}

  static constexpr int64_t kSeconds = 30;  // of history
  // Rows per table; those that come later are counted as "(other)".
  static constexpr size_t kMaxRows = 50'000;

  struct Second {
    int64_t second = 0;
    profile::Estimate value;
  };
  struct Row {
    uint32_t process = 0;  // index into processes()
    uint64_t thread = 0;   // of threads
    StringId name{};       // of threads, as the system has it; "" where it was not asked
    StringId type{};       // of types and sites; of requests the route
    StringId method{};     // of sites
    profile::Estimate total;
    std::vector<Second> recent;  // oldest first
    bool biased = false;         // rests on AllocationTick, at least in part
    bool gone = false;           // what it counted counts in another one
  };
  struct Process {
    uint32_t pid = 0;
    StringId name{};
    bool ended = false;
  };

  // Cells and threads of `profile` are those of the second that is over; seconds count up. Several
  // profiles may be of one second.
  // `ids[i]`: what Process() returned for the profile's process i.
  void AddSecond(int64_t second, const profile::Profile& profile, const std::vector<uint32_t>& ids);
  // Notes a process; a pid that is used again is another one.
  uint32_t AddProcess(uint32_t pid, std::string_view name);
  void MarkEnded(uint32_t process) { processes_[process].ended = true; }

  // A type of the process goes by another name from now on: so do its rows.
  void Rename(uint32_t process, std::string_view from, std::string_view to);

  // A row keeps its place.
  const std::vector<Row>& rows(LiveBy by) const { return tables_[static_cast<size_t>(by)].rows; }
  const Row& everything() const { return everything_; }
  const std::vector<Process>& processes() const { return processes_; }
  std::string_view str(StringId id) const { return strings_.Get(id); }
  bool objects_known() const { return objects_known_; }
  int64_t second() const { return second_; }  // the last that was added; -1 = none

  // Sum of the last `seconds` seconds, kSeconds at most.
  profile::Estimate Window(const Row& row, int64_t seconds) const;
  // What the measure's rows are sorted by: bytes, throws, time waited.
  double First(const profile::Estimate& e) const {
    return spec_->amount_first ? e.amount : e.count;
  }
  const profile::MeasureSpec& spec() const { return *spec_; }
  // First() of each of the last `n` seconds, oldest first; kSeconds at most.
  std::vector<double> Trend(const Row& row, int64_t n) const;
  // How many of the last `seconds` seconds there were since the first sample; at least 1.
  int64_t Covered(int64_t seconds) const;

 private:
  struct Key {
    uint32_t process = 0, type = 0, method = 0;
    uint64_t thread = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const {
      uint64_t h = (uint64_t{k.process} << 32 | k.type) * 0x9E3779B97F4A7C15u;
      h = (h ^ (h >> 32) ^ k.method ^ k.thread << 20) * 0xD6E8FEB86659FD93u;
      return static_cast<size_t>(h ^ (h >> 32));
    }
  };
  struct Table {
    std::vector<Row> rows;
    std::unordered_map<Key, uint32_t, KeyHash> index;
  };

  Row& Count(LiveBy by, Key key, const profile::Estimate& value, bool biased);
  void Count(Row& row, const profile::Estimate& value, bool biased);
  static void Add(Row& to, Row& from);
  void Forget();  // seconds that are too old

  const profile::MeasureSpec* spec_;
  StringPool strings_;
  std::array<Table, kLiveBys> tables_;
  Row everything_;
  std::vector<Process> processes_;
  bool objects_known_ = true;
  int64_t second_ = -1, first_second_ = -1;
};

}  // namespace clrscope::analysis
