// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/exceptions/exception_types.h"

#include <algorithm>

#include "base/hash_bytes.h"

namespace clrscope::analysis {

uint32_t ExceptionTypes::Find(Utf16View name, StringPool& strings, profile::ProcessTables& tables) {
  const uint64_t hash = HashBytes(name.bytes());
  const uint32_t known = index_.Find(hash);
  if (known != FlatMap::kNone) return known;
  if (index_.size() >= kMost) {
    tables.losses.Add(Loss::kExceptionTypesCapped);
    if (other_ == 0) other_ = Add("(other)", strings, tables);
    return other_;
  }
  scratch_.clear();
  AppendUtf8(scratch_, {name.data, std::min(name.units, kLongestName)});
  if (name.units > kLongestName) scratch_ += "…";
  const uint32_t type = Add(scratch_, strings, tables);
  index_.Set(hash, type);
  return type;
}

uint32_t ExceptionTypes::Add(std::string_view name, StringPool& strings,
                             profile::ProcessTables& tables) {
  tables.types.push_back({0, strings.Intern(name)});
  return static_cast<uint32_t>(tables.types.size() - 1);
}

}  // namespace clrscope::analysis
