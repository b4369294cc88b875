// SPDX-License-Identifier: Apache-2.0
// The owners of a process's nested types: by what BulkType or the runtime's memory say of where a
// type is defined, or where one type alone of all loaded modules may be meant.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/kernel/process_memory.h"
#include "capture/types/method_table.h"
#include "clr/type_name.h"
#include "symbol_files/type_owners.h"

namespace clrscope::capture {

// One thread at a time; reads files and memory.
class OwnerFinder {
 public:
  struct Question {
    uint32_t type = 0;  // for who asks
    uint64_t id = 0;    // the runtime's; 0: an event told the type's name alone
    clr::BareName name;
    std::optional<DefinedAt> defined;  // as BulkType says
    // All modules are told that the process had loaded when it first used the type.
    bool by_name = false;
  };

  OwnerFinder(symbol_files::ModuleFiles files,
              std::shared_ptr<symbol_files::ModuleTypesCache> cache,
              std::unique_ptr<ProcessMemory> memory, int clr_major)
      : owners_(std::move(files), std::move(cache)),
        memory_(std::move(memory)),
        clr_major_(clr_major) {}

  void Add(symbol_files::LoadedModule module) { owners_.Add(std::move(module)); }

  // As it is written before the name; "": it has none. Nothing: it is not known, yet.
  std::optional<std::string> Find(const Question& question);

 private:
  symbol_files::TypeOwners owners_;
  std::unique_ptr<ProcessMemory> memory_;
  int clr_major_;
};

}  // namespace clrscope::capture
