// SPDX-License-Identifier: Apache-2.0
#include "clr/code_events.h"

namespace clrscope::clr {

bool Decode(const RawEvent& event, MethodRecord& out) {
  ByteReader r(event.payload);
  out = {};
  out.method_id = r.U64();
  out.module_id = r.U64();
  out.start = r.U64();
  out.size = r.U32();
  out.token = r.U32();
  out.flags = r.U32();
  if (!r.ok()) return false;
  switch (event.kind->tag) {
    case EventTag::kMethodLoadVerbose:
    case EventTag::kMethodUnloadVerbose:
    case EventTag::kMethodDcEndVerbose:
    case EventTag::kMethodDcStartVerbose:
      out.owner = r.Utf16Z();
      out.name = r.Utf16Z();
      out.signature = r.Utf16Z();
      if (!r.ok()) return false;
      break;
    default:
      break;
  }
  if (event.kind->version >= 2 && r.remaining() >= 10) {
    r.Skip(2);
    out.rejit_id = r.U64();
  }
  return true;
}

bool Decode(const RawEvent& event, MethodDetails& out) {
  ByteReader r(event.payload);
  out.method_id = r.U64();
  out.type_id = r.U64();
  out.token = r.U32();
  out.parameter_count = r.U32();
  out.loader_module_id = r.U64();
  if (out.parameter_count > r.remaining() / 8) return false;
  out.parameters = r.Take(size_t{out.parameter_count} * 8);
  return r.ok();
}

bool Decode(const RawEvent& event, R2rEntryPoint& out) {
  ByteReader r(event.payload);
  out.method_id = r.U64();
  out.owner = r.Utf16Z();
  out.name = r.Utf16Z();
  out.signature = r.Utf16Z();
  out.entry = r.U64();
  return r.ok();
}

bool Decode(const RawEvent& event, IlToNativeMap& out) {
  ByteReader r(event.payload);
  out.method_id = r.U64();
  out.rejit_id = r.U64();
  out.extent = r.U8();
  out.count = r.U16();
  out.il_offsets = r.Take(size_t{out.count} * 4);
  out.native_offsets = r.Take(size_t{out.count} * 4);
  return r.ok();
}

bool Decode(const RawEvent& event, ModuleRecord& out) {
  ByteReader r(event.payload);
  out = {};
  out.module_id = r.U64();
  out.assembly_id = r.U64();
  if (event.kind->tag == EventTag::kDomainModuleLoad) out.domain_id = r.U64();
  out.flags = r.U32();
  r.Skip(4);
  out.il_path = r.Utf16Z();
  out.native_path = r.Utf16Z();
  if (!r.ok()) return false;
  if (event.kind->version >= 2 && event.kind->tag != EventTag::kDomainModuleLoad) {
    r.Skip(2);
    const Bytes signature = r.Take(16);
    const uint32_t age = r.U32();
    const Utf16View path = r.Utf16Z();
    if (r.ok()) {
      out.pdb_signature = signature;
      out.pdb_age = age;
      out.pdb_path = path;
    }
  }
  return true;
}

bool Decode(const RawEvent& event, AssemblyRecord& out) {
  ByteReader r(event.payload);
  out.assembly_id = r.U64();
  out.domain_id = r.U64();
  if (event.kind->version >= 1) r.Skip(8);  // BindingID
  out.flags = r.U32();
  out.name = r.Utf16Z();
  return r.ok();
}

bool Decode(const RawEvent& event, AppDomainRecord& out) {
  ByteReader r(event.payload);
  out.domain_id = r.U64();
  out.flags = r.U32();
  out.name = r.Utf16Z();
  return r.ok();
}

bool Decode(const RawEvent& event, RuntimeStart& out) {
  ByteReader r(event.payload);
  r.Skip(4);  // ClrInstanceID, Sku
  for (uint16_t& v : out.bcl_version) v = r.U16();
  for (uint16_t& v : out.clr_version) v = r.U16();
  out.startup_flags = r.U32();
  r.Skip(1);  // StartupMode
  out.command_line = r.Utf16Z();
  r.Skip(16);
  out.path = r.Utf16Z();
  return r.ok();
}

bool Decode(const RawEvent& event, ProcessInfoRecord& out) {
  ByteReader r(event.payload);
  out.command_line = r.Utf16Z();
  out.os = r.Utf16Z();
  out.arch = r.Utf16Z();
  return r.ok();
}

}  // namespace clrscope::clr
