// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/exceptions/storm_fold.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace clrscope::analysis {
namespace {

using profile::LabelKey;
using profile::LabelSet;
using profile::StackTree;

constexpr int64_t kTenthNs = 100'000'000;
constexpr size_t kRecent = 10;
// A counter's value comes once a second.
constexpr int64_t kLongestWaitNs = 4'000'000'000;
// Values follow each other unless another tool sets the counter back.
constexpr int64_t kGapNs = 20'000'000;
constexpr size_t kLateValues = 3;
// A recording that ends in a storm waits for a last value, whose time is as uncertain.
constexpr int64_t kEndGapNs = 200'000'000;
// 8 MB of times of throws, of a second or two.
constexpr size_t kMostWhole = 1 << 20;
// Distinct (stack, type, thread) of one window, which is made to hold some 2,500 throws.
constexpr size_t kMostKeys = 200'000;

}  // namespace

void StormFold::OnWhole(int64_t time_ns) {
  const int64_t tenth = time_ns / kTenthNs;
  if (tenth > tenth_) {
    const int64_t steps = std::min(tenth - tenth_, static_cast<int64_t>(tenths_.size()));
    for (int64_t i = 0; i < steps; ++i) {
      uint32_t& old = tenths_[static_cast<size_t>(tenth - i) % tenths_.size()];
      in_second_ -= old;
      old = 0;
    }
    tenth_ = tenth;
  }
  ++tenths_[static_cast<size_t>(tenth_) % tenths_.size()];
  if (++in_second_ > kMostPerSecond) stormy_ = true;
  if (!counting_) return;
  if (whole_.size() < kMostWhole)
    whole_.push_back(time_ns);
  else
    ++whole_beyond_;
}

double StormFold::whole_rate() const {
  return 10.0 * *std::max_element(tenths_.begin(), tenths_.end());
}

void StormFold::BeginStorm() {
  counting_ = true;
  whole_from_ns_ = counting_from_ns_ = kNever;
  counted_to_ns_ = late_ns_ = 0;
  late_.clear();
  recent_.clear();
  whole_.clear();
  whole_beyond_ = 0;
  ReserveLabels();
}

// Sets without a thread, for when there are so many threads that no set has room.
void StormFold::ReserveLabels() {
  for (uint64_t group = 1; group <= profile::kStormWindows; ++group)
    (void)home_.tables->labels.Find(LabelSet().With(LabelKey::kWindow, group));
}

void StormFold::OnWindowed(uint32_t node, uint32_t type, uint64_t thread, bool again,
                           const ActivityPath& activity, int64_t time_ns) {
  if (whose_ != nullptr && !activity.empty() && of_activities_.size() < kMostKeys)
    return of_activities_.push_back({node, type, thread, again, activity, time_ns});
  Key key{node, type, thread, 0};
  if (open_.size() >= kMostKeys && !open_.contains(key)) key = {StackTree::kOther, type, 0, 0};
  Throws& t = open_[key];
  ++(again ? t.again : t.first);
}

void StormFold::EndWindow(uint64_t group, int64_t start_ns, int64_t end_ns, double weight) {
  if (!std::exchange(canceled_, false))
    windows_.push_back(
        {start_ns, end_ns, group, weight, std::move(open_), std::move(of_activities_)});
  open_.clear();
  of_activities_.clear();
}

void StormFold::OnCounted(Counted counted) {
  if (counted_to_ns_ != 0 && counted.start_ns < whole_from_ns_) WatchGap(counted);
  // The first value may be written late, as the runtime compiles what writes it.
  if (counted_to_ns_ == 0) counted.start_ns = std::min(counted.start_ns, counting_from_ns_);
  // One begins where the one before ended, whatever is missing between them.
  if (counted_to_ns_ != 0) counted.start_ns = counted_to_ns_;
  if (!counting_ || counted.start_ns >= whole_from_ns_) {
    counted_to_ns_ = std::max(counted_to_ns_, counted.end_ns);
    return;
  }
  counted_to_ns_ = counted.end_ns;
  counted_.push_back(counted);
  recent_.push_back(counted);
  if (recent_.size() > kRecent) recent_.pop_front();
  SettleCounted(false);
}

// An interval is measured before the value is written, which on a busy machine is later or sooner
// after that: what is written late looks like a gap, until the next value. A true gap stays.
void StormFold::WatchGap(const Counted& c) {
  late_ns_ += c.start_ns - counted_to_ns_;
  late_.push_back(late_ns_);
  if (late_.size() <= kLateValues) return;
  late_.pop_front();
  const int64_t gap_ns = *std::min_element(late_.begin(), late_.end());
  if (gap_ns <= kGapNs) return;
  home_.tables->losses.Add(Loss::kStormUncounted, static_cast<uint64_t>(gap_ns / 1'000'000));
  late_ns_ -= gap_ns;
  for (int64_t& late : late_) late -= gap_ns;
}

// A window's throws may arrive after the counter's value, but not after the next one.
void StormFold::SettleCounted(bool all) {
  while (counted_.size() > (all ? 0 : 1)) {
    const Counted counted = counted_.front();
    counted_.pop_front();
    Settle(counted);
  }
}

void StormFold::Settle(const Counted& c) {
  const uint64_t whole = WholeWithin(c.start_ns, c.end_ns);
  const auto count = static_cast<uint64_t>(std::llround(c.count));
  Rows rows;
  AddRow(StackTree::kNoStack, 0, LabelSet().With(LabelKey::kWindow, profile::kStormCounted),
         {1, static_cast<uint64_t>(c.end_ns - c.start_ns), count - std::min(whole, count)}, rows);
  while (!windows_.empty() && windows_.front().start_ns < c.end_ns) {
    AddWindow(windows_.front(), rows);
    windows_.pop_front();
  }
  Emit(std::midpoint(c.start_ns, c.end_ns), rows);
}

uint64_t StormFold::WholeWithin(int64_t start_ns, int64_t end_ns) {
  uint64_t within = std::exchange(whole_beyond_, 0);
  std::erase_if(whole_, [&](int64_t t) {
    if (t >= start_ns && t < end_ns) ++within;
    return t < end_ns;
  });
  return within;
}

// Weights are no whole numbers, and most rows are few throws: what is rounded off goes to the next
// row, so that sums stay right and every row does on average.
void StormFold::AddWindow(Window& w, Rows& rows) {
  for (const OfActivity& t : w.of_activities) {
    Throws& throws = w.rows[{t.node, t.type, t.thread, whose_(t.activity, t.time_ns)}];
    ++(t.again ? throws.again : throws.first);
  }
  const auto weighted = [&](uint64_t n) {
    const double exact = static_cast<double>(n) * w.weight + rounding_;
    const double whole = std::floor(exact);
    rounding_ = exact - whole;
    return static_cast<uint64_t>(whole);
  };
  AddRow(StackTree::kNoStack, 0, LabelSet().With(LabelKey::kWindow, profile::kStormWindows),
         {1, static_cast<uint64_t>(w.end_ns - w.start_ns), 1}, rows);
  for (const auto& [key, throws] : w.rows) {
    const auto& [node, type, thread, request] = key;
    AddRow(node, type,
           LabelSet()
               .With(LabelKey::kThread, thread)
               .With(LabelKey::kWindow, w.group)
               .With(LabelKey::kRequest, request),
           {throws.first + throws.again, weighted(throws.again), weighted(throws.first)}, rows);
  }
}

uint16_t StormFold::LabelOf(const LabelSet& labels) {
  profile::LabelTable& table = home_.tables->labels;
  const uint16_t label = table.Find(labels);
  if (label != profile::LabelTable::kOther) return label;
  // Those without a thread have had their place since the first window.
  home_.tables->losses.Add(Loss::kLabelsCapped);
  return table.Find(LabelSet().With(LabelKey::kWindow, labels[LabelKey::kWindow]));
}

void StormFold::AddRow(uint32_t node, uint32_t type, LabelSet labels, const profile::Sums& sums,
                       Rows& rows) {
  const uint16_t label = LabelOf(labels);
  if (label == profile::LabelTable::kOther) {
    home_.tables->losses.Add(Loss::kSeriesCapped, sums.samples);
    return;
  }
  bool capped = false;
  const uint32_t series =
      home_.tables->series.Find(profile::SeriesKey::Make(node, type, profile::HeapKind::kUnknown,
                                                         profile::Source::kException, 0, label),
                                0, StackTree::kOther, &capped);
  if (capped) home_.tables->losses.Add(Loss::kSeriesCapped, sums.samples);
  rows[series] += sums;
  if (labels[LabelKey::kWindow] <= profile::kWindowGroups)
    home_.tables->source_samples[static_cast<size_t>(profile::Source::kException)] += sums.samples;
}

void StormFold::Emit(int64_t middle_ns, const Rows& rows) {
  profile::Slice slice;
  slice.process = home_.index;
  slice.start_ns = std::max<int64_t>(0, middle_ns) / home_.slice_ns * home_.slice_ns;
  slice.end_ns = slice.start_ns + home_.slice_ns;
  for (const auto& [series, sums] : rows) slice.rows.push_back({series, sums});
  if (!slice.rows.empty()) home_.sink->OnSlice(std::move(slice));
}

void StormFold::EndStorm(int64_t whole_from_ns) {
  whole_from_ns_ = whole_from_ns;
  stormy_ = false;
}

void StormFold::Stop() {
  Flush();
  counting_ = stormy_ = false;
  whole_.clear();
}

void StormFold::Advance(int64_t now_ns) {
  Rows rows;
  int64_t at = 0;
  while (!windows_.empty() && windows_.front().end_ns < now_ns - kLongestWaitNs) {
    at = windows_.front().end_ns;
    AddWindow(windows_.front(), rows);
    windows_.pop_front();
  }
  if (!rows.empty()) Emit(at, rows);
}

void StormFold::Flush() {
  SettleCounted(true);
  Advance(kNever);
}

void StormFold::Finish(int64_t last_ns) {
  if (!counting_) return;
  Flush();
  open_.clear();
  of_activities_.clear();
  const int64_t to_ns = std::min(whole_from_ns_, last_ns);
  if (counted_to_ns_ != 0 && to_ns - counted_to_ns_ > kEndGapNs)
    home_.tables->losses.Add(Loss::kStormUncounted,
                             static_cast<uint64_t>((to_ns - counted_to_ns_) / 1'000'000));
}

void StormFold::MoveTo(const Home& home) {
  home_ = home;
  CancelWindow();
  canceled_ = reading_;
  if (counting_) ReserveLabels();
}

void StormFold::Shift(int64_t shift_ns) {
  tenths_ = {};
  in_second_ = 0;
  tenth_ = 0;
  if (counted_to_ns_ != 0) counted_to_ns_ -= shift_ns;
  if (whole_from_ns_ != kNever) whole_from_ns_ -= shift_ns;
  if (counting_from_ns_ != kNever) counting_from_ns_ -= shift_ns;
  for (int64_t& t : whole_) t -= shift_ns;
  for (Counted& c : recent_) c = {c.start_ns - shift_ns, c.end_ns - shift_ns, c.count};
}

}  // namespace clrscope::analysis
