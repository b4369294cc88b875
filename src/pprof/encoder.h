// SPDX-License-Identifier: Apache-2.0
// profile.proto as a stream; which profile it is, its caller knows.
// Source: github.com/google/pprof proto/profile.proto
#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_sink.h"
#include "base/result.h"
#include "base/string_pool.h"

namespace clrscope::pprof {

// What a mapping is: a module of the program.
struct Image {
  std::string_view file;      // path, or the name alone where no path is known
  std::string_view build_id;  // hex digits that change with every build, "" when unknown
};

// Text, or a number, with a unit or not 0. All but `number` are indexes of the string table.
struct Label {
  int64_t key = 0;
  int64_t text = 0;
  int64_t number = 0;
  int64_t unit = 0;
};

// Memory: the string table, and five numbers for each location; samples leave it for the sink as
// they come. The same calls give the same bytes.
class Encoder {
 public:
  // Does not finish `sink`.
  explicit Encoder(ByteSink& sink) : sink_(sink) {}
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // Index in the string table, which is written last, so that strings may be added all along.
  int64_t String(std::string_view text) { return strings_.Intern(text).value; }

  // Each of these once, except SampleType: once for each value that a sample has.
  void SampleType(std::string_view type, std::string_view unit);
  void DefaultSampleType(std::string_view type);
  void Period(std::string_view type, std::string_view unit, int64_t period);
  void Time(int64_t start_unix_ns, int64_t duration_ns);

  void Comment(std::string_view text);

  // The mapping of a module, from 1 on; viewers take the first for the program itself. Asks
  // `image_of(module)` for its Image once. `module` outlives the encoder.
  template <class ImageOf>
  uint64_t Mapping(std::string_view module, ImageOf&& image_of) {
    const auto [it, added] = mapping_ids_.try_emplace(module, mappings_.size() + 1);
    if (added) {
      const Image image = image_of(module);
      mappings_.push_back({String(image.file), String(image.build_id)});
    }
    return it->second;
  }

  // A new location with a function of its own. A system name that differs from the name keeps
  // pprof from demangling it: `Repo<string>.Load` would be taken for a C++ template and lose its
  // arguments.
  // `file` and `line`: of the source; "" and 0 where they are not known.
  uint64_t Location(std::string_view name, std::string_view system_name, uint64_t mapping,
                    std::string_view file = {}, uint32_t line = 0);

  // `locations`: leaf first. `values`: as many as there are sample types.
  Status Sample(std::span<const uint64_t> locations, std::span<const int64_t> values,
                std::span<const Label> labels);

  // What is still to be written; nothing may follow.
  Status Finish();

 private:
  struct MappingRow {
    int64_t file, build_id;
  };
  struct LocationRow {
    int64_t name, system_name;
    uint64_t mapping;
    int64_t file;
    uint32_t line;
  };

  void ValueType(protozero::pbf_tag_type field, std::string_view type, std::string_view unit);
  Status FlushIfFull() { return buffer_.size() < kFlushBytes ? OkStatus() : Flush(); }
  Status Flush();
  Status WriteLocations();
  Status WriteMappings();
  Status WriteStrings();

  ByteSink& sink_;
  std::string buffer_;
  protozero::pbf_writer out_{buffer_};
  StringPool strings_;  // its first is "", as the format wants
  std::unordered_map<std::string_view, uint64_t> mapping_ids_;
  std::vector<MappingRow> mappings_;
  std::vector<LocationRow> locations_;
};

}  // namespace clrscope::pprof
