// SPDX-License-Identifier: Apache-2.0
// A program that throws at known times, recorded as a storm is: by the fold, the windows' plan and
// the estimator that live recordings use. What is simulated is the program, the runtime's counter
// and how late a session is open or closed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/families/exceptions/storm_fold.h"
#include "capture/sessions/storm_watch.h"

namespace clrscope::capture::testing {

class StormSimulator {
 public:
  static constexpr int64_t kSecond = 1'000'000'000;
  struct Throw {
    int64_t time_ns;
    uint32_t type;
    auto operator<=>(const Throw&) const = default;
  };
  // The throws of a second, in any order.
  using Program =
      std::function<void(int64_t second, std::mt19937_64& random, std::vector<Throw>& out)>;

  struct Figure {
    double truth = 0;
    profile::Estimate value;
    profile::Interval interval;
  };
  struct Outcome {
    std::vector<Figure> types;
    Figure all;
    profile::Storms storms;
    double thrown = 0, estimated = 0;
    uint64_t recorded = 0;  // throws of which there was an event
  };

  // types: how many there are
  StormSimulator(size_t types, uint64_t seed) : random_(seed), watch_(seed ^ 0x5DEECE66D) {
    auto tables = std::make_unique<profile::ProcessTables>();
    for (size_t i = 0; i < types; ++i)
      tables->types.push_back({0, recording_.strings.Intern("Type" + std::to_string(i))});
    recording_.processes.push_back(std::move(tables));
    recording_.processes[0]->info.Record(profile::Measure::kExceptions);
    truth_.resize(types);
    exact_.resize(types);
    fold_.emplace(
        analysis::StormFold::Home{recording_.processes[0].get(), &aggregate_, 0, kSecond});
  }

  // The runtime counts from so long before the counter says that it begins.
  void SetEarly(int64_t early_ns) { early_ns_ = early_ns; }

  Outcome Run(const Program& program, int64_t seconds) {
    std::vector<Throw> throws;
    for (int64_t s = 0; s < seconds; ++s) {
      throws.clear();
      program(s, random_, throws);
      std::sort(throws.begin(), throws.end());
      for (const Throw& t : throws) {
        StepTo(t.time_ns);
        OnThrow(t);
      }
      StepTo((s + 1) * kSecond);
    }
    StepTo((seconds + 3) * kSecond);
    return Result(seconds * kSecond);
  }

 private:
  static constexpr int64_t kNever = INT64_MAX;
  enum class State : uint8_t { kWhole, kNoticed, kWindows };

  void OnThrow(const Throw& t) {
    ++truth_[t.type];
    ++since_value_;
    lately_.push_back(t.time_ns);
    while (lately_.front() < t.time_ns - early_ns_) lately_.pop_front();
    if (state_ != State::kWindows) {
      fold_->OnWhole(t.time_ns);
      ++exact_[t.type];
      ++recorded_;
      if (state_ == State::kWhole && fold_->stormy()) {
        // The next flush, an open, a stop.
        state_ = State::kNoticed;
        fold_->BeginStorm();
        fold_->NoteCounting(t.time_ns);
        since_value_ = lately_.size() - 1;
        value_from_ns_ = t.time_ns;
        next_value_ns_ = t.time_ns + kSecond;
        windows_from_ns_ = t.time_ns + kSecond / 5;
      }
    } else if (t.time_ns >= open_ns_ && t.time_ns < close_ns_) {
      fold_->OnWindowed(profile::StackTree::kNoStack, t.type + 1, 1, false);
      ++recorded_;
    }
  }

  // What happens at times before `now`.
  void StepTo(int64_t now) {
    for (;;) {
      const int64_t window =
          state_ == State::kWindows ? (close_ns_ != 0 ? close_ns_ : plan_ns_) : kNever;
      const int64_t begin = state_ == State::kNoticed ? windows_from_ns_ : kNever;
      const int64_t value = state_ == State::kWhole ? kNever : next_value_ns_;
      const int64_t next = std::min({window, begin, value});
      if (next > now) return;
      if (next == value) {
        OnValue();
      } else if (next == begin) {
        state_ = State::kWindows;
        Plan(next);
      } else if (close_ns_ != 0) {
        Close();
      } else {
        Open();
      }
    }
  }
  void OnValue() {
    fold_->OnCounted({value_from_ns_, next_value_ns_, static_cast<double>(since_value_)});
    value_from_ns_ = next_value_ns_;
    next_value_ns_ += kSecond;
    since_value_ = 0;
    if (state_ != State::kWindows || close_ns_ != 0 || !StormWatch::Calm(fold_->recent())) return;
    fold_->EndStorm(value_from_ns_);
    fold_->Stop();
    state_ = State::kWhole;
  }
  void Plan(int64_t now) {
    next_ = watch_.Next(now, fold_->counted_to_ns(),
                        StormWatch::Highest(fold_->recent(), fold_->whole_rate()));
    plan_ns_ = next_.begin_ns;
  }
  void Open() {
    open_ns_ = plan_ns_;
    // Both ends are known to half a millisecond or so.
    close_ns_ = open_ns_ + next_.length_ns + Jitter();
  }
  void Close() {
    const int64_t told_ns = std::max<int64_t>(1'000'000, close_ns_ - open_ns_ + Jitter());
    fold_->EndWindow(next_.group, open_ns_, open_ns_ + told_ns, StormWatch::kPeriodNs);
    const int64_t over = close_ns_ + kSecond / 7;  // the stop, and what it sends
    open_ns_ = close_ns_ = 0;
    Plan(over);
  }
  int64_t Jitter() {
    return static_cast<int64_t>(std::exponential_distribution<double>(1 / 0.5e6)(random_));
  }

  Outcome Result(int64_t end_ns) {
    fold_->Finish(end_ns);
    profile::Slice slice;
    slice.end_ns = kSecond;
    for (uint32_t type = 0; type < exact_.size(); ++type) {
      bool capped = false;
      const uint32_t series = recording_.processes[0]->series.Find(
          profile::SeriesKey::Make(profile::StackTree::kNoStack, type + 1,
                                   profile::HeapKind::kUnknown, profile::Source::kException, 0),
          0, profile::StackTree::kOther, &capped);
      if (exact_[type] != 0) slice.rows.push_back({series, {exact_[type], 0, exact_[type]}});
    }
    aggregate_.OnSlice(std::move(slice));
    recording_.end_ns = end_ns;
    const profile::Profile p = analysis::Bind(recording_, aggregate_);
    Outcome out;
    out.types.resize(truth_.size());
    const profile::Figure* figure = p.Find(profile::Measure::kExceptions);
    for (const profile::Cell& c : figure->cells) {
      const std::string_view name = p.str(p.types[c.type].name);
      if (name.starts_with("Type"))
        out.types[std::stoul(std::string(name.substr(4)))].value += c.value;
      out.estimated += c.value.count;
      out.all.value += c.value;
    }
    out.storms = figure->storms;
    for (size_t i = 0; i < truth_.size(); ++i) {
      out.types[i].truth = static_cast<double>(truth_[i]);
      out.types[i].interval = profile::WindowedCount(out.types[i].value, out.storms.unseen());
      out.thrown += out.types[i].truth;
    }
    out.recorded = recorded_;
    out.all.truth = out.thrown;
    out.all.interval = profile::WindowedCount(out.all.value, out.storms.unseen());
    return out;
  }

  profile::Recording recording_;
  analysis::Aggregate aggregate_{&recording_};
  std::optional<analysis::StormFold> fold_;
  std::mt19937_64 random_;
  StormWatch watch_;
  StormWatch::Window next_;
  State state_ = State::kWhole;
  std::vector<uint64_t> truth_, exact_;
  int64_t early_ns_ = 0;
  std::deque<int64_t> lately_;  // times of throws, of as long as that
  uint64_t recorded_ = 0, since_value_ = 0;
  int64_t value_from_ns_ = 0, next_value_ns_ = kNever, windows_from_ns_ = kNever;
  int64_t plan_ns_ = 0, open_ns_ = 0, close_ns_ = 0;
};

// Programs of docs/accuracy-by-measure.md.
struct StormProgram {
  const char* name;
  size_t types;
  int64_t seconds;
  StormSimulator::Program program;
};

// `n` throws of a type, spread over a span.
inline void Spread(std::vector<StormSimulator::Throw>& out, std::mt19937_64& random, double mean,
                   int64_t from_ns, int64_t length_ns, uint32_t type) {
  const auto n = std::poisson_distribution<int64_t>(mean)(random);
  std::uniform_int_distribution<int64_t> at(from_ns, from_ns + length_ns - 1);
  for (int64_t i = 0; i < n; ++i) out.push_back({at(random), type});
}

inline std::vector<StormProgram> StormPrograms() {
  using Throws = std::vector<StormSimulator::Throw>;
  constexpr int64_t kS = StormSimulator::kSecond;
  std::vector<StormProgram> out;
  // 20,000/s of five types, of 60 % to 0.5 %.
  out.push_back({"steady", 5, 60, [](int64_t s, std::mt19937_64& r, Throws& t) {
                   constexpr double kRates[] = {12'000, 5'000, 2'500, 400, 100};
                   for (uint32_t i = 0; i < 5; ++i) Spread(t, r, kRates[i], s * kS, kS, i);
                 }});
  // A type comes in bursts of 50 ms, each of 1,000 to 20,000; others all the time.
  out.push_back({"bursts", 3, 120, [](int64_t s, std::mt19937_64& r, Throws& t) {
                   Spread(t, r, 8'000, s * kS, kS, 0);
                   Spread(t, r, 500, s * kS, kS, 1);
                   for (auto n = std::poisson_distribution<int>(2)(r); n > 0; --n) {
                     const auto from = static_cast<int64_t>(r() % (kS - kS / 20));
                     const double size =
                         1'000 * std::pow(20, static_cast<double>(r() % 1000) / 1e3);
                     Spread(t, r, size, s * kS + from, kS / 20, 2);
                   }
                 }});
  // Type 1 is thrown only while type 0's bursts go on, and 100 times less often.
  out.push_back({"one hides behind another", 3, 120, [](int64_t s, std::mt19937_64& r, Throws& t) {
                   Spread(t, r, 2'000, s * kS, kS, 2);
                   for (int i = 0; i < 4; ++i) {
                     const auto from = static_cast<int64_t>(r() % (kS - kS / 25));
                     Spread(t, r, 4'000, s * kS + from, kS / 25, 0);
                     Spread(t, r, 40, s * kS + from, kS / 25, 1);
                   }
                 }});
  // The rate and the mixture change by the second.
  out.push_back({"changing", 4, 120, [](int64_t s, std::mt19937_64& r, Throws& t) {
                   const double all = 12'000 * (1 + static_cast<double>(s % 7));
                   for (uint32_t i = 0; i < 4; ++i)
                     Spread(t, r, all * (i == static_cast<uint32_t>(s / 5 % 4) ? 0.7 : 0.1), s * kS,
                            kS, i);
                 }});
  // Calm but for one second.
  out.push_back({"a second in an hour", 3, 3'600, [](int64_t s, std::mt19937_64& r, Throws& t) {
                   Spread(t, r, 20, s * kS, kS, 0);
                   if (s != 1'000) return;
                   Spread(t, r, 60'000, s * kS, kS, 1);
                   Spread(t, r, 600, s * kS, kS, 2);
                 }});
  return out;
}

}  // namespace clrscope::capture::testing
