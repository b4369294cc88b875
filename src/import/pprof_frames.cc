// SPDX-License-Identifier: Apache-2.0
#include "import/pprof_frames.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "pprof/words.h"
#include "profile/profile.h"

namespace clrscope::import {
namespace {

using profile::Estimate;
using profile::HeapKind;
using profile::IntervalFrame;

// Node ids are deep chains: no stack of any tool is deeper.
constexpr size_t kMostFrames = 4'096;

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "inuse_space" (Go, clrscope), "heap-live-size" (Datadog), "live_bytes"; Go's old "space".
bool IsLive(std::string_view type) {
  return Has(type, "inuse") || Has(type, "live") || Has(type, "retained") || type == "space" ||
         type == "objects";
}
bool IsAllocation(std::string_view type) { return Has(type, "alloc"); }

std::string_view BaseName(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view extension : {".dll", ".exe"})
    if (name.ends_with(extension)) name.remove_suffix(extension.size());
  return name;
}

const PprofLabel* LabelOf(const PprofSample& s, std::string_view key) {
  for (const PprofLabel& l : s.labels)
    if (l.key == key) return &l;
  return nullptr;
}

double Value(const PprofSample& s, int column) {
  if (column < 0) return 0;
  return static_cast<double>(std::max<int64_t>(0, s.values[static_cast<size_t>(column)]));
}

Estimate Told(double bytes, double objects) {
  Estimate e;
  e.samples = 1;
  e.biased = true;  // no interval
  e.amount = e.seen_amount = bytes;
  e.count = e.seen_count = objects;
  return e;
}

HeapKind KindOf(const PprofSample& s) {
  const PprofLabel* heap = LabelOf(s, pprof::kHeapKey);
  if (heap == nullptr) return HeapKind::kUnknown;
  for (const HeapKind kind : {HeapKind::kSoh, HeapKind::kLoh, HeapKind::kPoh})
    if (profile::KindName(kind) == heap->text) return kind;
  return HeapKind::kUnknown;
}

// Ours, as words or as the agent's old numbers; "gen2" and plain numbers of other tools.
int8_t GenerationOf(const PprofSample& s) {
  const PprofLabel* generation = LabelOf(s, pprof::kGenerationKey);
  if (generation == nullptr) return -1;
  const std::string_view text = generation->text;
  if (text.empty())
    return generation->number >= 0 && generation->number <= 4
               ? static_cast<int8_t>(generation->number)
               : int8_t{-1};
  const auto name = std::find(pprof::kGenerations.begin(), pprof::kGenerations.end(), text);
  if (name != pprof::kGenerations.end())
    return static_cast<int8_t>(name - pprof::kGenerations.begin());
  if (const int8_t old = pprof::OldGeneration(text); old >= 0) return old;
  const char last = text.back();
  return last >= '0' && last <= '2' ? static_cast<int8_t>(last - '0') : int8_t{-1};
}

// Seconds; 0 when it is not told.
int64_t AgeOf(const PprofSample& s) {
  const PprofLabel* age = LabelOf(s, pprof::kAgeKey);
  if (age == nullptr) return 0;
  const int64_t seconds = age->text.empty() ? age->number : pprof::OldAgeSeconds(age->text);
  return std::clamp<int64_t>(seconds, 0, int64_t{1} << 32);
}

uint64_t Whole(const PprofSample& s, int column) {
  // Sums of hostile files can be added up as well.
  constexpr int64_t kMost = int64_t{1} << 48;
  return static_cast<uint64_t>(
      std::clamp<int64_t>(s.values[static_cast<size_t>(column)], 0, kMost));
}

bool HasEvents(const PprofSample& s, const EventColumns& columns) {
  return std::any_of(columns.pairs.begin(), columns.pairs.end(), [&](const auto& pair) {
    return pair.count >= 0 && (Whole(s, pair.count) != 0 || Whole(s, pair.amount) != 0);
  });
}

// What was asked for, of files that tell events; else it is not known.
uint32_t MeasuresOf(const MemoryColumns& memory, const EventColumns& events) {
  if (!events.any()) return 0;
  uint32_t bits = 0;
  const auto add = [&](profile::Measure m) { bits |= 1u << static_cast<uint32_t>(m); };
  if (memory.alloc_bytes >= 0) add(profile::Measure::kAllocations);
  if (memory.live_bytes >= 0) add(profile::Measure::kLive);
  for (const profile::MeasureSpec& m : profile::kMeasureSpecs)
    if (events.pairs[static_cast<size_t>(m.id)].count >= 0) add(m.id);
  return bits;
}

using EventSums =
    std::map<std::tuple<profile::Source, uint32_t, uint32_t, uint64_t, uint64_t, bool>,
             profile::Sums>;  // by KeyOf(IntervalEvent)

void AddEvents(const PprofSample& s, const EventColumns& columns, uint32_t node, uint32_t type,
               EventSums& out) {
  for (const profile::SourceSpec& source : profile::kSourceSpecs) {
    if (source.id != profile::MainSourceOf(source.measure)) continue;
    const auto& pair = columns.pairs[static_cast<size_t>(source.measure)];
    if (!profile::IsEvent(source.id) || pair.count < 0) continue;
    const uint64_t count = Whole(s, pair.count), amount = Whole(s, pair.amount);
    if (count == 0 && amount == 0) continue;
    const auto number = [&](std::string_view key) {
      const PprofLabel* l = LabelOf(s, key);
      return l == nullptr ? 0 : static_cast<uint64_t>(std::max<int64_t>(l->number, 0));
    };
    const PprofLabel* unfinished = LabelOf(s, pprof::kUnfinishedKey);
    // Of exceptions both values are things that happened.
    const uint64_t events = source.measure == profile::Measure::kExceptions
                                ? count + amount
                                : std::max<uint64_t>(count, 1);
    out[{source.id, node, SpecOf(source.measure).typed ? type : 0, number(pprof::kThreadKey),
         number(pprof::kOwnerKey), unfinished != nullptr && unfinished->text == pprof::kYes}] +=
        {events, amount, count};
  }
}

}  // namespace

MemoryColumns FindMemory(const PprofProfile& p) {
  MemoryColumns c;
  for (size_t i = 0; i < p.sample_types.size(); ++i) {
    const auto& [type, unit] = p.sample_types[i];
    const auto at = static_cast<int>(i);
    const bool live = IsLive(type), alloc = IsAllocation(type) && !live;
    if (!live && !alloc) continue;
    int& column = unit == "bytes" ? (live ? c.live_bytes : c.alloc_bytes)
                                  : (live ? c.live_objects : c.alloc_objects);
    if (unit != "bytes" && unit != "count" && unit != "objects") continue;
    if (column < 0) column = at;
  }
  return c;
}

EventColumns FindEvents(const PprofProfile& p) {
  EventColumns columns;
  for (const profile::SourceSpec& source : profile::kSourceSpecs) {
    if (source.id != profile::MainSourceOf(source.measure)) continue;
    if (!profile::IsEvent(source.id)) continue;
    const profile::MeasureSpec& spec = SpecOf(source.measure);
    EventColumns::Pair& pair = columns.pairs[static_cast<size_t>(source.measure)];
    for (size_t i = 0; i < p.sample_types.size(); ++i) {
      if (p.sample_types[i].type == spec.count.pprof) pair.count = static_cast<int>(i);
      if (p.sample_types[i].type == spec.amount.pprof) pair.amount = static_cast<int>(i);
    }
    if (pair.amount < 0) pair.count = -1;
  }
  return columns;
}

uint32_t PprofFrames::Method(profile::IntervalMethod&& m, IntervalFrame& f) {
  const auto id = static_cast<uint32_t>(methods_.size());
  const auto [at, is_new] = methods_.try_emplace({m.module, m.raw.empty() ? m.method : m.raw}, id);
  if (is_new) f.methods.push_back(std::move(m));
  return at->second;
}

uint32_t PprofFrames::Type(std::string_view name, std::string_view raw, IntervalFrame& f) {
  const auto id = static_cast<uint32_t>(types_.size()) + 1;
  const auto [at, is_new] = types_.try_emplace(std::string(raw), id);
  if (is_new) f.types.push_back({0, std::string(name), std::string(raw)});
  return at->second;
}

uint32_t PprofFrames::Node(uint32_t parent, uint32_t method, IntervalFrame& f) {
  const auto id = static_cast<uint32_t>(nodes_.size()) + 1;
  const auto [at, is_new] = nodes_.try_emplace({parent, method}, id);
  if (is_new) f.nodes.push_back({parent, method});
  return at->second;
}

void PprofFrames::SetTimes(const PprofProfile& p, IntervalFrame& f) {
  // Times that make no sense are those of the order.
  constexpr int64_t kFarAway = int64_t{1} << 61;
  const bool timed =
      p.time_ns > 0 && p.time_ns < kFarAway && p.duration_ns >= 0 && p.duration_ns < kFarAway / 4;
  if (f.sequence == 0) {
    start_unix_ns_ = timed ? p.time_ns : 0;
  }
  f.start_unix_ns = start_unix_ns_;
  const int64_t start = timed ? p.time_ns - start_unix_ns_ : last_end_ns_;
  if (timed && p.duration_ns > 0) {
    f.start_ns = std::max<int64_t>(start, 0);
    f.end_ns = f.start_ns + p.duration_ns;
  } else {
    f.start_ns = last_end_ns_;
    f.end_ns =
        timed ? std::max(start, last_end_ns_) : last_end_ns_ + (f.sequence == 0 ? 0 : kSecond);
  }
  last_end_ns_ = std::max(last_end_ns_, f.end_ns);
}

std::pair<uint32_t, uint32_t> PprofFrames::StackOf(const PprofSample& s, const PprofProfile& p,
                                                   IntervalFrame& f) {
  // Root first: the last location is the root, a location's last function its outermost.
  uint32_t node = 0, type = 0;
  size_t depth = 0;
  for (size_t i = s.locations.size(); i-- > 0;) {
    const PprofLocation& l = p.locations[s.locations[i]];
    const auto add = [&](profile::IntervalMethod&& m) {
      if (++depth <= kMostFrames) node = Node(node, Method(std::move(m), f), f);
    };
    const std::string module(BaseName(l.module));
    if (l.functions.empty()) {
      profile::IntervalMethod m;
      m.module = module;
      m.method = m.raw = fmt::format("0x{:x}", l.address);
      m.flags = profile::kUnresolved;
      add(std::move(m));
    }
    for (size_t k = l.functions.size(); k-- > 0;) {
      const PprofFunction& function = p.functions[l.functions[k]];
      const bool leaf = i == 0 && k == 0;
      if (leaf && function.system_name.starts_with(pprof::kTypeMark)) {
        type = Type(function.name, function.system_name.substr(pprof::kTypeMark.size()), f);
        continue;
      }
      profile::IntervalMethod m;
      const bool synthetic = module == pprof::kSyntheticModule;
      m.module = synthetic ? std::string() : module;
      m.mvid = l.build_id;
      m.method = function.name;
      const pprof::MethodId id = pprof::SplitSystemName(
          function.system_name.empty() ? function.name : function.system_name, module);
      m.token = id.token;
      m.raw = id.raw;
      if (synthetic) {
        m.flags = profile::kPseudo;
        m.raw = m.method;
      }
      add(std::move(m));
    }
  }
  if (type == 0) {
    for (const std::string_view key : {"type", "class", "allocation class"})
      if (const PprofLabel* l = LabelOf(s, key); l != nullptr && !l->text.empty())
        type = Type(l->text, l->text, f);
  }
  return {node, type};
}

Result<IntervalFrame> PprofFrames::Next(const PprofProfile& p) {
  const MemoryColumns columns = FindMemory(p);
  const EventColumns event_columns = FindEvents(p);
  if (!columns.any() && !event_columns.any()) {
    std::string has;
    for (const auto& [type, unit] : p.sample_types)
      has += fmt::format("{}{} ({})", has.empty() ? "" : ", ", type, unit);
    return Error{ErrorCode::kFailed,
                 fmt::format("it is no profile of memory, exceptions or waits: it holds {}",
                             has.empty() ? "nothing" : has)};
  }
  IntervalFrame f;
  f.sequence = sequence_++;
  f.source = profile::Source::kForeign;
  f.live = columns.live_bytes >= 0;
  f.first_method = static_cast<uint32_t>(methods_.size());
  f.first_type = static_cast<uint32_t>(types_.size()) + 1;
  f.first_node = static_cast<uint32_t>(nodes_.size()) + 1;
  f.measures = MeasuresOf(columns, event_columns);
  SetTimes(p, f);

  using FlowKey = std::tuple<uint32_t, uint32_t, HeapKind>;
  using LiveKey = std::tuple<uint32_t, uint32_t, HeapKind, int8_t, uint8_t>;
  std::map<FlowKey, Estimate> flows;
  std::map<LiveKey, Estimate> lives;
  EventSums events;
  for (const PprofSample& s : p.samples) {
    const double alloc_bytes = Value(s, columns.alloc_bytes);
    const double live_bytes = Value(s, columns.live_bytes);
    const double alloc_objects = Value(s, columns.alloc_objects);
    const double live_objects = Value(s, columns.live_objects);
    if (alloc_bytes <= 0 && live_bytes <= 0 && alloc_objects <= 0 && live_objects <= 0 &&
        !HasEvents(s, event_columns))
      continue;
    const auto [node, type] = StackOf(s, p, f);
    AddEvents(s, event_columns, node, type, events);
    const HeapKind kind = KindOf(s);
    if (alloc_bytes > 0 || alloc_objects > 0)
      flows[{node, type, kind}] += Told(alloc_bytes, alloc_objects);
    if (live_bytes > 0 || live_objects > 0) {
      lives[{node, type, kind, GenerationOf(s), profile::AgeBucket(AgeOf(s) * kSecond)}] +=
          Told(live_bytes, live_objects);
    }
  }
  for (const auto& [key, value] : flows)
    f.flows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), value});
  for (const auto& [key, sums] : events) {
    profile::IntervalEvent e;
    std::tie(e.source, e.node, e.type, e.thread, e.owner, e.unfinished) = key;
    e.sums = sums;
    f.events.push_back(e);
  }
  for (const auto& [key, value] : lives) {
    profile::IntervalLive l;
    std::tie(l.node, l.type, l.kind, l.generation, l.age_bucket) = key;
    l.value = value;
    f.lives.push_back(l);
  }
  return f;
}

}  // namespace clrscope::import
