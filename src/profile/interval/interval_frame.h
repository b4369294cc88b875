// SPDX-License-Identifier: Apache-2.0
// What the agent hands out at the end of an interval: what is new in its dictionaries, what was
// allocated (a flow: sums of the interval), what lives (a state: replaces the one before), who was
// born and died, what the garbage collector cost, and what the agent itself cost and lost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/estimate/estimate.h"
#include "profile/overhead/overhead.h"
#include "profile/tables/series.h"

namespace clrscope::profile {

// Version 2 has events. Where none were asked for, a frame is written as version 1, which older
// readers take.
inline constexpr uint16_t kIntervalFrameVersion = 2;

// Ages of live objects are told in buckets: bucket i holds ages in [kAgeStarts[i], kAgeStarts[i+1])
// seconds, the last one is open. The bounds are those that people ask for, so that
// `--older-than 10m` cuts between two buckets.
inline constexpr std::array<uint32_t, 23> kAgeStarts = {
    0,    1,    2,    5,     10,    20,    30,    60,     120,    300,    600,    1200,
    1800, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600};

// When an object was first found alive by a GC of its generation ("born"), in buckets of the time
// since the agent's start: bucket i holds [kBirthStarts[i], kBirthStarts[i+1]) seconds. Fixed
// points in time, so that of any two moments among them it is known what of the live was born
// between them, and what of the dead was alive at the first: the two parts of a slope, of which no
// object is in both.
inline constexpr std::array<uint32_t, 36> kBirthStarts = {
    0,     5,     10,    15,    20,    30,     45,     60,     90,     120,    180,    240,
    300,   420,   600,   900,   1200,  1800,   2400,   3600,   5400,   7200,   10800,  14400,
    21600, 28800, 43200, 64800, 86400, 129600, 172800, 259200, 345600, 518400, 691200, 1036800};

// Index of the last start that is not above `ns`; 0 for negative times.
uint8_t AgeBucket(int64_t ns);
uint8_t BirthBucket(int64_t ns);

// Ids below are dense and count on over the frames of one agent and `dictionary`: the first entry
// of a frame's dictionary has the id of its `first_*`. Where `dictionary` changes, all ids mean
// something else from then on, and the frame holds all that is still known. Id 0 of types is the
// unknown type, node 0 the root; they are never sent.
struct IntervalMethod {
  std::string module;  // "System.Private.CoreLib", "libcoreclr.so"; "" when unknown
  std::string mvid;    // module version id as 32 hex digits, "" when unknown
  std::string method;  // C# name without parameters
  std::string raw;     // the runtime's name with parameters, as its events have it
  uint32_t token = 0;  // MethodDef token, 0 = none
  uint8_t flags = 0;   // profile::FrameFlag, kUnresolved and kPseudo only
};
struct IntervalType {
  uint64_t id = 0;   // the runtime's (a ClassID)
  std::string name;  // C# name with generic arguments
  std::string raw;   // the runtime's name
};
// An address of the process's code, where who records it is to know more of it than its method: the
// source line, or what native code it is. What lies there may change: it is told once more then.
struct IntervalPlace {
  uint64_t address = 0;  // where a call returns to
  int64_t seen_ns = 0;   // since the agent's start: when it was looked at, and was what it is
  bool operator==(const IntervalPlace&) const = default;
};
struct IntervalNode {
  uint32_t parent = 0;  // node id, below its own
  uint32_t method = 0;
  // 0 = not told, else the number of its IntervalPlace, which count up as the other ids do, from 1.
  // In a recording the index of the address in the process's tree of stacks + 1.
  uint32_t place = 0;
};

// Of windows of time, in which something was sampled in place of all along, as that would have
// taken more than was allowed. Rows of a window have its group: their values stand for as much more
// as the chance of a moment to be in one is small, and do not know yet how windows differ
// (analysis/families/live/agent_windows.h).
struct IntervalWindows {
  int64_t ns = 0;                        // in which there were windows, theirs included
  uint64_t count = 0;                    // of windows
  std::array<int64_t, kGroups> of_ns{};  // that those of a group stand for

  IntervalWindows& operator+=(const IntervalWindows& o) {
    ns += o.ns;
    count += o.count;
    for (size_t g = 0; g < kGroups; ++g) of_ns[g] += o.of_ns[g];
    return *this;
  }
  // What windows stand for, in all.
  double all_of_ns() const {
    double sum = 0;
    for (const int64_t of : of_ns) sum += static_cast<double>(of);
    return sum;
  }
  // The time that they are known to stand for. Of few not more than by the windows alone: most
  // intervals that are shorter than a period have none, and that of others is no part of theirs.
  double known_ns() const {
    constexpr uint64_t kFew = 8;
    return count < kFew ? all_of_ns() : static_cast<double>(ns);
  }
  // What is right of a weighted sum of all of them.
  double factor() const {
    const double all = all_of_ns();
    return all > 0 ? known_ns() / all : 1;
  }
};

// What was allocated in the interval. Distinct in (node, type, kind, window).
struct IntervalFlow {
  uint32_t node = 0;
  uint32_t type = 0;
  HeapKind kind = HeapKind::kSoh;
  Estimate value;
  uint8_t window = 0;  // the group of its windows, from 1; 0 = sampled all along
};

// What of a flow one thread allocated; all of a flow's add up to it. Of `value` there are samples,
// amount and count: PartOf() says what the rest of it is. Distinct in (node, type, kind, thread,
// window).
struct IntervalPart {
  uint32_t node = 0;
  uint32_t type = 0;
  HeapKind kind = HeapKind::kSoh;
  uint64_t thread = 0;  // the OS thread id
  Estimate value;
  uint8_t window = 0;  // of the flow
};
inline auto KeyOf(const IntervalPart& p) {
  return std::tie(p.node, p.type, p.kind, p.thread, p.window);
}
// A part with its error, as its share of the flow has it.
Estimate PartOf(const Estimate& flow, const Estimate& part);

// What lived at the end of the interval, i.e. what the last GC of its generation left. `young`
// objects were not in a generation that any GC condemned since they were allocated: nobody knows
// whether they live, and no default view counts them. Distinct in (node, type, kind, generation,
// age_bucket, young, request, window).
struct IntervalLive {
  uint32_t node = 0;
  uint32_t type = 0;
  HeapKind kind = HeapKind::kSoh;
  int8_t generation = -1;  // 0, 1, 2 (3 = LOH, 4 = POH), -1 = unknown
  bool young = false;
  uint8_t age_bucket = 0;    // index into kAgeStarts, of the time since the allocation
  uint8_t birth_bucket = 0;  // index into kBirthStarts
  uint32_t gcs_survived_min = 0, gcs_survived_max = 0;
  uint32_t gen2_survived_min = 0, gen2_survived_max = 0;
  Estimate value;
  uint32_t request = 0;  // see IntervalActivity; of young ones 0
  uint8_t window = 0;    // that it was allocated in, as in IntervalFlow
};

// Followed objects that were first found alive by a GC of their generation (births), and those of
// them that were found dead (deaths) in the interval: the parts that a slope is built from.
// Distinct in (node, type, birth_bucket, request, window).
struct IntervalTurnover {
  uint32_t node = 0;
  uint32_t type = 0;
  uint8_t birth_bucket = 0;  // index into kBirthStarts, of those that were born or died
  Estimate births, deaths;
  double deaths_age_s = 0;  // sum over the dead, weighted like deaths.objects
  uint32_t request = 0;     // see IntervalActivity
  uint8_t window = 0;       // as in IntervalLive
};
inline auto KeyOf(const IntervalTurnover& t) {
  return std::tie(t.node, t.type, t.birth_bucket, t.request, t.window);
}

// The activity that objects were allocated in, and about when: what `request` of a row names, in
// the agent's own frames. Numbers count up from 1 and are not used again; each is told in the first
// frame whose objects have it, also while they are young. In a recording `request` is the index of
// the route among the process's + 1. Always: 0 = no activity, or none that is a request.
struct IntervalActivity {
  uint32_t number = 0;
  int64_t first_ns = 0;            // since the agent's start: of the first of its objects
  std::array<std::byte, 16> id{};  // as the runtime's events have it
};

// Exceptions and waits of the interval (sources for which IsEvent() holds), as exact sums. A wait
// counts where it ends; one that goes on when the agent stops is `unfinished`, up to then. Distinct
// in (source, node, type, thread, owner, unfinished).
struct IntervalEvent {
  Source source = Source::kException;
  uint32_t node = 0;
  uint32_t type = 0;
  uint64_t thread = 0;  // the OS thread id
  uint64_t owner = 0;   // that of who held the lock; 0 = unknown
  bool unfinished = false;
  Sums sums;
};
inline auto KeyOf(const IntervalEvent& e) {
  return std::tie(e.source, e.node, e.type, e.thread, e.owner, e.unfinished);
}

struct IntervalGc {
  uint32_t number = 0;
  int8_t generation = -1, type = -1, reason = -1;  // of GCStart; -1 = unknown
  int64_t start_ns = -1, end_ns = -1;              // since the agent's start
  int64_t pause_ns = -1;                           // SuspendEE to RestartEE
  std::array<int64_t, 5> size_after = {-1, -1, -1, -1, -1};
};

// CPU time since the last frame, ns; -1 = unknown.
struct IntervalCpu {
  int64_t process_ns = -1;
  int64_t server_gc_ns = -1;       // threads named ".NET Server GC"
  int64_t background_gc_ns = -1;   // threads named ".NET BGC"
  int64_t workstation_gc_ns = -1;  // GCs that ran on the program's own threads
};

// What the agent cost and how far it got.
struct IntervalMeter {
  uint64_t samples = 0;                         // delivered in the interval
  uint64_t sample_ns = 0;                       // spent on them: walk and fold
  uint64_t walk_fallbacks = 0;                  // stacks that DoStackSnapshot had to walk
  uint64_t agent_cpu_ns = 0;                    // of its own threads
  uint64_t agent_bytes = 0;                     // memory that it holds
  uint64_t handles = 0;                         // followed objects now
  uint64_t handle_scan_ns = 0;                  // reading the handles after GCs
  double live_mean_bytes = kSamplingMeanBytes;  // R of the thinning
};

struct IntervalFrame {
  uint64_t sequence = 0;             // counts up from 0; a gap is a loss
  int64_t start_unix_ns = 0;         // wall clock at the agent's start
  int64_t start_ns = 0, end_ns = 0;  // the interval, since the agent's start
  uint32_t pid = 0;
  std::string runtime;  // ".NET 10.0.14"
  Source source = Source::kSampled;
  bool live = false;  // objects are followed
  bool last = false;  // the agent lets go after it

  uint32_t dictionary = 0;
  uint32_t first_method = 0, first_type = 1, first_node = 1;
  uint32_t first_place = 1;  // 0: nodes tell places as recordings do
  std::vector<IntervalPlace> places;
  std::vector<IntervalMethod> methods;
  std::vector<IntervalType> types;
  std::vector<IntervalNode> nodes;  // leaf = node; method 0 is valid

  std::vector<IntervalFlow> flows;
  std::vector<IntervalPart> parts;  // of the flows; none where threads are not known
  std::vector<IntervalLive> lives;
  std::vector<IntervalTurnover> turnover;
  bool requests = false;                     // rows tell their requests
  std::vector<IntervalActivity> activities;  // new ones, or all once more
  std::vector<uint32_t> ended_activities;    // numbers that no later frame names
  std::vector<IntervalGc> gcs;
  uint32_t measures = 0;  // a bit for each Measure that was asked for; 0 = unknown
  std::vector<IntervalEvent> events;
  IntervalCpu cpu;
  IntervalMeter meter;
  // Under a limit of what it may take: in this interval, and the windows of allocations in it and
  // since the agent's start.
  Overhead overhead;
  IntervalWindows windows, all_windows;
  std::vector<std::pair<std::string, uint64_t>> losses;  // by name, in the interval
  std::string trouble;           // what fails now, one sentence; "" = nothing
  int64_t trouble_since_ns = 0;  // since the agent's start
};

}  // namespace clrscope::profile
