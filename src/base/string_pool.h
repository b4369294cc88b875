// SPDX-License-Identifier: Apache-2.0
// Interned strings: each distinct text is kept once, in chunks that never move.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/strong.h"

namespace clrscope {

class StringPool {
 public:
  StringPool();
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  // Returns the id of `text`, adding it when it is new. Ids are dense, in order of arrival; id 0 is
  // "".
  StringId Intern(std::string_view text);
  // Valid for the life of the pool.
  std::string_view Get(StringId id) const { return strings_[id.value]; }
  size_t size() const { return strings_.size(); }

 private:
  std::string_view Store(std::string_view text);
  void Grow();

  std::vector<std::string_view> strings_;
  std::vector<uint32_t> hashes_;
  std::vector<uint32_t> slots_;  // id + 1; 0 = empty; size is a power of two
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;
  size_t free_bytes_ = 0;
};

}  // namespace clrscope
