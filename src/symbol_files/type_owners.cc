// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/type_owners.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/byte_reader.h"
#include "base/hex.h"

namespace clrscope::symbol_files {
namespace {

// The runtime makes it for methods that belong to no type; it has no types of its own.
constexpr std::string_view kOfDynamicMethods = "Anonymously Hosted DynamicMethods Assembly";

// A file may have been replaced since the process loaded it. One that tells of no PDB, or a module
// that does not, cannot be compared.
bool IsOfBuild(const ModuleTypes& types, const std::string& pdb) {
  return pdb.empty() || types.pdbs.empty() ||
         std::any_of(types.pdbs.begin(), types.pdbs.end(), [&](const Guid& guid) {
           return HexText(AsBytes(&guid, sizeof(guid))) == pdb;
         });
}

}  // namespace

void TypeOwners::Add(LoadedModule module) {
  const auto it = by_id_.find(module.id);
  if (it != by_id_.end()) {
    Module& known = modules_[it->second];
    if (known.loaded != module) known = {std::move(module), false, nullptr};
  } else if (modules_.size() >= kMostModules) {
    too_many_ = true;
  } else {
    by_id_.emplace(module.id, modules_.size());
    modules_.push_back({std::move(module), false, nullptr});
  }
}

void TypeOwners::Read(Module& module) {
  module.read = true;
  const Result<ModuleFile> file = files_.Find(module.loaded.path);
  if (!file.ok() || file->size() > kMostFileBytes - file_bytes_) return;
  file_bytes_ += file->size();
  module.types = cache_->Of(*file);
  if (module.types != nullptr && !IsOfBuild(*module.types, module.loaded.pdb)) module.types.reset();
}

std::optional<std::string> TypeOwners::Of(uint64_t module_id, symbols::Token type_def,
                                          const clr::BareName& name) {
  const auto it = by_id_.find(module_id);
  if (it == by_id_.end()) return std::nullopt;
  Module& module = modules_[it->second];
  if (!module.read) Read(module);
  if (module.types == nullptr || module.types->types.NameOf(type_def) != name.name)
    return std::nullopt;
  return module.types->types.OwnerOf(type_def);
}

std::optional<std::string> TypeOwners::OfName(const clr::BareName& name) {
  if (too_many_) return std::nullopt;
  std::optional<std::string> found;
  for (Module& module : modules_) {
    if (module.loaded.path == kOfDynamicMethods) continue;
    if (!module.read) Read(module);
    if (module.types == nullptr) return std::nullopt;
    const symbols::NestedTypes& types = module.types->types;
    for (const symbols::Token type : types.Find(name.name, name.arguments)) {
      std::string owner = types.OwnerOf(type);
      if (found && *found != owner) return std::nullopt;
      found = std::move(owner);
    }
  }
  return found;
}

size_t TypeOwners::memory_bytes() const {
  size_t bytes = 0;
  for (const Module& module : modules_)
    if (module.types != nullptr) bytes += module.types->types.memory_bytes();
  return bytes;
}

}  // namespace clrscope::symbol_files
