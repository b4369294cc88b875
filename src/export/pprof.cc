// SPDX-License-Identifier: Apache-2.0
// Streams a profile as profile.proto; the rules that make viewers show .NET names right are here.
#include "export/pprof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_sink.h"
#include "export/notes.h"
#include "export/stack_walk.h"
#include "export/weights.h"
#include "profile/interval_frame.h"

namespace clrscope::exporter {
namespace {

using profile::Profile;
using protozero::pbf_writer;

// Field numbers of profile.proto.
enum ProfileField : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
};
enum ValueTypeField : protozero::pbf_tag_type { kValueTypeType = 1, kValueTypeUnit = 2 };
enum SampleField : protozero::pbf_tag_type {
  kSampleLocationId = 1,
  kSampleValue = 2,
  kSampleLabel = 3,
};
enum LabelField : protozero::pbf_tag_type {
  kLabelKey = 1,
  kLabelStr = 2,
  kLabelNum = 3,
  kLabelNumUnit = 4,
};
enum MappingField : protozero::pbf_tag_type {
  kMappingId = 1,
  kMappingFilename = 5,
  kMappingBuildId = 6,
  kMappingHasFunctions = 7,
  kMappingHasFilenames = 8,
  kMappingHasLineNumbers = 9,
  kMappingHasInlineFrames = 10,
};
enum LocationField : protozero::pbf_tag_type {
  kLocationId = 1,
  kLocationMappingId = 2,
  kLocationLine = 4,
};
enum LineField : protozero::pbf_tag_type { kLineFunctionId = 1 };
enum FunctionField : protozero::pbf_tag_type {
  kFunctionId = 1,
  kFunctionName = 2,
  kFunctionSystemName = 3,
};

// The mapping of frames that are no code of a module: types, [truncated], unresolved addresses.
constexpr std::string_view kSyntheticModule = "[clrscope]";

class PprofWriter {
 public:
  PprofWriter(const Profile& profile, const PprofOptions& options, ByteSink& sink)
      : profile_(profile),
        stacks_(CollectStacks(profile, {options.keep_machinery, /*by_kind=*/true, Identity::kExact,
                                        /*lives=*/true})),
        allocated_(profile.shows == profile::Shows::kAllocated),
        live_(!allocated_ || !stacks_.lives.empty()),
        sink_(sink),
        frame_locations_(profile.frames.size(), 0),
        type_locations_(profile.types.size(), 0) {
    String("");
  }

  Status Run() {
    WriteHeader();
    AddMainMapping();
    RETURN_IF_ERROR(WriteSamples());
    for (const std::string& note : Notes(profile_)) out_.add_int64(kComment, String(note));
    RETURN_IF_ERROR(WriteLocations());
    RETURN_IF_ERROR(WriteMappings());
    return WriteStrings();
  }

 private:
  struct Location {
    std::string_view name;
    std::string system_name;
    uint64_t mapping = 0;
  };
  struct Mapping {
    std::string_view file, build_id;
  };

  // The string table is written last, so that strings may be added all along.
  int64_t String(std::string_view text) {
    const auto id = static_cast<int64_t>(strings_.size());
    const auto [it, added] = string_ids_.try_emplace(std::string(text), id);
    if (added) strings_.push_back(&it->first);
    return it->second;
  }

  Status FlushIfFull() { return buffer_.size() < kFlushBytes ? OkStatus() : Flush(); }
  Status Flush() {
    RETURN_IF_ERROR(sink_.Write(buffer_));
    buffer_.clear();
    return OkStatus();
  }

  void AddValueType(ProfileField field, std::string_view type, std::string_view unit) {
    pbf_writer message{out_, field};
    message.add_int64(kValueTypeType, String(type));
    message.add_int64(kValueTypeUnit, String(unit));
  }

  void WriteHeader() {
    if (allocated_ && profile_.objects_known) AddValueType(kSampleType, "alloc_objects", "count");
    if (allocated_) AddValueType(kSampleType, "alloc_space", "bytes");
    if (live_) AddValueType(kSampleType, "inuse_objects", "count");
    if (live_) AddValueType(kSampleType, "inuse_space", "bytes");
    out_.add_int64(kDefaultSampleType, String(live_ ? "inuse_space" : "alloc_space"));
    AddValueType(kPeriodType, "space", "bytes");
    out_.add_int64(kPeriod, Period());
    out_.add_int64(kTimeNanos, profile_.start_unix_ns);
    out_.add_int64(kDurationNanos, profile_.duration_ns);
  }

  // Mean bytes that one event stands for.
  int64_t Period() const {
    if (profile_.source == profile::Source::kSampled) {
      return static_cast<int64_t>(profile::kSamplingMeanBytes);
    }
    const profile::Estimate total = profile_.Total();
    const double mean = total.samples == 0 ? 0 : total.bytes / static_cast<double>(total.samples);
    return std::llround(std::max(mean, 1.0));
  }

  // pprof takes the first mapping for the program itself.
  void AddMainMapping() {
    std::vector<double> bytes(profile_.processes.size(), 0);
    for (const StackSample& s : stacks_.samples) bytes[s.process] += s.value.bytes;
    const auto heaviest = std::max_element(bytes.begin(), bytes.end());
    if (heaviest == bytes.end()) return;
    const auto index = static_cast<size_t>(heaviest - bytes.begin());
    const std::string_view name = MainModule(profile_.processes[index]);
    if (!name.empty()) MappingOf(name);
  }

  // The process's main module by the name that frames use, though it may be told as a file name.
  std::string_view MainModule(const profile::Process& process) const {
    const std::string_view told = profile_.str(process.main_module);
    std::string_view stem = told.substr(told.rfind('/') + 1);  // npos + 1 = 0
    if (stem.ends_with(".dll") || stem.ends_with(".exe")) stem.remove_suffix(4);
    for (const profile::Module& m : profile_.modules) {
      if (profile_.str(m.name) == stem) return stem;
    }
    return told;
  }

  uint64_t MappingOf(std::string_view module_name) {
    if (module_name.empty()) module_name = kSyntheticModule;
    const auto [it, added] = mapping_ids_.try_emplace(module_name, mappings_.size() + 1);
    if (added) {
      Mapping mapping{module_name, ""};
      for (const profile::Module& m : profile_.modules) {
        if (profile_.str(m.name) != module_name) continue;
        if (m.path.value != 0) mapping.file = profile_.str(m.path);
        mapping.build_id = profile_.str(m.mvid);
        break;
      }
      mappings_.push_back(mapping);
    }
    return it->second;
  }

  uint64_t AddLocation(Location location) {
    locations_.push_back(std::move(location));
    return locations_.size();
  }

  // A system name that differs from the name keeps pprof from demangling it: `Repo<string>.Load`
  // would be taken for a C++ template and lose its arguments.
  uint64_t LocationOfFrame(uint32_t index) {
    uint64_t& id = frame_locations_[index];
    if (id != 0) return id;
    const profile::Frame& f = profile_.frames[index];
    const std::string_view name = FrameName(profile_, index);
    const std::string_view module_name =
        (f.flags & profile::kPseudo) != 0 ? std::string_view() : profile_.str(f.module);
    const std::string_view raw = f.raw.value != 0 ? profile_.str(f.raw) : name;
    std::string system_name = f.token != 0 ? fmt::format("{}!{:#x}:{}", module_name, f.token, raw)
                                           : fmt::format("{}!{}", module_name, raw);
    return id = AddLocation({name, std::move(system_name), MappingOf(module_name)});
  }

  uint64_t LocationOfType(uint32_t index) {
    uint64_t& id = type_locations_[index];
    if (id != 0) return id;
    const std::string_view name = TypeName(profile_, index);
    const StringId raw = profile_.types[index].raw;
    return id = AddLocation({name, fmt::format("[type]!{}", raw.value ? profile_.str(raw) : name),
                             MappingOf(kSyntheticModule)});
  }

  static void AddLabel(pbf_writer& sample, int64_t key, int64_t text) {
    pbf_writer label{sample, kSampleLabel};
    label.add_int64(kLabelKey, key);
    label.add_int64(kLabelStr, text);
  }

  static void AddNumber(pbf_writer& sample, int64_t key, int64_t number, int64_t unit) {
    pbf_writer label{sample, kSampleLabel};
    label.add_int64(kLabelKey, key);
    label.add_int64(kLabelNum, number);
    label.add_int64(kLabelNumUnit, unit);
  }

  Status WriteSamples() {
    if (allocated_) RETURN_IF_ERROR(WriteSamples(stacks_.samples, false));
    return live_ ? WriteSamples(stacks_.lives, true) : OkStatus();
  }

  // Values of the other pair are 0.
  void AddValues(pbf_writer& sample, bool live, int64_t objects, int64_t bytes) const {
    std::array<int64_t, 4> values{};
    size_t n = 0;
    if (allocated_ && profile_.objects_known) values[n++] = live ? 0 : objects;
    if (allocated_) values[n++] = live ? 0 : bytes;
    if (live_) values[n++] = live ? objects : 0;
    if (live_) values[n++] = live ? bytes : 0;
    sample.add_packed_int64(kSampleValue, values.begin(),
                            values.begin() + static_cast<ptrdiff_t>(n));
  }

  Status WriteSamples(const std::vector<StackSample>& samples, bool live) {
    static constexpr std::string_view kGenerations[] = {"0", "1", "2", "LOH", "POH"};
    std::vector<double> bytes, objects;
    for (const StackSample& s : samples) {
      bytes.push_back(s.value.bytes);
      objects.push_back(s.value.objects);
    }
    const std::vector<int64_t> whole_bytes = RoundToTotal(bytes);
    const std::vector<int64_t> whole_objects = RoundToTotal(objects);
    std::vector<uint32_t> path;
    std::vector<uint64_t> ids;
    for (size_t i = 0; i < samples.size(); ++i) {
      const StackSample& s = samples[i];
      PathTo(stacks_, s.node, path);
      ids.assign(1, LocationOfType(s.type));
      for (auto frame = path.rbegin(); frame != path.rend(); ++frame) {
        ids.push_back(LocationOfFrame(*frame));
      }
      {
        pbf_writer sample{out_, kSample};
        sample.add_packed_uint64(kSampleLocationId, ids.begin(), ids.end());
        AddValues(sample, live, whole_objects[i], whole_bytes[i]);
        if (s.kind != profile::HeapKind::kUnknown) {
          AddLabel(sample, String("heap"), String(KindName(s.kind)));
        }
        if (profile_.processes.size() > 1) {
          AddLabel(sample, String("process"), String(ProcessName(profile_, s.process)));
        }
        if (live && s.generation >= 0 && s.generation < 5) {
          AddLabel(sample, String("generation"),
                   String(kGenerations[static_cast<size_t>(s.generation)]));
        }
        if (live) {
          AddNumber(sample, String("age"), profile::kAgeStarts[s.age_bucket], String("seconds"));
        }
      }
      RETURN_IF_ERROR(FlushIfFull());
    }
    return OkStatus();
  }

  // One function and one location each, with equal ids.
  Status WriteLocations() {
    for (uint64_t id = 1; id <= locations_.size(); ++id) {
      const Location& l = locations_[id - 1];
      {
        pbf_writer function{out_, kFunction};
        function.add_uint64(kFunctionId, id);
        function.add_int64(kFunctionName, String(l.name));
        function.add_int64(kFunctionSystemName, String(l.system_name));
      }
      {
        pbf_writer location{out_, kLocation};
        location.add_uint64(kLocationId, id);
        location.add_uint64(kLocationMappingId, l.mapping);
        pbf_writer line{location, kLocationLine};
        line.add_uint64(kLineFunctionId, id);
      }
      RETURN_IF_ERROR(FlushIfFull());
    }
    return OkStatus();
  }

  // Everything is symbolized: unless all four flags say so, pprof tries to do it itself and fails.
  Status WriteMappings() {
    for (uint64_t id = 1; id <= mappings_.size(); ++id) {
      const Mapping& m = mappings_[id - 1];
      {
        pbf_writer mapping{out_, kMapping};
        mapping.add_uint64(kMappingId, id);
        mapping.add_int64(kMappingFilename, String(m.file));
        mapping.add_int64(kMappingBuildId, String(m.build_id));
        for (const MappingField has : {kMappingHasFunctions, kMappingHasFilenames,
                                       kMappingHasLineNumbers, kMappingHasInlineFrames}) {
          mapping.add_bool(has, true);
        }
      }
      RETURN_IF_ERROR(FlushIfFull());
    }
    return OkStatus();
  }

  Status WriteStrings() {
    for (const std::string* text : strings_) {
      out_.add_string(kStringTable, *text);
      RETURN_IF_ERROR(FlushIfFull());
    }
    return Flush();
  }

  const Profile& profile_;
  const Stacks stacks_;
  const bool allocated_, live_;  // which values the samples have
  ByteSink& sink_;
  std::string buffer_;
  pbf_writer out_{buffer_};
  std::unordered_map<std::string, int64_t> string_ids_;
  std::vector<const std::string*> strings_;  // keys of string_ids_, which do not move
  std::unordered_map<std::string_view, uint64_t> mapping_ids_;
  std::vector<Mapping> mappings_;
  std::vector<Location> locations_;
  std::vector<uint64_t> frame_locations_, type_locations_;  // location ids; 0 = none yet
};

}  // namespace

Status WritePprof(const Profile& profile, const PprofOptions& options, ByteSink& sink) {
  return PprofWriter(profile, options, sink).Run();
}

}  // namespace clrscope::exporter
