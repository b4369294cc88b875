// SPDX-License-Identifier: Apache-2.0
// A pprof message as it is, whoever wrote it.
// Source: github.com/google/pprof proto/profile.proto
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::import {

struct PprofValueType {
  std::string_view type, unit;
};
struct PprofLabel {
  std::string_view key, text, unit;
  int64_t number = 0;
};
struct PprofSample {
  std::vector<uint32_t> locations;  // indexes, leaf first
  std::vector<int64_t> values;      // as many as there are sample types
  std::vector<PprofLabel> labels;
};
struct PprofFunction {
  std::string_view name, system_name;
};
struct PprofLocation {
  std::string_view module;  // file of its mapping; "" = none
  std::string_view build_id;
  uint64_t address = 0;
  std::vector<uint32_t> functions;  // indexes, innermost (inlined) first
};

// All text is that of the message that was parsed, which must outlive this.
struct PprofProfile {
  std::vector<PprofValueType> sample_types;
  std::vector<PprofSample> samples;
  std::vector<PprofLocation> locations;
  std::vector<PprofFunction> functions;
  std::vector<std::string_view> comments;
  std::string_view default_type, main_module;
  int64_t time_ns = 0;      // Unix time; 0 = unknown
  int64_t duration_ns = 0;  // 0 = a state, or everything since the program began
};

// An uncompressed message. errors: kCorrupt with the offset of the field that is wrong: references
// to strings, functions, locations or mappings that there are not, samples without as many values
// as types. Unknown fields are skipped.
Result<PprofProfile> ParsePprof(std::string_view message);

}  // namespace clrscope::import
