// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/types/type_index.h"

#include <utility>

#include "analysis/families/intern_utf16.h"

namespace clrscope::analysis {

uint32_t TypeIndex::FindSlow(uint32_t type, uint64_t id, uint64_t hash, Utf16View name,
                             StringPool& strings, profile::ProcessTables& tables, bool* reused) {
  // The same id with another name: the type was unloaded and its memory used again.
  const bool other = type != FlatMap::kNone && name_hash_[type] != 0;
  if (type == FlatMap::kNone || other) {
    type = static_cast<uint32_t>(tables.types.size());
    tables.types.push_back({id, {}});
    name_hash_.push_back(0);
    index_.Set(id, type);
    if (other) *reused = true;
  }
  if (hash != 0) {
    tables.types[type].raw_name = InternUtf16(name, strings, scratch_);
    name_hash_[type] = hash;
  }
  return type;
}

void TypeIndex::MoveTo(const profile::ProcessTables& old, const StringPool& old_strings,
                       StringPool& strings, profile::ProcessTables& tables) {
  // A type may be named once only, by BulkType; ids that were used again belong to their last
  // owner.
  FlatMap index;
  std::vector<uint64_t> hashes{0};
  for (uint32_t i = 1; i < old.types.size(); ++i) {
    const profile::RuntimeType& type = old.types[i];
    if (type.id == 0 || type.raw_name.value == 0 || index_.Find(type.id) != i) continue;
    index.Set(type.id, static_cast<uint32_t>(tables.types.size()));
    tables.types.push_back({type.id, strings.Intern(old_strings.Get(type.raw_name))});
    hashes.push_back(name_hash_[i]);
  }
  index_ = std::move(index);
  name_hash_ = std::move(hashes);
}

bool SizesVary(const clr::TypeRecord& type, std::string_view raw_name) {
  constexpr uint32_t kArray = 8;
  return (type.flags & kArray) != 0 || raw_name == "System.String";
}

}  // namespace clrscope::analysis
