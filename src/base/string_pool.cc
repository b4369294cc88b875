// SPDX-License-Identifier: Apache-2.0
#include "base/string_pool.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace clrscope {
namespace {
constexpr size_t kChunkBytes = 64 * 1024;
uint32_t Hash(std::string_view text) {
  const size_t h = std::hash<std::string_view>{}(text);
  return static_cast<uint32_t>(h ^ (h >> 32));
}
}  // namespace

StringPool::StringPool() : slots_(64) { (void)Intern(""); }

StringId StringPool::Intern(std::string_view text) {
  const uint32_t hash = Hash(text);
  size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i] != 0) {
    const uint32_t id = slots_[i] - 1;
    if (hashes_[id] == hash && strings_[id] == text) return StringId{id};
    i = (i + 1) & mask;
  }
  const auto id = static_cast<uint32_t>(strings_.size());
  strings_.push_back(Store(text));
  hashes_.push_back(hash);
  slots_[i] = id + 1;
  if (strings_.size() * 2 > slots_.size()) Grow();
  return StringId{id};
}

std::string_view StringPool::Store(std::string_view text) {
  if (text.size() > free_bytes_) {
    const size_t size = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique<char[]>(size));
    free_ = chunks_.back().get();
    free_bytes_ = size;
  }
  char* at = free_;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return {at, text.size()};
}

void StringPool::Grow() {
  std::vector<uint32_t> bigger(slots_.size() * 2);
  const size_t mask = bigger.size() - 1;
  for (uint32_t id = 0; id < strings_.size(); ++id) {
    size_t i = hashes_[id] & mask;
    while (bigger[i] != 0) i = (i + 1) & mask;
    bigger[i] = id + 1;
  }
  slots_.swap(bigger);
}

}  // namespace clrscope
