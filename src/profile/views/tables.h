// SPDX-License-Identifier: Apache-2.0
// The tables of a report: a profile's cells added up by type, site, method, stack and so on.
// Every function returns all rows, largest first; equal rows are ordered by name.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace clrscope::profile {

enum class SortBy : uint8_t { kAmount, kCount, kSamples };
double SortValue(const Estimate& value, SortBy sort);

struct TypeRow {
  uint32_t type = 0;               // index; two runtime types of one name stay two rows
  HeapKind kind = HeapKind::kSoh;  // kUnknown of counted figures, which do not tell the heap
  Estimate value;
  Estimate large;  // counted figures only: objects as large as those of the LOH
};
std::vector<TypeRow> ByType(const Profile& profile, SortBy sort);

// For each node the frame that its allocations are charged to: the first one from the leaf that is
// the program's own (not framework, machinery, unresolved or pseudo), else the leaf. `raw_leaf`:
// always the leaf.
std::vector<uint32_t> SiteFrames(const Profile& profile, bool raw_leaf);
// Of one node, not of its leaf.
uint32_t SiteFrame(const Profile& profile, uint32_t node);

struct SiteRow {
  uint32_t type = 0;
  uint32_t frame = 0;
  Estimate value;
};
std::vector<SiteRow> BySite(const Profile& profile, SortBy sort, bool raw_leaf);

// self: stacks whose leaf is the method; total: stacks that hold it anywhere, each counted once.
struct MethodRow {
  uint32_t frame = 0;
  Estimate self, total;
};
// Sorted by self, then by total.
std::vector<MethodRow> ByMethod(const Profile& profile, SortBy sort);

// A line of a method, or a method whose lines are not known.
struct LineRow {
  uint32_t frame = 0;
  uint32_t file = 0, line = 0;  // of source_files, from 1; 0: not known
  bool approximate = false;     // of some of it the line may be another one of the method
  Estimate self, total;         // self: stacks whose site (see SiteFrames) it is
};
// Sorted by self, then by total.
std::vector<LineRow> ByLine(const Profile& profile, SortBy sort, bool raw_leaf);

struct StackRow {
  uint32_t process = 0;
  uint32_t node = 0;
  Estimate value;
  struct Part {
    uint32_t type = 0;
    Estimate value;
  };
  std::vector<Part> types;  // largest first
};
std::vector<StackRow> ByStack(const Profile& profile, SortBy sort);

struct AssemblyRow {
  StringId module;  // of the site's frame; "" = unknown
  Estimate value;
};
std::vector<AssemblyRow> ByAssembly(const Profile& profile, SortBy sort, bool raw_leaf);

struct KindRow {
  HeapKind kind = HeapKind::kSoh;
  Estimate value;
};
std::vector<KindRow> ByKind(const Profile& profile, SortBy sort);

struct ProcessRow {
  uint32_t process = 0;
  Estimate value;
};
std::vector<ProcessRow> ByProcess(const Profile& profile, SortBy sort);

// A thread over all heap kinds.
struct ThreadTotal {
  uint32_t process = 0;
  uint64_t thread = 0;
  Estimate value;
};
std::vector<ThreadTotal> ByThread(const Profile& profile, SortBy sort);

// Spans of `width_ns` (0: one that gives about 30 spans) from the first slice to the last, in order
// of time, empty ones included. A slice counts where its middle lies; where slices are wider than
// the spans, `width_ns` grows to theirs.
struct TimeBucket {
  int64_t start_ns = 0, end_ns = 0;
  Estimate value;
};
std::vector<TimeBucket> ByTime(const Profile& profile, int64_t width_ns);

}  // namespace clrscope::profile
