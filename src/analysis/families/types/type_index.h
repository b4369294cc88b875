// SPDX-License-Identifier: Apache-2.0
// The types of a process by the runtime's ids, which are addresses: that of a type that was
// unloaded may become another's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "base/hash_bytes.h"
#include "base/string_pool.h"
#include "base/utf.h"
#include "clr/alloc_events.h"
#include "profile/tables/process_tables.h"

namespace clrscope::analysis {

class TypeIndex {
 public:
  // The index into `tables.types` of the type that has the id now; a new one where none had it.
  //   name: may be empty; the first that is told stays
  //   reused: set where another type had the id before
  uint32_t Find(uint64_t id, Utf16View name, StringPool& strings, profile::ProcessTables& tables,
                bool* reused) {
    const uint32_t type = index_.Find(id);
    const uint64_t hash = HashName(name);
    if (type != FlatMap::kNone && (hash == 0 || name_hash_[type] == hash)) return type;
    return FindSlow(type, id, hash, name, strings, tables, reused);
  }
  // Types without an id were added to `tables`.
  void NoteAdded(const profile::ProcessTables& tables) { name_hash_.resize(tables.types.size()); }
  // Goes on in other tables, which get the types that are named.
  void MoveTo(const profile::ProcessTables& old, const StringPool& old_strings, StringPool& strings,
              profile::ProcessTables& tables);

 private:
  // 0 = no name.
  static uint64_t HashName(Utf16View name) {
    return name.empty() ? 0 : HashBytes(name.bytes()) | 1;
  }
  uint32_t FindSlow(uint32_t type, uint64_t id, uint64_t hash, Utf16View name, StringPool& strings,
                    profile::ProcessTables& tables, bool* reused);

  FlatMap index_;  // id → type
  std::vector<uint64_t> name_hash_{0};
  std::string scratch_;
};

// Whether its objects have different sizes.
bool SizesVary(const clr::TypeRecord& type, std::string_view raw_name);

}  // namespace clrscope::analysis
