// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/types/type_index.h"

#include <utility>

#include "analysis/families/intern_utf16.h"
#include "clr/type_name.h"

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
    NoteName(type, strings.Get(tables.types[type].raw_name));
  }
  return type;
}

void TypeIndex::NoteName(uint32_t type, std::string_view raw_name) {
  if (clr::BareNameOf(raw_name)) bare_.push_back(type);
}

void TypeIndex::NoteAdded(const StringPool& strings, const profile::ProcessTables& tables) {
  for (size_t i = name_hash_.size(); i < tables.types.size(); ++i)
    NoteName(static_cast<uint32_t>(i), strings.Get(tables.types[i].raw_name));
  name_hash_.resize(tables.types.size());
}

void TypeIndex::SetOwners(std::span<const Owner> owners, StringPool& strings,
                          profile::ProcessTables& tables) {
  std::vector<bool> told(tables.types.size());
  for (const Owner& owner : owners) {
    if (owner.type >= told.size()) continue;
    told[owner.type] = true;
    if (owner.text.empty()) continue;
    StringId& name = tables.types[owner.type].raw_name;
    scratch_ = owner.text;
    scratch_ += strings.Get(name);
    name = strings.Intern(scratch_);
    ++tables.types_renamed;
  }
  std::erase_if(bare_, [&](uint32_t type) { return told[type]; });
}

void TypeIndex::Define(const clr::TypeRecord& record) {
  Definition definition{record.module_id, record.token};
  if ((record.flags & clr::kArrayType) != 0) {
    if (record.parameter_count != 1) return;
    definition = {LoadAt<uint64_t>(record.parameters.data()), kNoToken};
  } else if (record.token == kNoToken) {
    return;
  }
  const uint32_t known = defined_.Find(record.type_id);
  if (known != FlatMap::kNone) {
    definitions_[known] = definition;
    return;
  }
  defined_.Set(record.type_id, static_cast<uint32_t>(definitions_.size()));
  definitions_.push_back(definition);
}

std::optional<TypeIndex::Definition> TypeIndex::DefinitionOf(uint64_t id) const {
  constexpr int kMostRanks = 32;  // arrays of arrays; more are damaged
  for (int i = 0; i < kMostRanks; ++i) {
    const uint32_t known = defined_.Find(id);
    if (known == FlatMap::kNone) break;
    if (definitions_[known].token != kNoToken) return definitions_[known];
    id = definitions_[known].module;
  }
  return std::nullopt;
}

void TypeIndex::MoveTo(const profile::ProcessTables& old, const StringPool& old_strings,
                       StringPool& strings, profile::ProcessTables& tables) {
  // A type may be named once only, by BulkType; ids that were used again belong to their last
  // owner.
  FlatMap index;
  std::vector<uint64_t> hashes{0};
  std::vector<bool> was_bare(old.types.size());
  for (const uint32_t type : bare_) was_bare[type] = true;
  bare_.clear();
  for (uint32_t i = 1; i < old.types.size(); ++i) {
    const profile::RuntimeType& type = old.types[i];
    if (type.id == 0 || type.raw_name.value == 0 || index_.Find(type.id) != i) continue;
    const auto moved = static_cast<uint32_t>(tables.types.size());
    if (was_bare[i]) bare_.push_back(moved);
    index.Set(type.id, moved);
    tables.types.push_back({type.id, strings.Intern(old_strings.Get(type.raw_name))});
    hashes.push_back(name_hash_[i]);
  }
  index_ = std::move(index);
  name_hash_ = std::move(hashes);
}

bool SizesVary(const clr::TypeRecord& type, std::string_view raw_name) {
  return (type.flags & clr::kArrayType) != 0 || raw_name == "System.String";
}

}  // namespace clrscope::analysis
