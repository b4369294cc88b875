// SPDX-License-Identifier: Apache-2.0
// The types of exceptions: events name them and give no id, so equal names are one type.
#pragma once

#include <cstdint>
#include <string>

#include "base/flat_map.h"
#include "base/string_pool.h"
#include "base/utf.h"
#include "profile/tables/process_tables.h"

namespace clrscope::analysis {

class ExceptionTypes {
 public:
  // A program can make types without end, and give them names of any length.
  static constexpr size_t kMost = 20'000, kLongestName = 1024;  // UTF-16 units

  // An index into `tables->types`. Past kMost it is that of "(other)", and counted.
  uint32_t Find(Utf16View name, StringPool& strings, profile::ProcessTables& tables);
  // The tables are others from now on.
  void Clear() { *this = {}; }

 private:
  static uint32_t Add(std::string_view name, StringPool& strings, profile::ProcessTables& tables);

  FlatMap index_;  // hash of the name → type
  uint32_t other_ = 0;
  std::string scratch_;
};

}  // namespace clrscope::analysis
