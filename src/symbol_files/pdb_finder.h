// SPDX-License-Identifier: Apache-2.0
// Where the portable PDB of a module is: in the module, beside it, where the compiler put it, or in
// a folder that somebody named. Only that of the same build counts.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/guid.h"
#include "base/result.h"
#include "symbol_files/module_files.h"
#include "symbols/pe/pe_image.h"

namespace clrscope::symbol_files {

class PdbFinder {
 public:
  // Asked last: the bytes of "name.pdb" of that id.
  using Server = std::function<Result<std::vector<std::byte>>(std::string_view name, const Guid&)>;

  // `files`: as the module's process sees them, and must outlive this. `folders` are of this
  // machine.
  PdbFinder(const ModuleFiles* files, std::vector<std::string> folders)
      : files_(*files), folders_(std::move(folders)) {}
  void Ask(Server server) { server_ = std::move(server); }

  struct Found {
    std::vector<std::byte> bytes;
    std::string where;  // a path, or "in the module"
  };
  // `module`: its path. `guid`: what the runtime says that its PDB has; all zero where it does not.
  // `image`: the module itself, null where it is not at hand; one of the two must be.
  // errors: kNotFound, its message a sentence: no PDB, one of another build only, or a Windows PDB
  Result<Found> Find(std::string_view module, const Guid& guid,
                     const symbols::PeImage* image) const;

 private:
  const ModuleFiles& files_;
  std::vector<std::string> folders_;
  Server server_;
};

}  // namespace clrscope::symbol_files
