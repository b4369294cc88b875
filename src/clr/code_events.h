// SPDX-License-Identifier: Apache-2.0
// Methods, modules, assemblies and the runtime itself, live and in rundowns.
// Source: dotnet/runtime src/coreclr/vm/ClrEtwAll.man, src/coreclr/vm/eventtrace.cpp
#pragma once

#include "clr/raw_event.h"

namespace clrscope::clr {

namespace method_flags {
inline constexpr uint32_t kDynamic = 1, kGeneric = 2, kShared = 4, kJitted = 8;
inline constexpr uint32_t Tier(uint32_t flags) { return (flags >> 7) & 7; }
inline constexpr uint32_t Extent(uint32_t flags) { return flags >> 28; }
}  // namespace method_flags

// MethodLoad/Unload/DC (141, 142) and their verbose forms (143, 144), V0–V2.
struct MethodRecord {
  uint64_t method_id = 0;
  uint64_t module_id = 0;
  uint64_t start = 0;  // of this extent of the code
  uint32_t size = 0;
  uint32_t token = 0;
  uint32_t flags = 0;
  Utf16View owner;  // "Namespace.Type`1[Args]", empty in the short form
  Utf16View name;
  Utf16View signature;
  uint64_t rejit_id = 0;
};
bool Decode(const RawEvent& event, MethodRecord& out);

// MethodDetails (72): the type arguments of a generic method.
struct MethodDetails {
  uint64_t method_id = 0;
  uint64_t type_id = 0;
  uint32_t token = 0;
  uint64_t loader_module_id = 0;
  uint32_t parameter_count = 0;
  Bytes parameters;  // u64 type ids
};
bool Decode(const RawEvent& event, MethodDetails& out);

// R2RGetEntryPoint (159): precompiled code, at its first use only, without a size.
struct R2rEntryPoint {
  uint64_t method_id = 0;
  Utf16View owner, name, signature;
  uint64_t entry = 0;
};
bool Decode(const RawEvent& event, R2rEntryPoint& out);

// ILToNativeMap (190; 149 and 150 in rundowns).
struct IlToNativeMap {
  uint64_t method_id = 0;
  uint64_t rejit_id = 0;
  uint8_t extent = 0;
  uint16_t count = 0;
  Bytes il_offsets;      // u32 each
  Bytes native_offsets;  // u32 each
};
bool Decode(const RawEvent& event, IlToNativeMap& out);

// ModuleLoad/Unload/DC (152–154) and, with an application domain in between, DomainModule (151).
struct ModuleRecord {
  uint64_t module_id = 0;
  uint64_t assembly_id = 0;
  uint64_t domain_id = 0;
  uint32_t flags = 0;  // 2 = dynamic
  Utf16View il_path;
  Utf16View native_path;
  Bytes pdb_signature;  // 16 bytes; empty before V2
  uint32_t pdb_age = 0;
  Utf16View pdb_path;
};
bool Decode(const RawEvent& event, ModuleRecord& out);

// AssemblyLoad/Unload/DC (154–156).
struct AssemblyRecord {
  uint64_t assembly_id = 0;
  uint64_t domain_id = 0;
  uint32_t flags = 0;
  Utf16View name;  // full display name
};
bool Decode(const RawEvent& event, AssemblyRecord& out);

struct AppDomainRecord {
  uint64_t domain_id = 0;
  uint32_t flags = 0;
  Utf16View name;
};
bool Decode(const RawEvent& event, AppDomainRecord& out);

// RuntimeInformation (187).
struct RuntimeStart {
  uint16_t bcl_version[4] = {};
  uint16_t clr_version[4] = {};
  uint32_t startup_flags = 0;  // 1 concurrent GC, 0x1000 server GC
  Utf16View command_line;
  Utf16View path;
};
bool Decode(const RawEvent& event, RuntimeStart& out);

// Microsoft-DotNETCore-EventPipe ProcessInfo (1).
struct ProcessInfoRecord {
  Utf16View command_line, os, arch;
};
bool Decode(const RawEvent& event, ProcessInfoRecord& out);

}  // namespace clrscope::clr
