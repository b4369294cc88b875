// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/windows/window_fold.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace clrscope::analysis {
namespace {

using profile::LabelKey;
using profile::LabelSet;
using profile::StackTree;

constexpr size_t kRecent = 10;
// A counter's value comes once a second.
constexpr int64_t kLongestWaitNs = 4'000'000'000;
// Time of which no counter tells is marked in pieces.
constexpr int64_t kUntoldNs = 1'000'000'000, kMostPieces = 200'000;
// Values follow each other unless another tool sets the counter back.
constexpr int64_t kGapNs = 20'000'000;
constexpr size_t kLateValues = 3;
// A recording that ends in a storm waits for a last value, whose time is as uncertain.
constexpr int64_t kEndGapNs = 200'000'000;
// 8 MB of times, of a second or two.
constexpr size_t kMostWhole = 1 << 19;
constexpr int64_t kRememberedNs = 2'000'000'000;
// Distinct (stack, type, thread) of one window, which is made to hold some thousand events.
constexpr size_t kMostKeys = 200'000;

// A petabyte; a damaged counter says anything.
constexpr double kMostCounted = 1e15;

profile::SeriesKey CounterKey(profile::Source source) {
  return profile::SeriesKey::Make(StackTree::kNoStack, 0, profile::HeapKind::kUnknown, source, 0);
}

}  // namespace

void WindowFold::NoteWhole(int64_t time_ns, double counted) {
  if (!counting_) {
    if (!remembering_) return;
    while (!whole_.empty() && whole_.front().time_ns < time_ns - kRememberedNs) whole_.pop_front();
  }
  if (whole_.size() < kMostWhole)
    whole_.push_back({time_ns, counted});
  else
    whole_beyond_ += counted;
}

void WindowFold::BeginWindows() {
  counting_ = true;
  wrong_ = silent_ = false;
  whole_from_ns_ = counting_from_ns_ = windows_from_ns_ = stop_ns_ = kNever;
  counted_to_ns_ = late_ns_ = 0;
  untold_to_ns_ = INT64_MIN;
  last_ = kNoValue;
  late_.clear();
  recent_.clear();
  recent_windows_.clear();
  if (!remembering_) {
    whole_.clear();
    whole_beyond_ = 0;
  }
  ReserveLabels();
}

// Sets without a thread, for when there are so many threads that no set has room.
void WindowFold::ReserveLabels() {
  for (uint64_t group = 1; group <= profile::kStormUncounted; ++group)
    (void)home_.tables->labels.Find(LabelSet().With(LabelKey::kWindow, group));
}

WindowFold::Key WindowFold::KeyOf(const Event& e, uint64_t request) {
  return {e.key.node, e.key.type, e.key.attributes, e.thread, request};
}

void WindowFold::OnWindowed(const Event& e, const ActivityPath& activity, int64_t time_ns) {
  ++events_;
  counted_in_window_ += e.counted;
  if (whose_ != nullptr && !activity.empty() && of_activities_.size() < kMostKeys)
    return of_activities_.push_back({e, activity, time_ns});
  Key key = KeyOf(e, 0);
  if (open_.size() >= kMostKeys && !open_.contains(key))
    key = {StackTree::kOther, e.key.type, e.key.attributes, 0, 0};
  Of& of = open_[key];
  if (of.sums.samples == 0) of.nominal_size = e.nominal_size;
  of.sums += e.sums;
}

void WindowFold::EndWindow(uint64_t group, int64_t start_ns, int64_t end_ns, int64_t of_ns) {
  if (!std::exchange(canceled_, false)) {
    recent_windows_.push_back({start_ns, end_ns, counted_in_window_});
    if (recent_windows_.size() > kRecent) recent_windows_.pop_front();
    windows_.push_back({start_ns, end_ns, of_ns, group, std::move(open_), std::move(of_activities_),
                        events_, counted_in_window_});
  }
  ForgetOpen();
}

void WindowFold::ForgetOpen() {
  open_.clear();
  of_activities_.clear();
  events_ = 0;
  counted_in_window_ = 0;
}

void WindowFold::OnCounted(Counted counted) {
  if (counted.end_ns <= counted.start_ns) return;
  // Nothing that adds up goes back.
  if (counted.count < 0) wrong_ = true;
  // Nobody told of long before it. A program that stood still has a value of all of that.
  if (TellsFrom() < counted.start_ns - kLongestWaitNs) SettleUntold(counted.start_ns);
  silent_ = false;
  // A part of it may be marked as untold already.
  if (untold_to_ns_ > counted.start_ns) {
    const int64_t left_ns = counted.end_ns - untold_to_ns_;
    if (left_ns <= 0) return;
    counted.count *=
        static_cast<double>(left_ns) / static_cast<double>(counted.end_ns - counted.start_ns);
    counted.start_ns = untold_to_ns_;
  }
  if (counted_to_ns_ != 0 && counted.start_ns < whole_from_ns_) WatchGap(counted);
  // The first value may be written late, as the runtime compiles what writes it.
  if (counted_to_ns_ == 0) counted.start_ns = std::min(counted.start_ns, counting_from_ns_);
  // One begins where the one before ended, whatever is missing between them.
  if (counted_to_ns_ != 0) counted.start_ns = std::min(counted_to_ns_, counted.end_ns);
  if (!counting_ || counted.start_ns >= whole_from_ns_) {
    counted_to_ns_ = std::max(counted_to_ns_, counted.end_ns);
    return;
  }
  counted_to_ns_ = std::max(counted_to_ns_, counted.end_ns);
  counted_.push_back(counted);
  recent_.push_back(counted);
  if (recent_.size() > kRecent) recent_.pop_front();
  SettleCounted(false);
}

// An interval is measured before the value is written, which on a busy machine is later or sooner
// after that: what is written late looks like a gap, until the next value. A true gap stays.
void WindowFold::WatchGap(const Counted& c) {
  late_ns_ += c.start_ns - counted_to_ns_;
  late_.push_back(late_ns_);
  if (late_.size() <= kLateValues) return;
  late_.pop_front();
  const int64_t gap_ns = *std::min_element(late_.begin(), late_.end());
  if (gap_ns <= kGapNs) return;
  home_.tables->losses.Add(uncounted_, static_cast<uint64_t>(gap_ns / 1'000'000));
  late_ns_ -= gap_ns;
  for (int64_t& late : late_) late -= gap_ns;
}

// A window's throws may arrive after the counter's value, but not after the next one.
void WindowFold::SettleCounted(bool all) {
  while (counted_.size() > (all ? 0 : 1)) {
    const Counted counted = counted_.front();
    counted_.pop_front();
    WatchWrong(counted);
    Settle(counted, true);
    last_ = counted;
  }
}

// There cannot be more in a window than in all of the time around it. Values begin and end some
// milliseconds beside their times, so what happened in one may be in the next.
void WindowFold::WatchWrong(const Counted& c) {
  if (counted_.empty()) return;  // the next value is not known
  constexpr double kErrors = 4, kOfValues = 1.5;
  constexpr uint64_t kSureEvents = 30;
  const double most = kOfValues * (last_.count + c.count + counted_.front().count);
  for (const Window& w : windows_) {
    if (w.start_ns >= c.end_ns) return;
    if (w.start_ns < last_.start_ns) continue;  // it was read late
    const double sure = w.counted * (1 - kErrors / std::sqrt(static_cast<double>(w.events)));
    if (w.events >= kSureEvents && w.end_ns <= counted_.front().end_ns && sure > most)
      wrong_ = true;
  }
}

// `told`: by a counter.
void WindowFold::Settle(const Counted& c, bool told) {
  // What was recorded whole stays for the value that counts it.
  const double left = told ? std::max(0.0, c.count - WholeWithin(c.start_ns, c.end_ns)) : 0;
  const auto length_ns = static_cast<uint64_t>(c.end_ns - c.start_ns);
  Rows rows;
  const auto mark = [&](profile::StormLabel label, uint64_t stands_for) {
    AddRow(CounterKey(source_), 0, 0, LabelSet().With(LabelKey::kWindow, label),
           {1, length_ns, stands_for}, rows);
  };
  if (told && !wrong_) {
    mark(profile::kStormCounted, static_cast<uint64_t>(std::llround(std::min(left, kMostCounted))));
  } else {
    mark(profile::kStormUncounted,
         told ? 1 + static_cast<uint64_t>(std::llround(std::min(left, kMostCounted))) : 0);
    home_.tables->losses.Add(uncounted_, length_ns / 1'000'000);
  }
  while (!windows_.empty() && windows_.front().start_ns < c.end_ns) {
    AddWindow(windows_.front(), rows);
    windows_.pop_front();
  }
  Emit(std::midpoint(c.start_ns, c.end_ns), rows);
}

double WindowFold::WholeWithin(int64_t start_ns, int64_t end_ns) {
  double within = std::exchange(whole_beyond_, 0);
  std::erase_if(whole_, [&](const Whole& w) {
    if (w.time_ns >= start_ns && w.time_ns < end_ns) within += w.counted;
    return w.time_ns < end_ns;
  });
  return within;
}

// Weights are no whole numbers, and most rows are few events: what is rounded off goes to the next
// row, so that sums stay right and every row does on average.
void WindowFold::AddWindow(Window& w, Rows& rows) {
  for (const OfActivity& t : w.of_activities) {
    Of& of = w.rows[KeyOf(t.event, whose_(t.activity, t.time_ns))];
    if (of.sums.samples == 0) of.nominal_size = t.event.nominal_size;
    of.sums += t.event.sums;
  }
  const double weight = static_cast<double>(w.of_ns) /
                        static_cast<double>(std::max<int64_t>(1, w.end_ns - w.start_ns));
  const auto weighted = [&](uint64_t n) {
    const double exact = static_cast<double>(n) * weight + rounding_;
    const double whole = std::floor(exact);
    rounding_ = exact - whole;
    return static_cast<uint64_t>(whole);
  };
  AddRow(CounterKey(source_), 0, 0,
         LabelSet().With(LabelKey::kWindow, profile::kStormWindows + w.group),
         {1, static_cast<uint64_t>(w.end_ns - w.start_ns), static_cast<uint64_t>(w.of_ns)}, rows);
  for (const auto& [key, of] : w.rows) {
    const auto& [node, type, attributes, thread, request] = key;
    const profile::SeriesKey series{node, type, attributes, 0};
    // What was sampled shows its own sizes; what else is told stands for more.
    profile::Sums sums = of.sums;
    if (profile::IsEvent(series.source())) sums.amount = weighted(sums.amount);
    sums.stands_for = weighted(sums.stands_for);
    AddRow(series, of.nominal_size, thread,
           LabelSet().With(LabelKey::kWindow, w.group).With(LabelKey::kRequest, request), sums,
           rows);
  }
}

uint16_t WindowFold::LabelOf(const LabelSet& labels) {
  profile::LabelTable& table = home_.tables->labels;
  const uint16_t label = table.Find(labels);
  if (label != profile::LabelTable::kOther) return label;
  // Those without a thread have had their place since the first window.
  home_.tables->losses.Add(Loss::kLabelsCapped);
  return table.Find(LabelSet().With(LabelKey::kWindow, labels[LabelKey::kWindow]));
}

// Threads are labels of events; of samples they stand beside the rows.
void WindowFold::AddRow(const profile::SeriesKey& of, uint64_t nominal_size, uint64_t thread,
                        LabelSet labels, const profile::Sums& sums, Rows& rows) {
  const bool events = profile::IsEvent(of.source());
  if (events) labels = labels.With(LabelKey::kThread, thread);
  const uint16_t label = LabelOf(labels);
  if (label == profile::LabelTable::kOther) {
    home_.tables->losses.Add(Loss::kSeriesCapped, sums.samples);
    return;
  }
  profile::SeriesKey key = of;
  key.labels = label;
  bool capped = false;
  const uint32_t series = home_.tables->series.Find(key, nominal_size, StackTree::kOther, &capped);
  if (capped) home_.tables->losses.Add(Loss::kSeriesCapped, sums.samples);
  rows.of_series[series] += sums;
  if (labels[LabelKey::kWindow] > profile::kWindowGroups) return;
  home_.tables->source_samples[static_cast<size_t>(of.source())] += sums.samples;
  if (!events && thread != 0) rows.parts[{series, thread}] += sums;
}

void WindowFold::Emit(int64_t middle_ns, const Rows& rows) {
  profile::Slice slice;
  slice.process = home_.index;
  slice.start_ns = std::max<int64_t>(0, middle_ns) / home_.slice_ns * home_.slice_ns;
  slice.end_ns = slice.start_ns + home_.slice_ns;
  for (const auto& [series, sums] : rows.of_series) slice.rows.push_back({series, sums});
  std::map<uint64_t, uint32_t> threads;
  for (const auto& [of, sums] : rows.parts) threads.try_emplace(of.second, 0);
  for (auto& [thread, number] : threads) {
    number = static_cast<uint32_t>(slice.thread_ids.size());
    slice.thread_ids.push_back(thread);
  }
  for (const auto& [of, sums] : rows.parts)
    slice.parts.push_back({of.first, threads[of.second], sums});
  if (!slice.rows.empty()) home_.sink->OnSlice(std::move(slice));
}

void WindowFold::Stop() {
  // Of windows that break off it is not known how far they went on.
  Flush(whole_from_ns_ == kNever ? counted_to_ns_ : whole_from_ns_);
  counting_ = false;
  if (!remembering_) whole_.clear();
}

// The time from which on no value has told yet; kNever: there are no windows.
int64_t WindowFold::TellsFrom() const {
  return !counting_ ? kNever : counted_to_ns_ != 0 ? counted_to_ns_ : windows_from_ns_;
}

// Up to there no counter tells any more.
void WindowFold::SettleUntold(int64_t to_ns) {
  to_ns = std::min({to_ns, whole_from_ns_, stop_ns_});
  const int64_t from_ns = TellsFrom();
  if (from_ns >= to_ns) return;
  SettleCounted(true);
  silent_ = true;
  recent_.clear();
  last_ = kNoValue;
  late_.clear();
  late_ns_ = 0;
  const int64_t piece_ns = std::max(kUntoldNs, (to_ns - from_ns) / kMostPieces);
  for (int64_t at = from_ns; at < to_ns; at = counted_to_ns_) {
    counted_to_ns_ = to_ns - at > piece_ns ? at + piece_ns : to_ns;
    Settle({at, counted_to_ns_, 0}, false);
  }
  untold_to_ns_ = to_ns;
}

void WindowFold::Advance(int64_t now_ns) {
  // What it says of that time may still come: a program that was stopped has a value of all of it.
  const int64_t until_ns = now_ns - kLongestWaitNs, from_ns = TellsFrom();
  if (from_ns < until_ns) {
    silent_ = true;
    recent_.clear();
  }
  // Where a window saw something meanwhile, the program ran.
  int64_t ran_ns = from_ns;
  for (const Window& w : windows_)
    if (w.events != 0 && w.end_ns < until_ns) ran_ns = std::max(ran_ns, w.start_ns);
  if (from_ns < ran_ns - kLongestWaitNs) SettleUntold(ran_ns);
  AddWindowsUpTo(until_ns);
}

void WindowFold::AddWindowsUpTo(int64_t until_ns) {
  Rows rows;
  int64_t at = 0;
  while (!windows_.empty() && windows_.front().end_ns < until_ns) {
    at = windows_.front().end_ns;
    AddWindow(windows_.front(), rows);
    windows_.pop_front();
  }
  if (!rows.empty()) Emit(at, rows);
}

void WindowFold::Flush(int64_t last_ns) {
  SettleCounted(true);
  // What comes after that is recorded event by event.
  if (whole_from_ns_ != kNever) SettleUntold(whole_from_ns_);
  if (silent_) SettleUntold(last_ns);
  AddWindowsUpTo(kNever);
}

void WindowFold::Finish(int64_t last_ns) {
  if (!counting_) return;
  const int64_t to_ns = std::min({whole_from_ns_, stop_ns_, last_ns});
  if (counted_to_ns_ == 0 || to_ns - counted_to_ns_ > kEndGapNs) SettleUntold(to_ns);
  Flush(to_ns);
  ForgetOpen();
}

void WindowFold::MoveTo(const Home& home) {
  home_ = home;
  CancelWindow();
  canceled_ = reading_;
  if (counting_) ReserveLabels();
}

void WindowFold::Shift(int64_t shift_ns) {
  if (counted_to_ns_ != 0) counted_to_ns_ -= shift_ns;
  if (whole_from_ns_ != kNever) whole_from_ns_ -= shift_ns;
  if (counting_from_ns_ != kNever) counting_from_ns_ -= shift_ns;
  if (windows_from_ns_ != kNever) windows_from_ns_ -= shift_ns;
  if (untold_to_ns_ != INT64_MIN) untold_to_ns_ -= shift_ns;
  last_ = kNoValue;
  for (Whole& w : whole_) w.time_ns -= shift_ns;
  for (std::deque<Counted>* const values : {&recent_, &recent_windows_})
    for (Counted& c : *values) c = {c.start_ns - shift_ns, c.end_ns - shift_ns, c.count};
}

}  // namespace clrscope::analysis
