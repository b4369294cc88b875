// SPDX-License-Identifier: Apache-2.0
// Puts what is known late into slices of the time that it is of.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/tables/process_tables.h"
#include "profile/tables/slice.h"

namespace clrscope::analysis {

class LateSlices {
 public:
  struct Home {
    profile::ProcessTables* tables;
    profile::SliceSink* sink;
    uint32_t index;
    int64_t slice_ns;
  };
  explicit LateSlices(const Home& home) : home_(home) {}

  // `key`: without its labels. `thread`: of samples whose threads are kept beside the series.
  // ProcessTables::source_samples count where events come in.
  void Add(int64_t time_ns, profile::SeriesKey key, uint16_t label, uint64_t nominal_size,
           uint64_t thread, const profile::Sums& sums);
  // Hands out what was added.
  void Flush();
  // Nothing may be waiting.
  void MoveTo(const Home& home) { home_ = home; }
  const Home& home() const { return home_; }

 private:
  struct Row {
    int64_t slice = 0;  // its number
    uint32_t series = 0;
    bool by_thread = false;
    uint64_t thread = 0;
    profile::Sums sums;
  };
  void Emit(const Row* from, const Row* to);

  Home home_;
  std::vector<Row> rows_;
};

}  // namespace clrscope::analysis
