// SPDX-License-Identifier: Apache-2.0
// Names in one module's metadata, asked for as they are needed: nothing of it is kept, so that it
// may be unloaded. On the agent's thread, within a question to the lookup gate.
#pragma once

#include <cstdint>
#include <string>

#include "agent/com/corprof.h"
#include "base/com/metadata.h"

namespace clrscope::agent {

// "Shop.Cart", "Outer`1+Inner": what a module calls a type that it defines; "" when it is not
// there.
std::string TypeDefinitionName(IMetaDataImport* metadata, uint32_t token);

class TypeNames {
 public:
  TypeNames(ICorProfilerInfo* info, ModuleId module);
  std::string Type(uint32_t token) const { return TypeDefinitionName(metadata_.get(), token); }
  std::string Field(uint32_t token) const;
  uint32_t OwnerOf(uint32_t method) const;  // 0: not known
  bool IsValueType(uint32_t token) const;

 private:
  ComPtr<IMetaDataImport> metadata_;
};

}  // namespace clrscope::agent
