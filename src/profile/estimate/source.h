// SPDX-License-Identifier: Apache-2.0
// What is measured, and by which events: two tables that everything else reads. A measure is a
// question ("who throws"): its two quantities, what they are called, whether it has types, heaps
// and spans of time. A source is an event that answers it: how sums of its events become figures,
// and how far these may be off. Names of JSON members, columns, sample types and headings come from
// here; the sums themselves stay three plain numbers (profile/tables/series.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace clrscope::profile {

// The values are stored in captures.
enum class Source : uint8_t {
  kForeign = 0,  // another tool's pprof: figures as they are told, nothing is known of their error
  kTick = 1,     // AllocationTick: one event per ~100 KB of a heap kind; biased, no interval
  kSampled = 2,  // AllocationSampled (.NET 10): each byte is hit with probability 1/102400
  kCounted = 3,  // GCSampledObjectAllocation: counts since the type's last event; a lower bound
  kException = 4,   // Exception: every throw
  kContention = 5,  // ContentionStart and -Stop: every wait for a lock that is held
  kWait = 6,        // WaitHandleWaitStart and -Stop (.NET 9): every wait that blocks
  kRequest = 7,     // RequestStart and -Stop of Microsoft.AspNetCore.Hosting
  kCpuClock = 8,    // the kernel's: a thread ran, once in so much of its CPU time
  kWallClock = 9,   // where threads were, running or not, and for how long
  // The runtime's sample profiler: managed threads, stopped about once a millisecond.
  kThreadCpu = 10,   // … that were in managed code
  kThreadWall = 11,  // … all of them
  // Of a whole machine (Universal.Events): the kernel's, as another recorder wrote them down.
  kUniversalCpu = 12,     // samples of what runs
  kUniversalSwitch = 13,  // how long a thread had not run when it did again
};
inline constexpr size_t kSources = 14;

// What a person asks for: `--measure`.
enum class Measure : uint8_t {
  kAllocations,
  kLive,
  kGcCpu,
  kExceptions,
  kLocks,
  kWaits,
  kRequests,
  kCpu,
  kWall
};
inline constexpr size_t kMeasures = 9;

enum class Unit : uint8_t { kNumber, kBytes, kNanoseconds };

// A number that adds up.
struct Quantity {
  std::string_view name;     // of JSON, SQL, options and conditions: "bytes"
  std::string_view heading;  // of tables: "Bytes"
  Unit unit = Unit::kNumber;
  std::string_view pprof;  // sample type: "alloc_space"
};

struct MeasureSpec {
  Measure id;
  std::string_view name;   // --measure, and JSON's "measure"
  std::string_view shows;  // the word for it in JSON's "shows" and on pages
  std::string_view title;  // of pages and files: "allocations"
  // Words: "what is allocated", the heading of the method, "the allocating method".
  std::string_view done, place, doing;
  Quantity count, amount;
  bool typed = true;         // its cells have a type
  bool heaps = false;        // … and a heap
  bool state = false;        // it is of a moment; others are sums over time
  bool amount_first = true;  // what tables are sorted by
  std::string_view none;     // why a recording may have none, and what to do
};

inline constexpr std::array<MeasureSpec, kMeasures> kMeasureSpecs = {{
    {Measure::kAllocations,
     "allocations",
     "allocated",
     "allocations",
     "is allocated",
     "Allocated in",
     "allocating",
     {"objects", "Objects", Unit::kNumber, "alloc_objects"},
     {"bytes", "Bytes", Unit::kBytes, "alloc_space"},
     true,
     true,
     false,
     true,
     "it was recorded without allocations (--only)"},
    {Measure::kLive,
     "live",
     "live",
     "live objects",
     "lives",
     "Allocated in",
     "allocating",
     {"objects", "Objects", Unit::kNumber, "inuse_objects"},
     {"bytes", "Bytes", Unit::kBytes, "inuse_space"},
     true,
     true,
     true,
     true,
     "`clrscope record --live` follows them"},
    {Measure::kGcCpu,
     "gc-cpu",
     "gc-cpu",
     "the garbage collector's CPU time",
     "collects",
     "In",
     "collecting",
     {"intervals", "Intervals", Unit::kNumber, ""},
     {"gc_cpu_ns", "CPU", Unit::kNanoseconds, "cpu"},
     false,
     false,
     false,
     true,
     "the agent measures it, `clrscope record --live` loads it"},
    {Measure::kExceptions,
     "exceptions",
     "exceptions",
     "exceptions",
     "is thrown",
     "Thrown in",
     "throwing",
     {"count", "Thrown", Unit::kNumber, "exceptions"},
     {"rethrows", "Rethrown", Unit::kNumber, "rethrows"},
     true,
     false,
     false,
     false,
     "record with --exceptions"},
    {Measure::kLocks,
     "locks",
     "locks",
     "waits for locks",
     "waits for a lock",
     "Waited in",
     "waiting",
     {"count", "Waits", Unit::kNumber, "contentions"},
     {"wait_ns", "Waited", Unit::kNanoseconds, "delay"},
     false,
     false,
     false,
     true,
     "record with --locks"},
    {Measure::kWaits,
     "waits",
     "waits",
     "waits",
     "waits",
     "Waited in",
     "waiting",
     {"count", "Waits", Unit::kNumber, "waits"},
     {"wait_ns", "Waited", Unit::kNanoseconds, "wait"},
     false,
     false,
     false,
     true,
     "record with --waits (.NET 9 and later)"},
    {Measure::kRequests,
     "requests",
     "requests",
     "requests",
     "is served",
     "Served in",
     "serving",
     {"requests", "Requests", Unit::kNumber, "requests"},
     {"duration_ns", "Time", Unit::kNanoseconds, "request_time"},
     false,
     false,
     false,
     true,
     "record with --requests (ASP.NET Core)"},
    {Measure::kCpu,
     "cpu",
     "cpu",
     "CPU time",
     "runs",
     "Runs in",
     "running",
     {"samples", "Samples", Unit::kNumber, "samples"},
     {"cpu_ns", "CPU", Unit::kNanoseconds, "cpu"},
     false,
     false,
     false,
     true,
     "record with --cpu"},
    {Measure::kWall,
     "wall",
     "wall",
     "wall time",
     "is spent",
     "Spent in",
     "spending",
     {"samples", "Samples", Unit::kNumber, "wall_samples"},
     {"wall_ns", "Wall", Unit::kNanoseconds, "wall"},
     false,
     false,
     false,
     true,
     "record with --wall"},
}};

// How sums of events become figures.
enum class ErrorKind : uint8_t {
  kTold,     // as somebody else told them
  kExact,    // each event is one thing, or says how many
  kPoisson,  // each byte is hit by chance: intervals
  kBiased,   // a fixed stride: no interval
  kClock,    // time of threads, by samples: intervals by how many they are
};

struct SourceSpec {
  Source id;
  Measure measure;
  std::string_view event;  // the runtime's name, in JSON and SQL too
  std::string_view word;   // in options (--event sampled) and in the data of pages
  ErrorKind error;
};

inline constexpr std::array<SourceSpec, kSources> kSourceSpecs = {{
    {Source::kForeign, Measure::kAllocations, "pprof", "pprof", ErrorKind::kTold},
    {Source::kTick, Measure::kAllocations, "AllocationTick", "tick", ErrorKind::kBiased},
    {Source::kSampled, Measure::kAllocations, "AllocationSampled", "sampled", ErrorKind::kPoisson},
    {Source::kCounted, Measure::kAllocations, "GCSampledObjectAllocation", "counted",
     ErrorKind::kExact},
    {Source::kException, Measure::kExceptions, "Exception", "exception", ErrorKind::kExact},
    {Source::kContention, Measure::kLocks, "Contention", "contention", ErrorKind::kExact},
    {Source::kWait, Measure::kWaits, "WaitHandleWait", "wait", ErrorKind::kExact},
    {Source::kRequest, Measure::kRequests, "Request", "request", ErrorKind::kExact},
    {Source::kCpuClock, Measure::kCpu, "cpu-clock", "cpu-clock", ErrorKind::kClock},
    {Source::kWallClock, Measure::kWall, "wall-clock", "wall-clock", ErrorKind::kClock},
    {Source::kThreadCpu, Measure::kCpu, "ThreadSample", "thread-sample", ErrorKind::kClock},
    {Source::kThreadWall, Measure::kWall, "ThreadSample", "thread-sample", ErrorKind::kClock},
    {Source::kUniversalCpu, Measure::kCpu, "cpu", "universal-cpu", ErrorKind::kClock},
    {Source::kUniversalSwitch, Measure::kWall, "cswitch", "universal-switch", ErrorKind::kClock},
}};

constexpr const MeasureSpec& SpecOf(Measure m) { return kMeasureSpecs[static_cast<size_t>(m)]; }
constexpr const SourceSpec& SpecOf(Source s) { return kSourceSpecs[static_cast<size_t>(s)]; }
// Each event is one thing that happened on a thread at a time, and is kept with both.
constexpr bool IsEvent(Source s) { return s >= Source::kException; }
// Its samples are kept by thread beside stack and type. Counts come by the million: of these there
// are sums by thread alone.
constexpr bool KeepsThreads(Source s) { return s == Source::kTick || s == Source::kSampled; }
// Others are of whole processes or requests.
constexpr bool HasStacks(Measure m) { return m != Measure::kGcCpu && m != Measure::kRequests; }
// The one that a measure is told by where nothing else is known: the first.
constexpr Source MainSourceOf(Measure m) {
  for (const SourceSpec& s : kSourceSpecs)
    if (s.measure == m) return s.id;
  return Source::kForeign;
}
constexpr bool IsClock(Source s) { return SpecOf(s).error == ErrorKind::kClock; }
// Of such a one: its samples are of a whole that is known, as what threads used or how long they
// were there. The samples of `collect-linux` are as many as came, each of a period.
constexpr bool WholeIsKnown(Source s) {
  return s != Source::kUniversalCpu && s != Source::kUniversalSwitch;
}
constexpr Measure MeasureOf(Source s) { return SpecOf(s).measure; }

// The runtime's name of the event, in JSON and SQL too. by_callbacks: counted by the agent, which
// the runtime called for every object.
constexpr std::string_view EventName(Source source, bool by_callbacks = false) {
  return source == Source::kCounted && by_callbacks ? "ObjectAllocated" : SpecOf(source).event;
}
// The word for it in options (`--event sampled`) and in the data of pages.
constexpr std::string_view SourceWord(Source source) { return SpecOf(source).word; }

}  // namespace clrscope::profile
