// SPDX-License-Identifier: Apache-2.0
// A program whose objects live as they are told to, under the eyes of the agent: its frames, as the
// agent's live sample makes them.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/families/live/interval_fold.h"
#include "profile/estimate/reservoir.h"
#include "profile/tables/process_tables.h"

namespace clrscope::analysis::testing {

// Objects of one type from one site. `rate`: objects per second at a time. `lives_for`: seconds,
// given the time of birth and a random number in [0, 1).
struct Stream {
  std::string type, site;
  double size = 0;
  std::function<double(double time)> rate;
  std::function<double(double time, double random)> lives_for;
};

struct SimulatedProgram {
  std::vector<Stream> streams;
  double seconds = 600, gc_every = 0.5, frame_every = 10;
  size_t cap = 20'000;
  double starts_at = 0;  // the agent comes so late; what was allocated before is not seen
  profile::Source source = profile::Source::kSampled;
};

inline constexpr double kNeverDies = 1e12;

class SimulatedAgent {
 public:
  SimulatedAgent(SimulatedProgram program, uint64_t seed)
      : program_(std::move(program)), random_(seed), sample_(OptionsOf(seed)) {}

  // Every frame in order. Node i + 1 and type i + 1 are those of stream i, below one root frame.
  std::vector<profile::IntervalFrame> Run() {
    constexpr double kStep = 0.1;
    double gc_at = program_.gc_every, frame_at = program_.frame_every;
    uint32_t gc = 0;
    for (int step = 1; step * kStep <= program_.seconds + 1e-9; ++step) {
      const double now = step * kStep;
      for (uint32_t i = 0; i < program_.streams.size(); ++i) Allocate(i, now - kStep, now, gc);
      if (now + 1e-9 >= gc_at) {
        // Generation 1 each tenth, generation 2 each fortieth.
        const int8_t generation = gc % 40 == 39 ? int8_t{2} : gc % 10 == 9 ? int8_t{1} : int8_t{0};
        const profile::GcPass pass{gc++, generation, false};
        sample_.AfterGcs({&pass, 1}, Ns(now), [&](uint64_t handle, int8_t* g) {
          if (*g < 2) ++*g;
          return deaths_.at(handle) > now;
        });
        gc_at += program_.gc_every;
      }
      if (now + 1e-9 >= frame_at) {
        Emit(now);
        frame_at += program_.frame_every;
      }
    }
    return std::move(frames_);
  }

 private:
  static int64_t Ns(double seconds) { return static_cast<int64_t>(std::llround(seconds * 1e9)); }
  profile::LiveSample::Options OptionsOf(uint64_t seed) {
    profile::LiveSample::Options o;
    o.cap = program_.cap;
    o.seed = seed;
    o.source = program_.source;
    o.release = [](void* self, uint64_t handle) {
      static_cast<SimulatedAgent*>(self)->deaths_.erase(handle);
    };
    o.context = this;
    return o;
  }
  double Unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  void Allocate(uint32_t index, double from, double to, uint32_t gc) {
    const Stream& s = program_.streams[index];
    const double p = profile::HitProbability(s.size);
    const double expected = s.rate(from) * (to - from) * p;
    if (expected <= 0) return;
    const int sampled = std::poisson_distribution<int>(expected)(random_);
    for (int k = 0; k < sampled; ++k) {
      const double born = from + (to - from) * Unit();
      profile::LiveObject o;
      o.handle = ++handles_;
      o.size = static_cast<uint64_t>(s.size);
      o.amount = 102'400;
      o.alloc_ns = Ns(born);
      o.node = o.type = index + 1;
      o.alloc_gc = gc;
      deaths_[o.handle] = born + s.lives_for(born, Unit());
      if (!sample_.Add(o)) deaths_.erase(o.handle);
    }
  }

  void Emit(double now) {
    profile::IntervalFrame f;
    f.sequence = frames_.size();
    f.start_unix_ns = 1'000'000'000'000;
    f.start_ns = Ns(now - program_.frame_every);
    f.end_ns = Ns(now);
    f.pid = 77;
    f.source = program_.source;
    f.live = true;
    if (frames_.empty()) {
      for (const Stream& s : program_.streams) {
        f.methods.push_back({"App", "", s.site, s.site + "()", 0x06000001, 0});
        f.types.push_back({0x1000 + f.types.size(), s.type, s.type});
        f.nodes.push_back({0, static_cast<uint32_t>(f.nodes.size())});
      }
    } else {
      f.first_method = static_cast<uint32_t>(program_.streams.size());
      f.first_type = f.first_node = f.first_method + 1;
    }
    sample_.TakeLives(f.end_ns, f.lives);
    sample_.TakeTurnover(f.turnover);
    f.meter.handles = sample_.size();
    f.meter.live_mean_bytes = sample_.live_mean_bytes();
    frames_.push_back(std::move(f));
  }

  SimulatedProgram program_;
  std::mt19937_64 random_;
  uint64_t handles_ = 0;
  std::unordered_map<uint64_t, double> deaths_;
  profile::LiveSample sample_;
  std::vector<profile::IntervalFrame> frames_;
};

struct Folded {
  profile::Recording recording;
  std::vector<profile::AgentInterval> intervals;
};

// Frames as a recording of one process.
inline Folded Fold(std::vector<profile::IntervalFrame> frames) {
  struct Keep final : profile::IntervalSink {
    explicit Keep(std::vector<profile::AgentInterval>* out) : intervals(out) {}
    void OnInterval(profile::AgentInterval&& i) override { intervals->push_back(std::move(i)); }
    std::vector<profile::AgentInterval>* intervals;
  };
  Folded out;
  out.recording.start_unix_ns = 1'000'000'000'000;
  out.recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  out.recording.processes[0]->info.pid = 77;
  Keep keep(&out.intervals);
  IntervalFold fold(&out.recording, 0, &keep, true);
  for (profile::IntervalFrame& f : frames) CHECK(fold.OnFrame(std::move(f)).ok());
  if (!out.intervals.empty()) out.recording.end_ns = out.intervals.back().end_ns();
  return out;
}

}  // namespace clrscope::analysis::testing
