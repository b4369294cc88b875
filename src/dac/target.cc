// SPDX-License-Identifier: Apache-2.0
#include "dac/target.h"

#include <cstring>
#include <string_view>

#include "dac/com/context.h"
#include "dac/guarded.h"

namespace clrscope::dac {

HResult Target::QueryInterface(const Guid& iid, void** out) {
  if (iid == kUnknownIid || iid == kDataTargetIid) {
    *out = static_cast<ICLRDataTarget*>(this);
  } else if (iid == kRuntimeLocatorIid) {
    *out = static_cast<ICLRRuntimeLocator*>(this);
  } else {
    *out = nullptr;
    return kNoInterface;
  }
  return kOk;
}

HResult Target::GetMachineType(uint32_t* machine) {
  *machine = kMachineAmd64;
  return kOk;
}

HResult Target::GetPointerSize(uint32_t* size) {
  *size = 8;
  return kOk;
}

HResult Target::GetImageBase(const char16_t* path, Address* base) {
  *base = 0;
  if (std::u16string_view(path).find(u"libcoreclr") == std::u16string_view::npos) return kFail;
  *base = runtime_base_;
  return kOk;
}

HResult Target::GetRuntimeBase(Address* base) {
  *base = runtime_base_;
  return kOk;
}

HResult Target::ReadVirtual(Address address, uint8_t* buffer, uint32_t size, uint32_t* read) {
  const OurCode asks;  // half an answer must not stay in the socket
  if (Overdue()) return kFail;
  *read = remote_.Read(address, buffer, size);
  return *read > 0 || size == 0 ? kOk : kFail;
}

HResult Target::GetThreadContext(uint32_t thread, uint32_t flags, uint32_t size, uint8_t* context) {
  const ThreadRegisters* r = remote_.RegistersOf(thread);
  if (r == nullptr || r->have == ThreadRegisters::kNothing || size < kContextUsedBytes)
    return kFail;
  std::memset(context, 0, size);
  WriteContext(*r, flags, context);
  return kOk;
}

}  // namespace clrscope::dac
