// SPDX-License-Identifier: Apache-2.0
// The finished model that reports and exporters read: canonical frames, one stack tree for all
// processes, types, and one cell per (stack, type, heap kind, process).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/loss.h"
#include "base/string_pool.h"
#include "profile/estimate/counting.h"
#include "profile/estimate/cpu_sampler.h"
#include "profile/estimate/estimate.h"
#include "profile/gc/gc_records.h"
#include "profile/memory_reading.h"
#include "profile/overhead/overhead.h"
#include "profile/requests.h"
#include "profile/tables/labels.h"
#include "profile/tables/places.h"

namespace clrscope::profile {

enum FrameFlag : uint8_t {
  kFramework = 1,   // its module belongs to the framework (see FrameworkRule)
  kMachinery = 2,   // async or thread-pool plumbing, folded away unless asked for
  kUnresolved = 4,  // an address without a method
  kPseudo = 8,      // [truncated], [no stack], (other): not code
};

// Whose code a frame is.
enum class FrameKind : uint8_t { kManaged, kRuntime, kNative, kKernel, kGc };
inline constexpr size_t kFrameKinds = 5;
constexpr std::string_view FrameKindName(FrameKind kind) {
  constexpr std::string_view kNames[] = {"managed", "runtime", "native", "kernel", "gc"};
  return kNames[static_cast<size_t>(kind)];
}

// A method as people see it. Two addresses of one method are one frame.
struct Frame {
  StringId module;     // "System.Private.CoreLib"; "" when unknown
  StringId method;     // C# name without parameters: "System.Collections.Generic.List<T>.Add"
  StringId raw;        // the runtime's name with parameters, as TraceEvent prints it
  uint32_t token = 0;  // MethodDef token; 0 = none
  uint8_t flags = 0;
  FrameKind kind = FrameKind::kManaged;
  // Native code of a file whose functions are not told apart.
  bool IsWholeFile() const {
    return kind != FrameKind::kManaged && module.value != 0 && module == method;
  }
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
  StringId mvid;  // PDB or module GUID as hex, of native code the build id; "" when unknown
  bool framework = false;
};

// Where in its method a frame of a stack is.
struct SourceLine {
  uint32_t file = 0;  // index into source_files
  uint32_t line = 0;  // from 1
  Place::Sure sure = Place::Sure::kExact;
  // Whether it may be another one, of this measure.
  bool approximate(Measure measure) const {
    return sure == Place::Sure::kApproximate ||
           (sure == Place::Sure::kAfterThrow && measure != Measure::kExceptions);
  }
};

struct Node {
  uint32_t parent = 0;  // node 0 is the root, its own parent
  uint32_t frame = 0;   // index into frames; meaningless for node 0
  uint32_t line = 0;    // index into lines, where lines were asked for; 0: not known
};

// What one stack allocated of one type on one heap.
struct Cell {
  uint32_t node = 0;  // leaf of the stack
  uint32_t type = 0;
  uint32_t process = 0;
  HeapKind kind = HeapKind::kSoh;
  Estimate value;
  uint32_t labels = 0;  // into Profile::labels; of events, and where Figure::cells_by_thread
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
  uint32_t labels = 0;  // into Profile::labels; where Figure::cells_by_request
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
  bool threads_told = true;                     // … with their threads
  bool followed = false;                        // the agent followed live objects
  bool live_by_request = false;                 // … and told the requests that allocated them
  int64_t live_at_ns = 0;                       // when they were looked at last
  double live_mean_bytes = kSamplingMeanBytes;  // R of their sample then
  Source live_source = Source::kSampled;        // the event that it rests on
  GcFacts gc;
  uint32_t measures = 0;                   // a bit for each Measure that was asked for; 0 = unknown
  CpuSampler sampler = CpuSampler::kNone;  // of CPU time
  uint32_t sampler_hz = 0;                 // samples of a second of CPU time that were asked for
  bool modes_told = true;                  // the runtime's sampler told which threads ran
  Overhead overhead;                       // what the recording took it
  std::vector<MemoryReading> memory;       // by time; a writer takes them out

  bool Recorded(Measure m) const { return (measures >> static_cast<uint32_t>(m) & 1) != 0; }
  void Record(Measure m) { measures |= 1u << static_cast<uint32_t>(m); }
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

// What of one cell came in one span of time.
struct TimedCell {
  uint32_t cell = 0;
  int64_t start_ns = 0, end_ns = 0;
  Estimate value;
};

// Of fewer windows nothing is said but what was seen and what was counted.
inline constexpr uint64_t kFewWindows = 8;

// What was not recorded event by event, but in windows of time: a storm of exceptions, allocations.
struct Storms {
  double counted = 0;   // how many there were: by a counter of the runtime, else by the windows
  double told = 0;      // what counters said that are not used
  double weighted = 0;  // how many there were, by the windows alone
  double recorded = 0;  // of these those that windows recorded
  double edge = 0;      // by how much `counted` may be off, a standard error
  uint64_t windows = 0;
  int64_t windows_ns = 0;
  int64_t counted_ns = 0, uncounted_ns = 0;  // of which a counter told, and of which none did
  int64_t from_ns = 0, to_ns = 0;            // of the first and the last window or value
  // `counted` is a counter's, of some process; the windows', of some process.
  bool by_counter = false, by_windows = false;
  bool contradicted = false;  // a counter is not used because it cannot be right
  bool less = false;  // the counter says significantly more than the windows, of some process
  bool open = false;  // of some process, time passed of which nothing is known

  bool any() const { return counted > 0 || windows != 0 || uncounted_ns > 0; }
  double in_all() const { return counted > 0 ? counted : weighted; }
  // What nobody saw, at most, with a chance of 95 %.
  double unseen() const {
    if (by_windows || open) return kAnyNumber;
    return (in_all() > recorded ? in_all() - recorded : 0) + kNormalQuantile * edge;
  }
};

// One measure of a recording: what was counted, by stack and type, by thread and by time.
struct Figure {
  Measure measure = Measure::kAllocations;
  Source source = Source::kSampled;  // the event that the cells rest on
  // Except for these processes, which know no AllocationSampled: theirs rest on AllocationTick.
  bool mixed = false;
  std::vector<Source> also;  // other sources of the measure that the recording holds too
  bool counts_known = true;  // false for AllocationTick before payload V4
  std::vector<Cell> cells;   // by `source`, distinct in (node, type, process, kind, labels)
  std::vector<ThreadRow> threads;
  std::vector<TimeRow> times;
  // Where they are kept (by_time()): by it `times` follow every filter, as `threads` do by the
  // cells' labels (by_thread()). Of events always; of allocations on demand.
  std::vector<TimedCell> timed;
  bool cells_by_thread = false, cells_by_time = false, cells_by_request = false;
  // Some of its cells rest on windows of time in which requests were followed (Requests::windows).
  bool by_windows = false;
  bool handling_told = true;  // of exceptions, whether they are inner or nested; the agent does not
  // Of what lives: what the cells add up, with ages and generations, and the young, which are in no
  // cell; and what lived at each moment, by process, then by time.
  std::vector<LiveCell> lives;
  std::vector<LiveAgeRow> live_ages;
  // Of the GC's CPU time: by process, then by time. Its cells have neither stack nor type.
  std::vector<GcCpuRow> gc_cpu;
  Storms storms;
  // Of allocations, the same in bytes: those that were recorded in windows of time, as everything
  // would have taken more than was allowed.
  Storms windows;
  // Where clocked(): of all that has samples in the recording, whatever of it is here. CPU time by
  // the runtime's sampler is a part of wall time: of that.
  double clock_samples = 0, clock_amount = 0;
  // Of wall time: what a filter left out because the threads had nothing to do.
  Estimate idle_hidden;

  const MeasureSpec& spec() const { return SpecOf(measure); }
  // AllocationTick is a fixed stride: its figures are biased and have no interval.
  bool biased() const { return SpecOf(source).error == ErrorKind::kBiased; }
  bool has_interval() const { return SpecOf(source).error == ErrorKind::kPoisson; }
  bool counted() const { return source == Source::kCounted; }
  bool by_thread() const { return cells_by_thread || IsEvent(source); }
  bool by_time() const { return cells_by_time || IsEvent(source); }
  // Its cells' labels tell the request's route and duration, but of storms: the route alone.
  bool by_request() const { return cells_by_request || (IsEvent(source) && !clocked()); }
  // Things of which there may have been events, and nobody recorded them.
  double unseen() const { return storms.any() ? storms.unseen() : kAnyNumber; }
  // Every event is one thing, and none was left out on purpose.
  bool events() const {
    return (SpecOf(source).error == ErrorKind::kExact && !counted()) || clocked();
  }
  // … or a sample of some time.
  bool clocked() const { return SpecOf(source).error == ErrorKind::kClock; }
  Estimate Total() const {
    Estimate e;
    for (const Cell& c : cells) e += c.value;
    return e;
  }
};

// Of the exceptions that are shown: those with an inner one, and those that were thrown while
// another one was handled; without what was thrown again.
struct Handling {
  double inner = 0, nested = 0;
  bool told = true;  // otherwise nobody knows of some
};
struct Profile;
Handling HandlingOf(const Profile& profile);
// Whether any exception has its message.
bool KnowsMessages(const Profile& profile);

// Makes a figure's `threads` and `times` anew, from its cells and what came when: where these know.
void SumUpCells(Figure& figure, const std::vector<LabelSet>& labels);

struct Profile {
  StringPool strings;
  std::vector<Frame> frames;
  std::vector<Type> types;
  std::vector<Module> modules;
  std::vector<Node> nodes;                  // a parent comes before its children
  std::vector<SourceFile> source_files{1};  // 0 is none
  std::vector<SourceLine> lines{1};         // distinct; 0 is none
  std::vector<Figure> figures{1};           // one per measure; never empty
  std::vector<Process> processes;
  GcRecords gcs;  // by process, then by time
  LossCounters losses;

  Requests requests;
  std::map<std::pair<uint32_t, uint64_t>, StringId> thread_names;  // by process and thread
  std::vector<LabelSet> labels{1};                                 // distinct; 0 is empty
  // The figure that tables and files of one measure show.
  size_t shown_index = 0;
  int64_t start_unix_ns = 0;  // wall clock at the recording's start
  int64_t duration_ns = 0;
  bool complete = true;  // the recording was closed as it should
  std::string origin;    // file that it was read from, for messages
  bool whole = true;     // no span of time was cut out

  // "" where the system was not asked.
  std::string_view ThreadName(uint32_t process, uint64_t thread) const {
    const auto it = thread_names.find({process, thread});
    return it == thread_names.end() ? std::string_view() : str(it->second);
  }

  // The route of the request that it belongs to; kNoRequest where there is none.
  std::string_view RequestName(const LabelSet& set) const {
    const uint64_t route = set[LabelKey::kRequest];
    return route == 0 ? kNoRequest : str(StringId(static_cast<uint32_t>(route)));
  }

  // The method that the owner of a lock was in; "" where nothing told.
  std::string_view HoldingName(const LabelSet& set) const {
    const uint64_t frame = set[LabelKey::kHolding];
    return frame == 0 ? std::string_view() : str(frames[frame - 1].method);
  }

  std::string_view str(StringId id) const { return strings.Get(id); }
  Figure& shown() { return figures[shown_index]; }
  const Figure& shown() const { return figures[shown_index]; }
  Measure measure() const { return shown().measure; }
  // Null: the recording holds no such measure.
  const Figure* Find(Measure measure) const {
    const auto it = std::find_if(figures.begin(), figures.end(),
                                 [measure](const Figure& f) { return f.measure == measure; });
    return it == figures.end() ? nullptr : &*it;
  }
  // The figure of a measure, which is added where there is none: references to others end.
  Figure& At(Measure measure);
  // Empty: nobody followed, or measured, that.
  const std::vector<LiveCell>& lives() const { return RowsOf(Measure::kLive, &Figure::lives); }
  const std::vector<LiveAgeRow>& live_ages() const {
    return RowsOf(Measure::kLive, &Figure::live_ages);
  }
  const std::vector<GcCpuRow>& gc_cpu() const { return RowsOf(Measure::kGcCpu, &Figure::gc_cpu); }

  bool biased() const { return shown().biased(); }
  bool has_interval() const { return shown().has_interval(); }
  bool has_interval(const Estimate& e) const { return has_interval() && !e.biased; }
  bool counted() const { return shown().counted(); }
  // Counted by the agent, which the runtime called for every object (record --exact).
  bool by_callbacks() const;
  // The runtime told of every object, and all of that arrived.
  bool exact() const;
  // Whether the runtime tells but a part of some type's objects (Type::partial).
  bool any_partial() const {
    return std::any_of(types.begin(), types.end(), [](const Type& t) { return t.partial; });
  }
  // What the cells rest on, by the runtime's name.
  std::string_view event() const { return EventName(shown().source, by_callbacks()); }
  // What a process's cells rest on.
  std::string_view EventOf(uint32_t process) const {
    return EventName(SourceOf(process), by_callbacks());
  }
  // The most bytes that can be missing in counted figures that are not exact; no value: unknown.
  std::optional<double> MissingHigh() const;
  // The event that a process's cells rest on.
  Source SourceOf(uint32_t process) const {
    const bool ticks = measure() == Measure::kLive
                           ? shown().mixed && processes[process].live_source == Source::kTick
                           : measure() == Measure::kAllocations && processes[process].ticks;
    return ticks ? Source::kTick : shown().source;
  }
  Estimate Total() const { return shown().Total(); }

 private:
  template <class Row>
  const std::vector<Row>& RowsOf(Measure measure, std::vector<Row> Figure::*rows) const {
    static const std::vector<Row> kNone;
    const Figure* figure = Find(measure);
    return figure == nullptr ? kNone : figure->*rows;
  }
};

}  // namespace clrscope::profile
