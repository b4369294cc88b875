// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_allocations.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace clrscope::analysis {

using profile::GcAllocated;

namespace {
int64_t Whole(double bytes) {
  constexpr double kMost = 1e18;  // damaged input may say anything
  return bytes > 0 ? std::llround(std::min(bytes, kMost)) : 0;
}
}  // namespace

GcAllocations::Row& GcAllocations::RowOf(std::vector<Slot>& slots, std::vector<Row>& rows,
                                         uint32_t round, uint32_t index, Row empty) {
  if (index >= slots.size()) slots.resize(std::max<size_t>(index + 1, slots.size() * 3 / 2));
  Slot& slot = slots[index];
  if (slot.round != round) {
    slot = {round, static_cast<uint32_t>(rows.size())};
    rows.push_back(empty);
  }
  return rows[slot.row];
}

void GcAllocations::Add(uint32_t series, uint32_t type, uint32_t node, double bytes) {
  RowOf(series_slots_, stacks_, round_, series, {type, node, 0}).bytes += bytes;
  RowOf(type_slots_, types_, round_, type, {type, 0, 0}).bytes += bytes;
  bytes_ += bytes;
}

std::vector<GcAllocated> GcAllocations::Largest(std::vector<Row>& rows, size_t most) {
  const size_t n = std::min(most, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n), rows.end(),
                    [](const Row& a, const Row& b) {
                      return std::tie(b.bytes, a.type, a.node) < std::tie(a.bytes, b.type, b.node);
                    });
  std::vector<GcAllocated> out;
  out.reserve(n);
  for (size_t i = 0; i < n; ++i) out.push_back({rows[i].type, rows[i].node, Whole(rows[i].bytes)});
  rows.clear();
  return out;
}

void GcAllocations::TakeInto(profile::GcRecord& gc) {
  if (stacks_.empty()) return;
  gc.sampled_bytes = Whole(bytes_);
  gc.top_types = Largest(types_, profile::kGcTop);
  gc.top_stacks = Largest(stacks_, profile::kGcTopStacks);
  bytes_ = 0;
  if (++round_ == 0) {
    series_slots_.clear();
    type_slots_.clear();
    round_ = 1;
  }
}

}  // namespace clrscope::analysis
