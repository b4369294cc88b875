// SPDX-License-Identifier: Apache-2.0
// What exceptions say, where a recording was asked to keep it: messages may hold personal data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/flat_map.h"
#include "base/string_pool.h"
#include "base/utf.h"
#include "profile/tables/process_tables.h"

namespace clrscope::analysis {

class ExceptionMessages {
 public:
  // A message may name whatever it was thrown for, so that no two are equal.
  static constexpr size_t kMost = 1000, kLongest = 200;  // UTF-16 units

  // The value of the label: an index into `tables->messages` + 1; 0 = there is none. Past kMost it
  // is that of "(other)", and counted.
  uint64_t Find(Utf16View message, StringPool& strings, profile::ProcessTables& tables);
  // The tables are others from now on.
  void Clear() { *this = {}; }

 private:
  FlatMap index_;  // hash of what is kept → value
  uint64_t other_ = 0;
  std::string scratch_;
};

}  // namespace clrscope::analysis
