// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/exceptions/exception_messages.h"

#include <algorithm>

#include "base/hash_bytes.h"

namespace clrscope::analysis {
namespace {

uint64_t Add(std::string_view text, StringPool& strings, profile::ProcessTables& tables) {
  tables.messages.push_back(strings.Intern(text));
  return tables.messages.size();
}

}  // namespace

uint64_t ExceptionMessages::Find(Utf16View message, StringPool& strings,
                                 profile::ProcessTables& tables) {
  scratch_.clear();
  AppendUtf8(scratch_, {message.data, std::min(message.units, kLongest)});
  // What the runtime writes in place of a null reference.
  if (scratch_.empty() || scratch_ == "NULL") return 0;
  if (message.units > kLongest) scratch_ += "…";
  const uint64_t hash = HashBytes(AsBytes(scratch_.data(), scratch_.size()));
  if (const uint32_t known = index_.Find(hash); known != FlatMap::kNone) return known;
  if (index_.size() >= kMost) {
    tables.losses.Add(Loss::kMessagesCapped);
    if (other_ == 0) other_ = Add("(other)", strings, tables);
    return other_;
  }
  const uint64_t value = Add(scratch_, strings, tables);
  index_.Set(hash, static_cast<uint32_t>(value));
  return value;
}

}  // namespace clrscope::analysis
