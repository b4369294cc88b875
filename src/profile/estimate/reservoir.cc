// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/reservoir.h"

#include <algorithm>
#include <tuple>

#include "profile/estimate/sample_weight.h"

namespace clrscope::profile {
namespace {

constexpr size_t kFirstTurnover = 1024;

int8_t FirstGeneration(HeapKind kind) {
  return kind == HeapKind::kLoh ? int8_t{3} : kind == HeapKind::kPoh ? int8_t{4} : int8_t{0};
}

auto KeyOf(const IntervalLive& l) {
  return std::tie(l.node, l.type, l.kind, l.generation, l.age_bucket, l.birth_bucket, l.young,
                  l.request, l.window);
}

// Sorts rows by their keys and adds up those of one key.
template <class Row, class Merge>
void Compact(std::vector<Row>& rows, size_t from, Merge merge) {
  const auto begin = rows.begin() + static_cast<ptrdiff_t>(from);
  std::sort(begin, rows.end(), [](const Row& a, const Row& b) { return KeyOf(a) < KeyOf(b); });
  auto last = begin;
  for (auto next = begin; next != rows.end(); ++next) {
    if (next == last) continue;
    if (KeyOf(*last) == KeyOf(*next)) {
      merge(*last, *next);
    } else if (++last != next) {
      *last = *next;
    }
  }
  if (last != rows.end()) rows.erase(last + 1, rows.end());
}

}  // namespace

void MergeLives(std::vector<IntervalLive>& rows, size_t from) {
  Compact(rows, from, [](IntervalLive& a, const IntervalLive& b) {
    a.gcs_survived_min = std::min(a.gcs_survived_min, b.gcs_survived_min);
    a.gcs_survived_max = std::max(a.gcs_survived_max, b.gcs_survived_max);
    a.gen2_survived_min = std::min(a.gen2_survived_min, b.gen2_survived_min);
    a.gen2_survived_max = std::max(a.gen2_survived_max, b.gen2_survived_max);
    a.value += b.value;
  });
}

void MergeTurnover(std::vector<IntervalTurnover>& rows) {
  Compact(rows, 0, [](IntervalTurnover& a, const IntervalTurnover& b) {
    a.births += b.births;
    a.deaths += b.deaths;
    a.deaths_age_s += b.deaths_age_s;
  });
}

LiveSample::LiveSample(const Options& options) : options_(options), random_(options.seed) {
  options_.cap = std::max<size_t>(options_.cap, 16);
  double mean = options_.mean_bytes;
  for (size_t level = 0; level <= kMaxLevel; ++level, mean *= 2) {
    means_[level] = mean;
    log_miss_[level] = LogOfMiss(mean);
  }
  objects_.reserve(options_.cap);
  turnover_.reserve(kFirstTurnover);
}

double LiveSample::KeepChance(uint64_t size, uint8_t from, uint8_t to) const {
  if (options_.source == Source::kTick)
    return 1.0 / static_cast<double>(uint64_t{1} << (to - from));
  const auto s = static_cast<double>(size);
  return ExpMinus1(s * log_miss_[to]) / ExpMinus1(s * log_miss_[from]);
}

Estimate LiveSample::ValueOf(const LiveObject& o) const {
  const auto size = static_cast<double>(o.size);
  if (options_.source != Source::kTick)
    return StandingFor(EstimateSampled(1, size, MeanOf(o.level)), o.weight);
  return StandingFor(EstimateTick(1, o.amount * static_cast<double>(uint64_t{1} << o.level), size),
                     o.weight);
}

bool LiveSample::Add(const LiveObject& object) {
  if (objects_.size() >= options_.cap) MakeRoom();
  const uint8_t level = young_level_.load(std::memory_order_relaxed);
  LiveObject o = object;
  if (o.size == 0) o.size = 1;  // no chance is 0
  if (o.level < level) {
    if (random_.Unit() >= KeepChance(o.size, o.level, level)) return false;
    o.level = level;
  }
  o.generation = FirstGeneration(o.kind);
  o.young = true;
  o.derived = false;
  o.birth_bucket = 0;
  o.gcs_survived = o.gen2_survived = 0;
  objects_.push_back(o);
  young_peak_ = std::max(young_peak_, ++young_);
  return true;
}

LiveSample::Survival LiveSample::Judge(const LiveObject& o, std::span<const GcPass> passes) {
  Survival s;
  s.generation = o.generation;
  for (const GcPass& gc : passes) {
    if (gc.index < o.alloc_gc || !gc.Condemns(s.generation)) continue;
    ++s.gcs;
    s.gen2 += gc.generation == 2 ? 1 : 0;
    if (s.generation < 2) ++s.generation;
  }
  return s;
}

bool LiveSample::Survived(size_t i, const Survival& s, int8_t generation, int64_t now_ns) {
  LiveObject& o = objects_[i];
  o.gcs_survived += s.gcs;
  o.gen2_survived += s.gen2;
  SetGeneration(o, s.generation, generation);
  if (!o.young) return true;
  if (o.level < old_level_) {
    if (random_.Unit() >= KeepChance(o.size, o.level, old_level_)) {
      Drop(i);
      return false;
    }
    o.level = old_level_;
  }
  o.young = false;
  --young_;
  o.birth_bucket = BirthBucket(now_ns);
  if (IntervalTurnover* t = TurnoverOf(o)) t->births += ValueOf(o);
  return true;
}

void LiveSample::SetGeneration(LiveObject& o, int8_t derived, int8_t told) {
  if (o.derived) --derived_;
  o.derived = told < 0;
  o.generation = o.derived ? derived : told;
  if (o.derived) ++derived_;
}

bool LiveSample::Died(size_t i, int64_t now_ns) {
  const LiveObject& o = objects_[i];
  if (!o.young) {
    if (IntervalTurnover* t = TurnoverOf(o)) {
      const Estimate value = ValueOf(o);
      t->deaths += value;
      t->deaths_age_s += value.count * static_cast<double>(now_ns - o.alloc_ns) / 1e9;
    }
  }
  Drop(i);
  return false;
}

void LiveSample::Remove(size_t i) {
  if (objects_[i].young) --young_;
  if (objects_[i].derived) --derived_;
  objects_[i] = objects_.back();
  objects_.pop_back();
}

void LiveSample::Drop(size_t i) {
  if (options_.release != nullptr) options_.release(options_.context, objects_[i].handle);
  Remove(i);
}

void LiveSample::MakeRoom() {
  // An eighth, so that it does not happen at every object.
  const size_t room = options_.cap - options_.cap / 8;
  while (objects_.size() > room) {
    const bool young = young_ * 2 > objects_.size();
    if ((young ? young_level_.load(std::memory_order_relaxed) : old_level_) == kMaxLevel)
      Drop(random_.Next() % objects_.size());  // of sizes beyond any memory
    else
      Thin(young);
  }
}

// Of the larger half: its mean doubles.
void LiveSample::Thin(bool young) {
  const auto level =
      static_cast<uint8_t>((young ? young_level_.load(std::memory_order_relaxed) : old_level_) + 1);
  for (size_t i = 0; i < objects_.size();) {
    LiveObject& o = objects_[i];
    if (o.young == young && o.level < level) {
      if (random_.Unit() >= KeepChance(o.size, o.level, level)) {
        Drop(i);
        continue;
      }
      o.level = level;
    }
    ++i;
  }
  if (young) {
    young_level_.store(level, std::memory_order_relaxed);
  } else {
    old_level_ = level;
  }
}

// The means come down when a quarter of what makes them rise was not reached.
void LiveSample::Relax() {
  const size_t few = options_.cap / 8;
  const uint8_t level = young_level_.load(std::memory_order_relaxed);
  if (level > 0 && young_peak_ < few) young_level_.store(level - 1, std::memory_order_relaxed);
  if (old_level_ > 0 && objects_.size() - young_ < few) --old_level_;
  young_peak_ = young_;
}

IntervalTurnover* LiveSample::TurnoverOf(const LiveObject& o) {
  if (turnover_.size() == turnover_.capacity()) CompactTurnover();
  if (turnover_.size() == turnover_.capacity()) {
    ++lost_turnover_;
    return nullptr;
  }
  IntervalTurnover& t = turnover_.emplace_back();
  t.node = o.node;
  t.type = o.type;
  t.birth_bucket = o.birth_bucket;
  t.request = o.activity;
  t.window = o.window;
  return &t;
}

void LiveSample::CompactTurnover() {
  MergeTurnover(turnover_);
  if (turnover_.size() * 2 > turnover_.capacity() && turnover_.capacity() < kMaxTurnover)
    turnover_.reserve(turnover_.capacity() * 2);
}

void LiveSample::TakeTurnover(std::vector<IntervalTurnover>& out) {
  CompactTurnover();
  out.insert(out.end(), turnover_.begin(), turnover_.end());
  turnover_.clear();
}

void LiveSample::TakeLives(int64_t now_ns, std::vector<IntervalLive>& out) const {
  const size_t from = out.size();
  for (const LiveObject& o : objects_) {
    IntervalLive& l = out.emplace_back();
    l.node = o.node;
    l.type = o.type;
    l.kind = o.kind;
    l.generation = o.generation;
    l.young = o.young;
    l.age_bucket = AgeBucket(now_ns - o.alloc_ns);
    l.birth_bucket = o.birth_bucket;
    l.gcs_survived_min = l.gcs_survived_max = o.gcs_survived;
    l.gen2_survived_min = l.gen2_survived_max = o.gen2_survived;
    l.value = ValueOf(o);
    l.request = o.young ? 0 : o.activity;
    l.window = o.window;
  }
  MergeLives(out, from);
}

void LiveSample::Clear() {
  while (!objects_.empty()) Drop(objects_.size() - 1);
}

size_t LiveSample::memory_bytes() const {
  return objects_.capacity() * sizeof(LiveObject) + turnover_.capacity() * sizeof(IntervalTurnover);
}

}  // namespace clrscope::profile
