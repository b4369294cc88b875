// SPDX-License-Identifier: Apache-2.0
// What a module says of its types, methods and fields. On the agent's thread, about what the lookup
// was begun for. All that it returns is a copy.
//
// It is read in place from the module's image. The runtime's own interface, GetModuleMetaData,
// changes the runtime's view of that module to its read/write form, for the rest of the process's
// life: each look of reflection takes a lock from then on. So it is asked only about what has that
// form already: modules of Reflection.Emit, and what hot reload or another profiler added.
// Source: dotnet/runtime src/coreclr/vm/ceeload.cpp, Module::GetRWImporter, release/8.0 to 10.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "agent/com/corprof.h"
#include "agent/host/lookup.h"
#include "base/byte_reader.h"
#include "base/com/metadata.h"
#include "base/guid.h"
#include "symbols/metadata/metadata.h"

namespace clrscope::agent {

// Bits of GetModuleInfo2's flags, COR_PRF_MODULE_FLAGS.
inline constexpr uint32_t kModuleDynamic = 0x4, kModuleCollectible = 0x8, kModuleFlat = 0x20;
// Whether it may be unloaded. A dynamic one does not say.
constexpr bool MayGo(uint32_t module_flags) {
  return (module_flags & (kModuleDynamic | kModuleCollectible)) != 0;
}

class ModuleMetadata {
 public:
  struct Scope {
    std::string name;
    Guid mvid{};
  };
  struct Method {
    std::string name;
    uint32_t owner = 0;                // its TypeDef; 0: unknown
    std::vector<std::byte> signature;  // ECMA-335 §II.23.2.1
  };

  ModuleMetadata() = default;  // of no module: knows nothing
  // `base` and `flags` as GetModuleInfo2 says.
  ModuleMetadata(Lookup& lookup, ModuleId module, const uint8_t* base, uint32_t flags);
  // Asks for them.
  ModuleMetadata(Lookup& lookup, ModuleId module);

  std::optional<Scope> FindScope();
  std::optional<Method> FindMethod(uint32_t token);
  // Of a TypeDef, with its owners: "Shop.Cart", "Outer`1+Inner". "" when it is not there, alike.
  std::string TypeName(uint32_t token);
  // Of a TypeDef or TypeRef, with its namespace and without its owners.
  std::string OwnName(uint32_t token);
  std::string FieldName(uint32_t token);
  std::vector<std::byte> TypeSpec(uint32_t token);
  bool IsValueType(uint32_t type_def);

  // How many modules of this process were changed to their read/write form by agents, as their
  // images could not be read.
  static uint64_t opened_by_runtime();

 private:
  // What stays loaded is read without a question: a page of it may have to come from a disk.
  template <class Read>
  std::invoke_result_t<Read> Look(Read&& read) const {
    return MayGo(flags_) ? lookup_->Look(read) : read();
  }
  template <class Out, class View>
  Out CopyOf(View there) const;
  std::string NameOf(std::string_view type_namespace, std::string_view name) const;
  // The rows that the image lacks were added to the runtime's metadata alone.
  bool IsInImage(symbols::Table table, uint32_t token) const;
  IMetaDataImport* Importer();
  struct TypeDef {
    std::string name;
    uint32_t owner = 0, extends = 0;
  };
  std::optional<TypeDef> FindTypeDef(uint32_t token);

  Lookup* lookup_ = nullptr;
  ModuleId module_ = 0;
  uint32_t flags_ = 0;
  std::unique_ptr<const symbols::Metadata> image_;  // null: it has none that can be read
  // The runtime's importer, and what it reads from, point at each other, and must not be released
  // by two threads at once: it is given back while the module is there, or kept for good.
  // Source: dotnet/runtime src/coreclr/md/compiler/regmeta.cpp, RegMeta::~RegMeta
  struct Releaser {
    Lookup* lookup;
    bool may_go;
    void operator()(IMetaDataImport* importer) const { lookup->GiveBack(*importer, may_go); }
  };
  std::unique_ptr<IMetaDataImport, Releaser> importer_;
};

}  // namespace clrscope::agent
