// SPDX-License-Identifier: Apache-2.0
// What the runtime's sample profiler tells: it stops the program about once a millisecond and
// writes the stack of every managed thread, whether that runs or not. A thread that was in
// cooperative mode ran managed code, as far as the runtime knows; the others waited, or ran native
// code. A sample stands for the time between two of them: the mean gap of the threads' samples in
// each second, as the sampler falls behind where there are many threads.
// Source: dotnet/runtime src/native/eventpipe/ep-sample-profiler.c, ep-rt-coreclr.c
// (ep_rt_sample_profiler_write_sampling_event_for_threads).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/families/late_slices.h"

namespace clrscope::analysis {

class ThreadSamples {
 public:
  // Gaps of which the mean is taken, chosen at random of all; threads and (thread, stack, mode) of
  // a second. More threads and rows are counted as dropped.
  static constexpr size_t kMostGaps = 4'096, kMostThreads = 100'000, kMostRows = 1'000'000;
  // Fewer gaps say little: the one before goes on.
  static constexpr size_t kFewGaps = 8;

  enum class Mode : uint8_t { kUnknown = 0, kExternal = 1, kManaged = 2 };  // as the payload has it

  explicit ThreadSamples(const LateSlices::Home& home) : slices_(home) {}

  // In order of time.
  void OnSample(uint64_t thread, int64_t time_ns, uint32_t node, Mode mode);
  // What was not handed out yet is.
  void Flush();
  // Goes on in another recording; after Flush().
  void MoveTo(const LateSlices::Home& home);

  uint64_t samples() const { return samples_; }
  int64_t period_ns() const { return period_ns_; }

 private:
  // Until a gap was seen: what the runtime is set to.
  static constexpr int64_t kNominalPeriodNs = 1'000'000;

  struct Row {
    uint64_t thread;
    uint32_t node;
    Mode mode;
    uint32_t samples;
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
  void NoteGap(uint64_t thread, int64_t time_ns);
  void Emit(const Row& row);

  LateSlices slices_;
  std::unordered_map<uint64_t, int64_t> last_ns_;  // by thread
  std::unordered_map<RowKey, uint32_t, HashRow> row_of_;
  std::vector<Row> rows_;
  std::vector<int64_t> gaps_;
  uint64_t seen_gaps_ = 0, random_ = 1;
  int64_t slice_ = -1;  // the number of the one that is open
  int64_t period_ns_ = kNominalPeriodNs;
  uint64_t samples_ = 0;
};

}  // namespace clrscope::analysis
