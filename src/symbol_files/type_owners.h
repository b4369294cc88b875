// SPDX-License-Identifier: Apache-2.0
// The owners of a process's nested types, which the runtime's events leave out of names: by the
// metadata of the modules that it has loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "clr/type_name.h"
#include "symbol_files/module_files.h"
#include "symbol_files/module_types.h"

namespace clrscope::symbol_files {

// As ModuleLoad tells it.
struct LoadedModule {
  uint64_t id = 0;
  std::string path;  // of a module without a file its name, or ""
  std::string pdb;   // the GUID of its PDB in hex, as its bytes lie; "": it was not told
  bool operator==(const LoadedModule&) const = default;
};

// One thread at a time.
class TypeOwners {
 public:
  TypeOwners(ModuleFiles files, std::shared_ptr<ModuleTypesCache> cache)
      : files_(std::move(files)), cache_(std::move(cache)) {}

  // Reads nothing. An id that is told again is another module's from now on, if it is another one.
  void Add(LoadedModule module);

  // The owner as it is written before the name, "Shop.Box`1+"; "": the type has none. Nothing: it
  // cannot be told. Both read the files that they need and that nobody has read.

  // Of the type that the module defines by that token, which bears the name.
  std::optional<std::string> Of(uint64_t module, symbols::Token type_def,
                                const clr::BareName& name);
  // Of the one type of all modules that may be meant. Of several types with different owners, or
  // where a module's types are not known, it cannot be told.
  std::optional<std::string> OfName(const clr::BareName& name);

  // Of the modules' types, what is shared with other processes included.
  size_t memory_bytes() const;

 private:
  struct Module {
    LoadedModule loaded;
    bool read = false;
    std::shared_ptr<const ModuleTypes> types;  // null: they are not known
  };
  // More than any program loads; what comes beyond is not known.
  static constexpr size_t kMostModules = 10'000;
  static constexpr uint64_t kMostFileBytes = uint64_t{4} << 30;

  void Read(Module& module);

  ModuleFiles files_;
  std::shared_ptr<ModuleTypesCache> cache_;
  std::vector<Module> modules_;
  std::unordered_map<uint64_t, size_t> by_id_;
  bool too_many_ = false;
  uint64_t file_bytes_ = 0;  // of what was read
};

}  // namespace clrscope::symbol_files
