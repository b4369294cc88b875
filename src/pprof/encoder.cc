// SPDX-License-Identifier: Apache-2.0
#include "pprof/encoder.h"

namespace clrscope::pprof {
namespace {

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
enum LineField : protozero::pbf_tag_type { kLineFunctionId = 1, kLineLine = 2 };
enum FunctionField : protozero::pbf_tag_type {
  kFunctionId = 1,
  kFunctionName = 2,
  kFunctionSystemName = 3,
  kFunctionFilename = 4,
};

}  // namespace

void Encoder::ValueType(protozero::pbf_tag_type field, std::string_view type,
                        std::string_view unit) {
  pbf_writer message{out_, field};
  message.add_int64(kValueTypeType, String(type));
  message.add_int64(kValueTypeUnit, String(unit));
}

void Encoder::SampleType(std::string_view type, std::string_view unit) {
  ValueType(kSampleType, type, unit);
}

void Encoder::DefaultSampleType(std::string_view type) {
  out_.add_int64(kDefaultSampleType, String(type));
}

void Encoder::Period(std::string_view type, std::string_view unit, int64_t period) {
  ValueType(kPeriodType, type, unit);
  out_.add_int64(kPeriod, period);
}

void Encoder::Time(int64_t start_unix_ns, int64_t duration_ns) {
  out_.add_int64(kTimeNanos, start_unix_ns);
  out_.add_int64(kDurationNanos, duration_ns);
}

void Encoder::Comment(std::string_view text) { out_.add_int64(kComment, String(text)); }

uint64_t Encoder::Location(std::string_view name, std::string_view system_name, uint64_t mapping,
                           std::string_view file, uint32_t line) {
  locations_.push_back({String(name), String(system_name), mapping, String(file), line});
  return locations_.size();
}

Status Encoder::Sample(std::span<const uint64_t> locations, std::span<const int64_t> values,
                       std::span<const Label> labels) {
  {
    pbf_writer sample{out_, kSample};
    sample.add_packed_uint64(kSampleLocationId, locations.begin(), locations.end());
    sample.add_packed_int64(kSampleValue, values.begin(), values.end());
    for (const Label& l : labels) {
      pbf_writer label{sample, kSampleLabel};
      label.add_int64(kLabelKey, l.key);
      if (l.unit == 0 && l.number == 0) {
        label.add_int64(kLabelStr, l.text);
      } else {
        label.add_int64(kLabelNum, l.number);
        if (l.unit != 0) label.add_int64(kLabelNumUnit, l.unit);
      }
    }
  }
  return FlushIfFull();
}

Status Encoder::Finish() {
  RETURN_IF_ERROR(WriteLocations());
  RETURN_IF_ERROR(WriteMappings());
  RETURN_IF_ERROR(WriteStrings());
  return Flush();
}

Status Encoder::Flush() {
  RETURN_IF_ERROR(sink_.Write(buffer_));
  buffer_.clear();
  return OkStatus();
}

// One function and one location each, with equal ids.
Status Encoder::WriteLocations() {
  for (uint64_t id = 1; id <= locations_.size(); ++id) {
    const LocationRow& l = locations_[id - 1];
    {
      pbf_writer function{out_, kFunction};
      function.add_uint64(kFunctionId, id);
      function.add_int64(kFunctionName, l.name);
      function.add_int64(kFunctionSystemName, l.system_name);
      if (l.file != 0) function.add_int64(kFunctionFilename, l.file);
    }
    {
      pbf_writer location{out_, kLocation};
      location.add_uint64(kLocationId, id);
      location.add_uint64(kLocationMappingId, l.mapping);
      pbf_writer line{location, kLocationLine};
      line.add_uint64(kLineFunctionId, id);
      if (l.line != 0) line.add_int64(kLineLine, l.line);
    }
    RETURN_IF_ERROR(FlushIfFull());
  }
  return OkStatus();
}

// Everything is symbolized: unless all four flags say so, pprof tries to do it itself and fails.
Status Encoder::WriteMappings() {
  for (uint64_t id = 1; id <= mappings_.size(); ++id) {
    const MappingRow& m = mappings_[id - 1];
    {
      pbf_writer mapping{out_, kMapping};
      mapping.add_uint64(kMappingId, id);
      mapping.add_int64(kMappingFilename, m.file);
      mapping.add_int64(kMappingBuildId, m.build_id);
      for (const MappingField has : {kMappingHasFunctions, kMappingHasFilenames,
                                     kMappingHasLineNumbers, kMappingHasInlineFrames}) {
        mapping.add_bool(has, true);
      }
    }
    RETURN_IF_ERROR(FlushIfFull());
  }
  return OkStatus();
}

Status Encoder::WriteStrings() {
  for (uint32_t i = 0; i < strings_.size(); ++i) {
    const std::string_view text = strings_.Get(StringId{i});
    out_.add_string(kStringTable, text.data(), text.size());
    RETURN_IF_ERROR(FlushIfFull());
  }
  return OkStatus();
}

}  // namespace clrscope::pprof
