// SPDX-License-Identifier: Apache-2.0
// What the runtime's sample profiler tells: it stops the program about once a millisecond and
// writes the stack of every managed thread, whether that runs or not. A thread that was in
// cooperative mode ran managed code, as far as the runtime knows; the others waited, or ran native
// code. A sample stands for the time since the round of samples before: the sampler falls behind
// where there are many threads, and where one runs, as it waits until that one can be stopped.
// Source: dotnet/runtime src/native/eventpipe/ep-sample-profiler.c, ep-rt-coreclr.c
// (ep_rt_sample_profiler_write_sampling_event_for_threads).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/families/late_slices.h"

namespace clrscope::analysis {

class ThreadSamples {
 public:
  // Threads of which it is known in which round they were; then all are forgotten. Samples that
  // wait for the end of their second; then what came so far is handed out.
  static constexpr size_t kMostThreads = 100'000, kMostWaiting = 1'000'000;
  // What is usual is told by so many rounds at least, those of earlier seconds where there are few:
  // of thousands of threads a round takes a second.
  static constexpr size_t kFewRounds = 8;

  enum class Mode : uint8_t { kUnknown = 0, kExternal = 1, kManaged = 2 };  // as the payload has it

  explicit ThreadSamples(const LateSlices::Home& home) : slices_(home) {}

  // In order of time.
  void OnSample(uint64_t thread, int64_t time_ns, uint32_t node, Mode mode);
  // What was not handed out yet is.
  void Flush();
  // Goes on in another recording; after Flush().
  void MoveTo(const LateSlices::Home& home);

  uint64_t samples() const { return samples_; }
  int64_t period_ns() const { return period_ns_; }  // the mean time between two rounds

 private:
  // Until rounds were seen: what the runtime is set to.
  static constexpr int64_t kNominalPeriodNs = 1'000'000;

  struct Row {
    uint64_t thread;
    uint32_t node;
    Mode mode;
    uint32_t samples;
    int64_t ns;
  };
  struct Waiting {
    uint32_t row;
    uint32_t round;  // index into gaps_
  };
  struct RowKey {
    uint64_t thread;
    uint64_t node_and_mode;
    bool operator==(const RowKey&) const = default;
  };
  struct HashRow {
    size_t operator()(const RowKey& k) const {
      return static_cast<size_t>((k.thread * 0x9E3779B97F4A7C15u) ^
                                 (k.node_and_mode * 0xD6E8FEB86659FD93u));
    }
  };
  // The runtime writes a sample of each thread: one that comes again begins the next round.
  void NoteRound(uint64_t thread, int64_t time_ns);
  // Sets period_ns_, and puts it in place of gaps in which the sampler or the program was stopped.
  void SettleGaps();
  void Emit(const Row& row);

  LateSlices slices_;
  std::unordered_map<uint64_t, uint64_t> round_of_;  // by thread: the last one that it was in
  std::unordered_map<RowKey, uint32_t, HashRow> row_of_;
  std::vector<Row> rows_;
  std::vector<Waiting> waiting_;
  std::vector<int64_t> gaps_, sorted_;  // ns before each round of the slice; 0 = not known
  std::vector<int64_t> recent_;         // the last ones of earlier slices
  uint64_t round_ = 1;
  std::optional<int64_t> round_ns_;  // when it began
  int64_t gap_ns_ = 0;               // how long after the one before
  int64_t slice_ = -1;               // the number of the one that is open
  int64_t period_ns_ = kNominalPeriodNs;
  uint64_t samples_ = 0;
};

}  // namespace clrscope::analysis
