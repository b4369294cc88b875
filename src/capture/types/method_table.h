// SPDX-License-Identifier: Apache-2.0
// Where a type is defined, by what the runtime keeps of it: a type's id in events is the address of
// its MethodTable.
// Source: dotnet/runtime src/coreclr/vm/methodtable.h and docs/design/datacontracts/
// RuntimeTypeSystem.md; offsets checked on .NET 8.0.33, 9.0.22 and 10.0.12, x64.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/kernel/process_memory.h"

namespace clrscope::capture {

// Another layout, or memory that is something else by now, gives any numbers: whether they are a
// module and a type of its is for who asks to check.
struct DefinedAt {
  uint64_t module = 0;  // its id in events
  uint32_t token = 0;   // a TypeDef
  bool operator==(const DefinedAt&) const = default;
};

// Of an array what its elements are, or theirs. `clr_major`: of the runtime, 8 or later. Nothing:
// it cannot be read, or it is no array of types but of pointers.
std::optional<DefinedAt> ReadDefinition(ProcessMemory& memory, uint64_t type_id, int clr_major);

}  // namespace clrscope::capture
