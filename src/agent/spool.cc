// SPDX-License-Identifier: Apache-2.0
#include "agent/spool.h"

#include <algorithm>
#include <array>
#include <protozero/pbf_writer.hpp>
#include <unordered_map>

namespace clrscope::agent {
namespace {

using protozero::pbf_writer;

constexpr std::string_view kSyntheticModule = "[clrscope]";

int64_t Whole(double v) { return static_cast<int64_t>(v + 0.5); }

std::string AgeText(uint8_t bucket) {
  const auto text = [](uint32_t s) {
    if (s >= 86400) return std::to_string(s / 86400) + "d";
    if (s >= 3600) return std::to_string(s / 3600) + "h";
    if (s >= 60) return std::to_string(s / 60) + "m";
    return std::to_string(s) + "s";
  };
  const size_t i = std::min<size_t>(bucket, profile::kAgeStarts.size() - 1);
  return i + 1 < profile::kAgeStarts.size()
             ? text(profile::kAgeStarts[i]) + "-" + text(profile::kAgeStarts[i + 1])
             : text(profile::kAgeStarts[i]) + "+";
}

// Field numbers are those of github.com/google/pprof proto/profile.proto.
class Writer {
 public:
  Writer() { String(""); }

  int64_t String(std::string_view text) {
    const auto [it, added] =
        string_ids_.try_emplace(std::string(text), static_cast<int64_t>(strings_.size()));
    if (added) strings_.push_back(&it->first);
    return it->second;
  }
  void ValueType(protozero::pbf_tag_type field, std::string_view type, std::string_view unit) {
    const int64_t t = String(type), u = String(unit);
    pbf_writer m{out_, field};
    m.add_int64(1, t);
    m.add_int64(2, u);
  }
  uint64_t Mapping(std::string_view module) {
    if (module.empty()) module = kSyntheticModule;
    const auto [it, added] = mapping_ids_.try_emplace(std::string(module), mappings_.size() + 1);
    if (added) mappings_.push_back(&it->first);
    return it->second;
  }
  // A system name that differs from the name keeps viewers from demangling it.
  uint64_t Location(std::string_view name, std::string_view system, std::string_view module) {
    const uint64_t mapping = Mapping(module);
    const uint64_t id = ++locations_;
    const int64_t n = String(name), s = String(system);
    {
      pbf_writer function{out_, 5};
      function.add_uint64(1, id);
      function.add_int64(2, n);
      function.add_int64(3, s);
    }
    pbf_writer location{out_, 4};
    location.add_uint64(1, id);
    location.add_uint64(2, mapping);
    pbf_writer line{location, 4};
    line.add_uint64(1, id);
    return id;
  }
  template <class Values>
  void Sample(const std::vector<uint64_t>& locations, const Values& values,
              const std::vector<std::pair<int64_t, int64_t>>& labels) {
    pbf_writer sample{out_, 2};
    sample.add_packed_uint64(1, locations.begin(), locations.end());
    sample.add_packed_int64(2, values.begin(), values.end());
    for (const auto& [key, value] : labels) {
      pbf_writer label{sample, 3};
      label.add_int64(1, key);
      label.add_int64(2, value);
    }
  }
  std::string Finish(const profile::IntervalFrame& f, std::string_view default_type,
                     std::string_view period_type, std::string_view unit, int64_t period) {
    for (size_t i = 0; i < mappings_.size(); ++i) {
      const int64_t file = String(*mappings_[i]);
      pbf_writer m{out_, 3};
      m.add_uint64(1, i + 1);
      m.add_int64(5, file);
      for (protozero::pbf_tag_type has = 7; has <= 10; ++has) m.add_bool(has, true);
    }
    ValueType(11, period_type, unit);
    out_.add_int64(12, period);
    out_.add_int64(9, f.start_unix_ns + f.start_ns);
    out_.add_int64(10, f.end_ns - f.start_ns);
    out_.add_int64(14, String(default_type));
    const int64_t event = String("event: " + std::string(profile::EventName(f.source)));
    out_.add_int64(13, event);
    for (const auto& [name, count] : f.losses)
      out_.add_int64(13, String("loss: " + name + " " + std::to_string(count)));
    for (const std::string* s : strings_) out_.add_string(6, *s);
    return std::move(buffer_);
  }

 private:
  std::string buffer_;
  pbf_writer out_{buffer_};
  std::unordered_map<std::string, int64_t> string_ids_;
  std::vector<const std::string*> strings_;
  std::unordered_map<std::string, uint64_t> mapping_ids_;
  std::vector<const std::string*> mappings_;
  uint64_t locations_ = 0;
};

class StackEncoder {
 public:
  StackEncoder(Writer& out, const Dictionaries& d)
      : out_(out), d_(d), methods_(d.methods.size(), 0), types_(d.types.size() + 1, 0) {}

  const std::vector<uint64_t>& Of(uint32_t node, uint32_t type) {
    ids_.assign(1, OfType(type));
    while (node != 0) {
      ids_.push_back(OfMethod(d_.nodes[node - 1].method));
      node = d_.nodes[node - 1].parent;
    }
    return ids_;
  }

 private:
  uint64_t OfMethod(uint32_t i) {
    if (methods_[i] != 0) return methods_[i];
    const profile::IntervalMethod& m = d_.methods[i];
    return methods_[i] = out_.Location(m.method, m.module + "!" + m.raw, m.module);
  }
  uint64_t OfType(uint32_t id) {
    if (types_[id] != 0) return types_[id];
    if (id == 0) return types_[id] = out_.Location("[unknown type]", "[type]!", "");
    const profile::IntervalType& t = d_.types[id - 1];
    return types_[id] = out_.Location(t.name, "[type]!" + t.raw, "");
  }

  Writer& out_;
  const Dictionaries& d_;
  std::vector<uint64_t> methods_, types_, ids_;
};

}  // namespace

std::string EncodePprof(const profile::IntervalFrame& f, const Dictionaries& d,
                        const Labels& user_labels) {
  Writer out;
  out.ValueType(1, "alloc_objects", "count");
  out.ValueType(1, "alloc_space", "bytes");
  if (f.live) {
    out.ValueType(1, "inuse_objects", "count");
    out.ValueType(1, "inuse_space", "bytes");
  }
  std::vector<std::pair<int64_t, int64_t>> common;
  for (const auto& [key, value] : user_labels)
    common.emplace_back(out.String(key), out.String(value));
  StackEncoder stacks(out, d);
  const int64_t heap = out.String("heap"), age = out.String("age"),
                generation = out.String("generation");
  for (const profile::IntervalFlow& r : f.flows) {
    auto labels = common;
    labels.emplace_back(heap, out.String(profile::KindName(r.kind)));
    std::vector<int64_t> values = {Whole(r.value.objects), Whole(r.value.bytes)};
    if (f.live) values.resize(4, 0);
    out.Sample(stacks.Of(r.node, r.type), values, labels);
  }
  for (const profile::IntervalLive& r : f.lives) {
    if (r.young) continue;  // no GC has looked at it yet: nobody knows that it lives
    auto labels = common;
    labels.emplace_back(heap, out.String(profile::KindName(r.kind)));
    labels.emplace_back(age, out.String(AgeText(r.age_bucket)));
    if (r.generation >= 0)
      labels.emplace_back(generation, out.String(std::to_string(static_cast<int>(r.generation))));
    const std::array<int64_t, 4> values = {0, 0, Whole(r.value.objects), Whole(r.value.bytes)};
    out.Sample(stacks.Of(r.node, r.type), values, labels);
  }
  return out.Finish(f, f.live ? "inuse_space" : "alloc_space", "space", "bytes",
                    static_cast<int64_t>(profile::kSamplingMeanBytes));
}

std::string EncodeGcCpuPprof(const profile::IntervalFrame& f, const Labels& user_labels) {
  if (f.cpu.process_ns < 0) return {};
  const auto known = [](int64_t ns) { return std::max<int64_t>(ns, 0); };
  const int64_t gc =
      known(f.cpu.server_gc_ns) + known(f.cpu.background_gc_ns) + known(f.cpu.workstation_gc_ns);
  Writer out;
  out.ValueType(1, "cpu", "nanoseconds");
  std::vector<std::pair<int64_t, int64_t>> labels;
  for (const auto& [key, value] : user_labels)
    labels.emplace_back(out.String(key), out.String(value));
  const uint64_t collector = out.Location("Garbage Collector", "[gc]!Garbage Collector", "");
  const uint64_t rest = out.Location("[rest of the process]", "[rest]!", "");
  out.Sample({collector}, std::array<int64_t, 1>{gc}, labels);
  out.Sample({rest}, std::array<int64_t, 1>{std::max<int64_t>(f.cpu.process_ns - gc, 0)}, labels);
  return out.Finish(f, "cpu", "cpu", "nanoseconds", 1);
}

}  // namespace clrscope::agent
