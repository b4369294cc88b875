// SPDX-License-Identifier: Apache-2.0
// The nested types of modules' files, read once for all processes that have loaded the same file.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/guid.h"
#include "symbol_files/module_files.h"
#include "symbols/metadata/nested_types.h"

namespace clrscope::symbol_files {

struct ModuleTypes {
  symbols::NestedTypes types;
  std::vector<Guid> pdbs;  // that the file says are its own
};

class ModuleTypesCache {
 public:
  // Whether the file's types are known, or that they cannot be: then Of() reads nothing.
  bool Knows(const ModuleFileId& id) const;
  // Null: it is no assembly, or cannot be read. Any thread; a file is read by one of them.
  std::shared_ptr<const ModuleTypes> Of(const ModuleFile& file);

  // Those that are more than this together are forgotten here; who has asked goes on with his.
  static constexpr size_t kMostBytes = size_t{64} << 20;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::map<ModuleFileId, std::shared_ptr<const ModuleTypes>> known_;
  size_t bytes_ = 0;
};

}  // namespace clrscope::symbol_files
