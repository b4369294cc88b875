// SPDX-License-Identifier: Apache-2.0
// What a page's data is put together from: numbered strings, and columns of numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/profile.h"

namespace clrscope::exporter {

// The strings that a page needs, numbered from 0.
class Names {
 public:
  explicit Names(const profile::Profile& p) : profile_(p) { Add(""); }

  uint32_t Id(StringId id) { return Add(profile_.str(id)); }
  uint32_t Add(std::string_view text) {
    const auto [it, fresh] = ids_.try_emplace(text, static_cast<uint32_t>(list_.size()));
    if (fresh) list_.push_back(text);
    return it->second;
  }
  const std::vector<std::string_view>& list() const { return list_; }

 private:
  const profile::Profile& profile_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  std::vector<std::string_view> list_;
};

// The columns behind the JSON, each as byte planes.
class Columns {
 public:
  template <class T>
  void Add(std::string_view name, std::string_view type, const std::vector<T>& values) {
    index_.push_back({{"name", name}, {"type", type}, {"count", values.size()}});
    const size_t n = values.size(), base = bytes_.size();
    bytes_.resize(base + n * sizeof(T));
    for (size_t i = 0; i < n; ++i) {
      char raw[sizeof(T)];
      std::memcpy(raw, &values[i], sizeof(T));
      for (size_t b = 0; b < sizeof(T); ++b) bytes_[base + b * n + i] = raw[b];
    }
  }
  void U8(std::string_view name, const std::vector<uint8_t>& v) { Add(name, "u8", v); }
  void U32(std::string_view name, const std::vector<uint32_t>& v) { Add(name, "u32", v); }
  void F32(std::string_view name, const std::vector<float>& v) { Add(name, "f32", v); }
  void F64(std::string_view name, const std::vector<double>& v) { Add(name, "f64", v); }
  const nlohmann::json& index() const { return index_; }
  const std::string& bytes() const { return bytes_; }

 private:
  nlohmann::json index_ = nlohmann::json::array();
  std::string bytes_;
};

inline constexpr size_t kMaxTimeBins = 1000;
// Width of a step, so that kMaxTimeBins of them hold everything from `begin` to `end`.
inline int64_t BinWidth(int64_t begin, int64_t end) {
  return std::max<int64_t>(1, (end - begin) / static_cast<int64_t>(kMaxTimeBins));
}

inline double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace clrscope::exporter
