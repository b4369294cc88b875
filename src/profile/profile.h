// SPDX-License-Identifier: Apache-2.0
// The finished model that reports and exporters read: canonical frames, one stack tree for all
// processes, types, and one cell per (stack, type, heap kind, process).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loss.h"
#include "base/string_pool.h"
#include "profile/counting.h"
#include "profile/estimate.h"
#include "profile/gc_records.h"

namespace clrscope::profile {

enum FrameFlag : uint8_t {
  kFramework = 1,   // its module belongs to the framework (see FrameworkRule)
  kMachinery = 2,   // async or thread-pool plumbing, folded away unless asked for
  kUnresolved = 4,  // an address without a method
  kPseudo = 8,      // [truncated], [no stack], (other): not code
};

// A method as people see it. Two addresses of one method are one frame.
struct Frame {
  StringId module;     // "System.Private.CoreLib"; "" when unknown
  StringId method;     // C# name without parameters: "System.Collections.Generic.List<T>.Add"
  StringId raw;        // the runtime's name with parameters, as TraceEvent prints it
  uint32_t token = 0;  // MethodDef token; 0 = none
  uint8_t flags = 0;
};

// A type of one process. Two runtime types may share a name: they stay two types.
struct Type {
  StringId name;    // C# name: "System.Collections.Generic.Dictionary<string, int>[]"
  StringId raw;     // the runtime's name
  uint64_t id = 0;  // the runtime's type id
  uint32_t process = 0;
  // Counted figures only: some of its objects are made in a way that the runtime does not count.
  bool partial = false;
  bool many_sizes = false;  // its objects were seen to differ in size
};

struct Module {
  StringId name;
  StringId path;
  StringId mvid;  // PDB or module GUID as hex, "" when unknown
  bool framework = false;
};

struct Node {
  uint32_t parent = 0;  // node 0 is the root, its own parent
  uint32_t frame = 0;   // index into frames; meaningless for node 0
};

// What one stack allocated of one type on one heap.
struct Cell {
  uint32_t node = 0;  // leaf of the stack
  uint32_t type = 0;
  uint32_t process = 0;
  HeapKind kind = HeapKind::kSoh;
  Estimate value;
};

// What lives of one stack's objects of one type, as the agent told at `Process::live_at_ns`.
struct LiveCell {
  uint32_t node = 0;
  uint32_t type = 0;
  uint32_t process = 0;
  HeapKind kind = HeapKind::kSoh;
  int8_t generation = -1;  // 0, 1, 2 (3 = LOH, 4 = POH), -1 = unknown
  bool young = false;      // no GC looked at it yet: nobody knows whether it lives
  uint8_t age_bucket = 0;  // index into kAgeStarts
  uint32_t gcs_survived_min = 0, gcs_survived_max = 0;
  uint32_t gen2_survived_min = 0, gen2_survived_max = 0;
  Estimate value;
};

// What lived at one moment of the recording, by age. Young objects are not in it.
struct LiveAgeRow {
  int64_t at_ns = 0;
  uint32_t process = 0;
  HeapKind kind = HeapKind::kSoh;
  uint8_t age_bucket = 0;  // index into kAgeStarts
  Estimate value;
};

// CPU time in an interval, ns; -1 = unknown.
struct GcCpuRow {
  uint32_t process = 0;
  int64_t start_ns = 0, end_ns = 0;
  int64_t process_ns = -1;
  int64_t server_gc_ns = -1, background_gc_ns = -1, workstation_gc_ns = -1;
  // Of the GC, as far as it is known; -1 = not at all.
  int64_t gc_ns() const {
    int64_t sum = -1;
    for (const int64_t ns : {server_gc_ns, background_gc_ns, workstation_gc_ns})
      if (ns >= 0) sum = (sum < 0 ? 0 : sum) + ns;
    return sum;
  }
  // Another span of the same process; what is known of either is added up.
  GcCpuRow& operator+=(const GcCpuRow& row);
};

// What a profile's cells are.
enum class Shows : uint8_t { kAllocated, kLive };

struct Process {
  uint32_t pid = 0;
  StringId name;  // "orders", as people call the program
  StringId command_line;
  StringId runtime;  // ".NET 10.0.12", "" when unknown
  StringId os, arch;
  StringId main_module;
  int64_t start_ns = 0, end_ns = 0;             // of what was recorded, since the recording's start
  bool complete = false;                        // the session ended as it should
  bool ticks = false;                           // told by AllocationTick, although others are not
  Counting counting;                            // of GCSampledObjectAllocation
  bool dropped = false;                         // something of its streams was lost
  bool by_agent = false;                        // no session told its allocations: the agent did
  bool followed = false;                        // the agent followed live objects
  int64_t live_at_ns = 0;                       // when they were looked at last
  double live_mean_bytes = kSamplingMeanBytes;  // R of their sample then
  Source live_source = Source::kSampled;        // the event that it rests on
  GcFacts gc;
};

struct ThreadRow {
  uint32_t process = 0;
  uint64_t thread = 0;  // the OS thread id
  HeapKind kind = HeapKind::kSoh;
  Estimate value;
};

struct TimeRow {
  int64_t start_ns = 0, end_ns = 0;
  uint32_t process = 0;
  HeapKind kind = HeapKind::kSoh;
  Estimate value;
};

struct Profile {
  StringPool strings;
  std::vector<Frame> frames;
  std::vector<Type> types;
  std::vector<Module> modules;
  std::vector<Node> nodes;  // a parent comes before its children
  std::vector<Cell> cells;  // allocations by `source`, distinct in (node, type, process, kind)
  std::vector<Process> processes;
  std::vector<ThreadRow> threads;
  std::vector<TimeRow> times;
  GcRecords gcs;                      // by process, then by time
  std::vector<LiveCell> lives;        // a state: of the end of what was asked for
  std::vector<LiveAgeRow> live_ages;  // by process, then by time: a moment for each interval
  std::vector<GcCpuRow> gc_cpu;
  LossCounters losses;

  Shows shows = Shows::kAllocated;
  Source source = Source::kSampled;  // the event that the cells rest on
  // Except for these processes, which know no AllocationSampled: theirs rest on AllocationTick.
  bool mixed = false;
  std::vector<Source> also;   // other sources that the recording holds too
  bool objects_known = true;  // false for AllocationTick before payload V4
  int64_t start_unix_ns = 0;  // wall clock at the recording's start
  int64_t duration_ns = 0;
  bool complete = true;  // the recording was closed as it should
  std::string origin;    // file that it was read from, for messages
  bool whole = true;     // no span of time was cut out

  std::string_view str(StringId id) const { return strings.Get(id); }
  // AllocationTick is a fixed stride: its figures are biased and have no interval.
  bool biased() const { return source == Source::kTick; }
  bool has_interval() const { return source == Source::kSampled; }
  bool has_interval(const Estimate& e) const { return has_interval() && !e.biased; }
  bool counted() const { return source == Source::kCounted; }
  // Counted by the agent, which the runtime called for every object (record --exact).
  bool by_callbacks() const;
  // The runtime told of every object, and all of that arrived.
  bool exact() const;
  // Whether the runtime tells but a part of some type's objects (Type::partial).
  bool any_partial() const {
    return std::any_of(types.begin(), types.end(), [](const Type& t) { return t.partial; });
  }
  // What the cells rest on, by the runtime's name.
  std::string_view event() const { return by_callbacks() ? "ObjectAllocated" : EventName(source); }
  // The most bytes that can be missing in counted figures that are not exact; no value: unknown.
  std::optional<double> MissingHigh() const;
  // The event that a process's cells rest on.
  Source SourceOf(uint32_t process) const {
    return processes[process].ticks ? Source::kTick : source;
  }
  Estimate Total() const {
    Estimate e;
    for (const Cell& c : cells) e += c.value;
    return e;
  }
};

}  // namespace clrscope::profile
