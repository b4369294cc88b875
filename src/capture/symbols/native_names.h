// SPDX-License-Identifier: Apache-2.0
// The functions of native code, by the addresses of a process's stacks: which file each address
// lies in, and what that file's symbols say. Files may be read elsewhere than where the tables are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/string_pool.h"
#include "profile/tables/process_tables.h"
#include "symbol_files/native_symbols.h"

namespace clrscope::capture {

// Addresses of one mapped file that have no name yet.
struct NativeQuery {
  symbol_files::MappedFile file;
  uint64_t start = 0;  // where it is mapped
  struct Address {
    uint32_t index = 0;   // in the tree of stacks
    uint64_t offset = 0;  // in the file
  };
  std::vector<Address> addresses;
};

struct NativeName {
  uint32_t index = 0;
  std::string name;  // as people write it
};

// Of these addresses those that lie in mapped files and belong to no method. `elsewhere` receives
// those that are in nothing that is known yet.
std::vector<NativeQuery> QueriesOf(const profile::ProcessTables& tables, const StringPool& strings,
                                   std::span<const uint32_t> addresses,
                                   std::vector<uint32_t>* elsewhere);

// Those that have one.
std::vector<NativeName> NamesOf(const NativeQuery& query, const symbol_files::FileRoot& root,
                                symbol_files::NativeSymbols& symbols);

void SetNames(std::span<const NativeName> names, profile::ProcessTables& tables,
              StringPool& strings);

// Names what a recording left without one, by files of this machine, of their build alone.
void NameNatives(profile::ProcessTables& tables, StringPool& strings,
                 symbol_files::NativeSymbols& symbols);

}  // namespace clrscope::capture
