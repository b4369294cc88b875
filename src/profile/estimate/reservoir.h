// SPDX-License-Identifier: Apache-2.0
// The live sample: the objects that are followed, at most `cap` of them, and an honest sample at
// any cap. When the cap is reached, the sampling mean R doubles and each object stays with
// probability p(s, 2R) / p(s, R): what remains is the sample that the doubled mean would have
// taken. Each object remembers the largest mean that it lived through, and stands for
// 1 / p(s, R_object) objects; so the mean may come down again once there is room.
//
// Objects that no GC looked at yet ("young") and those that survived one have a mean each: a burst
// of garbage thins out garbage, not what a leak rests on. By AllocationTick there is no p: an
// object stays with 1/2 and its weight doubles.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profile/estimate/estimate.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::profile {

// xorshift64* (Vigna, ACM TOMS 42, 2016). Any seed, 0 too.
class Xorshift {
 public:
  explicit Xorshift(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t Next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Du;
  }
  // In [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// A GC that has ended. `index`: counts the GCs, in the order in which they began.
struct GcPass {
  uint32_t index = 0;
  int8_t generation = 0;    // the oldest that it condemned
  bool background = false;  // a background GC frees nothing in generations 0 and 1

  // Whether objects of `generation` (3 = LOH, 4 = POH) were freed if nothing held them.
  bool Condemns(int8_t of_generation) const {
    if (background) return of_generation >= 2;
    return of_generation <= generation || generation == 2;
  }
};

struct LiveObject {
  uint64_t handle = 0;   // 0: given up
  uint64_t size = 0;     // bytes
  double amount = 0;     // AllocationTick: bytes that the event stands for; else unused
  int64_t alloc_ns = 0;  // since the agent's start
  uint32_t node = 0, type = 0;
  uint32_t alloc_gc = 0;  // GCs that had begun when it was allocated
  HeapKind kind = HeapKind::kSoh;
  uint8_t level = 0;      // of the mean that it was kept at: what Admit() said
  uint32_t activity = 0;  // IntervalActivity::number; 0 = none
  float weight = 1;       // of the window of time that it was sampled in
  uint8_t window = 0;     // … and its group; 0 = none

  // Kept by the sample.
  int8_t generation = 0;
  bool young = true;
  bool derived = false;  // its generation follows from the GCs that it survived
  uint8_t birth_bucket = 0;
  uint32_t gcs_survived = 0, gen2_survived = 0;
};

// Adds up rows of one key, of all from `from` on.
void MergeLives(std::vector<IntervalLive>& rows, size_t from = 0);
void MergeTurnover(std::vector<IntervalTurnover>& rows);

class LiveSample {
 public:
  // Called for each object that is given up while it may still live: destroys its handle.
  using ReleaseHandle = void (*)(void* context, uint64_t handle);
  struct Options {
    size_t cap = 20'000;  // objects; all memory but turnover's is taken at construction
    Source source = Source::kSampled;
    double mean_bytes = kSamplingMeanBytes;  // of the runtime's own sampling
    uint64_t seed = 1;
    ReleaseHandle release = nullptr;
    void* context = nullptr;
  };
  static constexpr uint8_t kMaxLevel = 40;  // the mean doubles at most as often

  explicit LiveSample(const Options& options);

  // At delivery, on any thread: whether an object of `size` bytes is to be followed. `level` is set
  // to what Add() has to be given.
  bool Admit(uint64_t size, Xorshift& random, uint8_t* level) const {
    *level = young_level_.load(std::memory_order_relaxed);
    return *level == 0 || random.Unit() < KeepChance(size, 0, *level);
  }

  // Everything below: on one thread.

  // Follows `object`. False: it was thinned out at once (its handle is not released).
  bool Add(const LiveObject& object);

  // After the GCs `passes`, oldest first: drops the dead, ages the others. Only objects of a
  // condemned generation are asked for: `probe(handle, &generation)` says whether the object lives,
  // and then its real generation (0 … 2, 3 = LOH, 4 = POH), or -1 when that cannot be said now:
  // until Regrade() brings it, it is derived from the GCs that the object survived. The handle of a
  // dead one is released through Options::release like any other. `now_ns`: since the agent's
  // start.
  template <class Probe>
  void AfterGcs(std::span<const GcPass> passes, int64_t now_ns, Probe&& probe) {
    for (size_t i = 0; i < objects_.size();) {
      LiveObject& o = objects_[i];
      const Survival s = Judge(o, passes);
      if (s.gcs == 0) {
        ++i;
        continue;
      }
      int8_t generation = s.generation;
      const bool alive = probe(o.handle, &generation);
      if (alive ? Survived(i, s, generation, now_ns) : Died(i, now_ns)) ++i;
    }
    Relax();
  }

  // Asks again for the generations that are derived; `probe` as above, and what is dead stays until
  // a GC says so.
  template <class Probe>
  void Regrade(Probe&& probe) {
    if (derived_ == 0) return;
    derived_ = 0;
    for (LiveObject& o : objects_) {
      if (!o.derived) continue;
      int8_t generation = -1;
      o.derived = !probe(o.handle, &generation) || generation < 0;
      if (!o.derived) o.generation = generation;
      derived_ += o.derived ? 1 : 0;
    }
  }

  // Appends the rows of what is followed now. A state: each call gives all of it.
  void TakeLives(int64_t now_ns, std::vector<IntervalLive>& out) const;
  // Appends births and deaths since the last call.
  void TakeTurnover(std::vector<IntervalTurnover>& out);
  // Gives up every object.
  void Clear();
  // The nodes and types that its objects, births and deaths name, each as often as it is named: to
  // look at, and to give them other numbers.
  template <class F>
  void ForEachPlace(F&& f) const {
    for (const LiveObject& o : objects_) f(o.node, o.type);
    for (const IntervalTurnover& t : turnover_) f(t.node, t.type);
  }
  template <class F>
  void Renumber(F&& f) {
    for (LiveObject& o : objects_) f(o.node, o.type);
    for (IntervalTurnover& t : turnover_) f(t.node, t.type);
  }

  // The activities that objects, births and deaths name, each as often as it is named.
  template <class F>
  void ForEachActivity(F&& f) const {
    for (const LiveObject& o : objects_) f(o.activity);
    for (const IntervalTurnover& t : turnover_) f(t.request);
  }

  size_t size() const { return objects_.size(); }
  size_t young() const { return young_; }
  size_t derived() const { return derived_; }  // objects whose generation nobody told yet
  std::span<const LiveObject> objects() const { return objects_; }
  // R of what has survived a GC, and of what is sampled now, bytes.
  double live_mean_bytes() const { return MeanOf(old_level_); }
  double young_mean_bytes() const { return MeanOf(young_level_.load(std::memory_order_relaxed)); }
  // Births and deaths that were not counted: more than kMaxTurnover distinct ones in an interval.
  uint64_t lost_turnover() const { return lost_turnover_; }
  // Bytes that the sample holds.
  size_t memory_bytes() const;
  // What an object stands for.
  Estimate ValueOf(const LiveObject& object) const;

 private:
  static constexpr size_t kMaxTurnover = size_t{1} << 17;
  struct Survival {
    uint32_t gcs = 0, gen2 = 0;
    int8_t generation = 0;  // where it would be now if each GC had promoted it
  };

  double MeanOf(uint8_t level) const { return means_[level]; }
  double KeepChance(uint64_t size, uint8_t from, uint8_t to) const;
  static Survival Judge(const LiveObject& object, std::span<const GcPass> passes);
  // Whether the object is still there.
  bool Survived(size_t i, const Survival& s, int8_t generation, int64_t now_ns);
  void SetGeneration(LiveObject& o, int8_t derived, int8_t told);
  bool Died(size_t i, int64_t now_ns);  // false
  void Remove(size_t i);
  void Drop(size_t i);  // releases and removes
  void MakeRoom();
  void Thin(bool young);
  void Relax();
  IntervalTurnover* TurnoverOf(const LiveObject& object);
  void CompactTurnover();

  Options options_;
  double means_[kMaxLevel + 1];
  double log_miss_[kMaxLevel + 1];  // of the chance that a byte is not hit
  Xorshift random_;
  std::vector<LiveObject> objects_;
  size_t young_ = 0, derived_ = 0;
  size_t young_peak_ = 0;  // since the last GC
  std::atomic<uint8_t> young_level_{0};
  uint8_t old_level_ = 0;
  std::vector<IntervalTurnover> turnover_;
  uint64_t lost_turnover_ = 0;
};

}  // namespace clrscope::profile
