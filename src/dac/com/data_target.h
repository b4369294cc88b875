// SPDX-License-Identifier: Apache-2.0
// What we implement for the data access library: its way into the target.
// Source: dotnet/runtime src/coreclr/inc/clrdata.idl
#pragma once

#include "dac/com/address.h"

namespace clrscope::dac {

inline constexpr Guid kDataTargetIid = {
    0x3E11CCEE, 0xD08B, 0x43e5, {0xAF, 0x01, 0x32, 0x71, 0x7A, 0x64, 0xDA, 0x03}};
inline constexpr Guid kRuntimeLocatorIid = {
    0xb760bf44, 0x9377, 0x4597, {0x8b, 0xe7, 0x58, 0x08, 0x3b, 0xdc, 0x51, 0x46}};

inline constexpr uint32_t kMachineAmd64 = 0x8664;

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class ICLRDataTarget : public IUnknown {
 public:
  virtual HResult GetMachineType(uint32_t* machine) = 0;
  virtual HResult GetPointerSize(uint32_t* size) = 0;
  virtual HResult GetImageBase(const char16_t* path, Address* base) = 0;
  virtual HResult ReadVirtual(Address address, uint8_t* buffer, uint32_t size, uint32_t* read) = 0;
  virtual HResult WriteVirtual(Address address, uint8_t* buffer, uint32_t size,
                               uint32_t* written) = 0;
  virtual HResult GetTLSValue(uint32_t thread, uint32_t index, Address* value) = 0;
  virtual HResult SetTLSValue(uint32_t thread, uint32_t index, Address value) = 0;
  virtual HResult GetCurrentThreadID(uint32_t* thread) = 0;
  virtual HResult GetThreadContext(uint32_t thread, uint32_t flags, uint32_t size,
                                   uint8_t* context) = 0;
  virtual HResult SetThreadContext(uint32_t thread, uint32_t size, uint8_t* context) = 0;
  virtual HResult Request(uint32_t code, uint32_t in_size, uint8_t* in, uint32_t out_size,
                          uint8_t* out) = 0;

 protected:
  ~ICLRDataTarget() = default;
};

class ICLRRuntimeLocator : public IUnknown {
 public:
  virtual HResult GetRuntimeBase(Address* base) = 0;

 protected:
  ~ICLRRuntimeLocator() = default;
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::dac
