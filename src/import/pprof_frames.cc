// SPDX-License-Identifier: Apache-2.0
#include "import/pprof_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/units.h"
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

// Its own synthetic leaf: "[type]!RAW" (export/pprof.h).
constexpr std::string_view kTypeMark = "[type]!";

std::string_view BaseName(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view extension : {".dll", ".exe"})
    if (name.ends_with(extension)) name.remove_suffix(extension.size());
  return name;
}

// "Module!0x6000001:RAW" or "Module!RAW" (export/pprof.h) → raw name and token.
void SplitSystemName(std::string_view text, std::string_view module, profile::IntervalMethod& m) {
  if (text.size() > module.size() && text.starts_with(module) && text[module.size()] == '!') {
    text.remove_prefix(module.size() + 1);
    if (const size_t colon = text.find(':'); text.starts_with("0x") && colon != text.npos) {
      uint32_t token = 0;
      const auto end = std::from_chars(text.data() + 2, text.data() + colon, token, 16);
      if (end.ptr == text.data() + colon) {
        m.token = token;
        text.remove_prefix(colon + 1);
      }
    }
  }
  m.raw = text;
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
  e.bytes = e.seen_bytes = bytes;
  e.objects = e.seen_objects = objects;
  return e;
}

HeapKind KindOf(const PprofSample& s) {
  const PprofLabel* heap = LabelOf(s, "heap");
  if (heap == nullptr) return HeapKind::kUnknown;
  for (const HeapKind kind : {HeapKind::kSoh, HeapKind::kLoh, HeapKind::kPoh})
    if (profile::KindName(kind) == heap->text) return kind;
  return HeapKind::kUnknown;
}

int8_t GenerationOf(const PprofSample& s) {
  const PprofLabel* generation = LabelOf(s, "generation");
  if (generation == nullptr) return -1;
  constexpr std::string_view kNames[] = {"0", "1", "2", "LOH", "POH"};
  for (int8_t i = 0; i < 5; ++i)
    if (kNames[i] == generation->text || (generation->text.ends_with(kNames[i]) && i < 3)) return i;
  if (generation->text.empty() && generation->number >= 0 && generation->number <= 4)
    return static_cast<int8_t>(generation->number);
  return -1;
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

Result<IntervalFrame> PprofFrames::Next(const PprofProfile& p) {
  const MemoryColumns columns = FindMemory(p);
  if (!columns.any()) {
    std::string has;
    for (const auto& [type, unit] : p.sample_types)
      has += fmt::format("{}{} ({})", has.empty() ? "" : ", ", type, unit);
    return Error{ErrorCode::kFailed, fmt::format("it is no profile of memory: it holds {}",
                                                 has.empty() ? "nothing" : has)};
  }
  IntervalFrame f;
  f.sequence = sequence_++;
  f.source = profile::Source::kForeign;
  f.live = columns.live_bytes >= 0;
  f.first_method = static_cast<uint32_t>(methods_.size());
  f.first_type = static_cast<uint32_t>(types_.size()) + 1;
  f.first_node = static_cast<uint32_t>(nodes_.size()) + 1;
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

  using FlowKey = std::tuple<uint32_t, uint32_t, HeapKind>;
  using LiveKey = std::tuple<uint32_t, uint32_t, HeapKind, int8_t, uint8_t>;
  std::map<FlowKey, Estimate> flows;
  std::map<LiveKey, Estimate> lives;
  for (const PprofSample& s : p.samples) {
    const double alloc_bytes = Value(s, columns.alloc_bytes);
    const double live_bytes = Value(s, columns.live_bytes);
    const double alloc_objects = Value(s, columns.alloc_objects);
    const double live_objects = Value(s, columns.live_objects);
    if (alloc_bytes <= 0 && live_bytes <= 0 && alloc_objects <= 0 && live_objects <= 0) continue;
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
        if (leaf && function.system_name.starts_with(kTypeMark)) {
          type = Type(function.name, function.system_name.substr(kTypeMark.size()), f);
          continue;
        }
        profile::IntervalMethod m;
        m.module = module == "[clrscope]" ? std::string() : module;
        m.mvid = l.build_id;
        m.method = function.name;
        SplitSystemName(function.system_name.empty() ? function.name : function.system_name, module,
                        m);
        if (module == "[clrscope]") {
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
    const HeapKind kind = KindOf(s);
    if (alloc_bytes > 0 || alloc_objects > 0)
      flows[{node, type, kind}] += Told(alloc_bytes, alloc_objects);
    if (live_bytes > 0 || live_objects > 0) {
      const PprofLabel* age = LabelOf(s, "age");
      const int64_t seconds =
          age == nullptr ? 0 : std::clamp<int64_t>(age->number, 0, int64_t{1} << 32);
      lives[{node, type, kind, GenerationOf(s), profile::AgeBucket(seconds * kSecond)}] +=
          Told(live_bytes, live_objects);
    }
  }
  for (const auto& [key, value] : flows)
    f.flows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), value});
  for (const auto& [key, value] : lives) {
    profile::IntervalLive l;
    std::tie(l.node, l.type, l.kind, l.generation, l.age_bucket) = key;
    l.value = value;
    f.lives.push_back(l);
  }
  return f;
}

}  // namespace clrscope::import
