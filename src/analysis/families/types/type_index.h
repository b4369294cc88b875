// SPDX-License-Identifier: Apache-2.0
// The types of a process by the runtime's ids, which are addresses: that of a type that was
// unloaded may become another's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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
  void NoteAdded(const StringPool& strings, const profile::ProcessTables& tables);
  // Goes on in other tables, which get the types that are named.
  void MoveTo(const profile::ProcessTables& old, const StringPool& old_strings, StringPool& strings,
              profile::ProcessTables& tables);

  // Types whose names may lack their owners, which nobody has told yet; indexes into
  // `tables.types`.
  const std::vector<uint32_t>& bare() const { return bare_; }
  // What has been found out of some of them: the owner is written before the name, "" where there
  // is none or where it cannot be known.
  struct Owner {
    uint32_t type = 0;
    std::string text;  // "Shop.Box`1+"
  };
  void SetOwners(std::span<const Owner> owners, StringPool& strings,
                 profile::ProcessTables& tables);

  // Where a type is defined, as BulkType says. Of an array: its component's component …
  struct Definition {
    uint64_t module = 0;
    uint32_t token = 0;
  };
  void Define(const clr::TypeRecord& record);
  std::optional<Definition> DefinitionOf(uint64_t id) const;

 private:
  // 0 = no name.
  static uint64_t HashName(Utf16View name) {
    return name.empty() ? 0 : HashBytes(name.bytes()) | 1;
  }
  uint32_t FindSlow(uint32_t type, uint64_t id, uint64_t hash, Utf16View name, StringPool& strings,
                    profile::ProcessTables& tables, bool* reused);

  // Of an array the token is 0, and the module is its component's id.
  static constexpr uint32_t kNoToken = 0;
  void NoteName(uint32_t type, std::string_view raw_name);

  FlatMap index_;  // id → type
  std::vector<uint64_t> name_hash_{0};
  std::vector<uint32_t> bare_;
  FlatMap defined_;  // id → definition
  std::vector<Definition> definitions_;
  std::string scratch_;
};

// Whether its objects have different sizes.
bool SizesVary(const clr::TypeRecord& type, std::string_view raw_name);

}  // namespace clrscope::analysis
