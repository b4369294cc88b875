// SPDX-License-Identifier: Apache-2.0
// What a process allocated since its last GC began, by type and by stack: the cause of the next
// one. Counted by index, without a map; a GC keeps only the largest.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/gc/gc_record.h"

namespace clrscope::analysis {

class GcAllocations {
 public:
  // A sample that stands for `bytes`, of the series with this index.
  void Add(uint32_t series, uint32_t type, uint32_t node, double bytes);
  // Notes what was added since the last call, and begins anew.
  void TakeInto(profile::GcRecord& gc);

 private:
  struct Row {
    uint32_t type, node;
    double bytes;
  };
  struct Slot {
    uint32_t round = 0, row = 0;
  };
  static Row& RowOf(std::vector<Slot>& slots, std::vector<Row>& rows, uint32_t round,
                    uint32_t index, Row empty);
  static std::vector<profile::GcAllocated> Largest(std::vector<Row>& rows, size_t most);

  uint32_t round_ = 1;
  std::vector<Slot> series_slots_, type_slots_;
  std::vector<Row> stacks_, types_;
  double bytes_ = 0;
};

}  // namespace clrscope::analysis
