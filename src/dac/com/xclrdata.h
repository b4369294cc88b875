// SPDX-License-Identifier: Apache-2.0
// The process, its tasks (threads) and their stack walks, each up to the last method that is used;
// the others only hold their slot. Source: dotnet/runtime src/coreclr/inc/xclrdata.idl
#pragma once

#include "dac/com/address.h"

namespace clrscope::dac {

inline constexpr Guid kProcessIid = {
    0x5c552ab6, 0xfc09, 0x4cb3, {0x8e, 0x36, 0x22, 0xfa, 0x03, 0xc7, 0x98, 0xb7}};

// CLRDATA_SIMPFRAME_*: every kind of frame.
inline constexpr uint32_t kAllFrames = 0xf;
// DACSTACKPRIV_REQUEST_FRAME_DATA: the address of the runtime's explicit Frame, 0 at a method's.
inline constexpr uint32_t kRequestFrameData = 0xf0000000u;

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class IXCLRDataStackWalk : public IUnknown {
 public:
  virtual HResult GetContext(uint32_t flags, uint32_t capacity, uint32_t* size,
                             uint8_t* context) = 0;
  virtual HResult SetContext() = 0;
  virtual HResult Next() = 0;
  virtual HResult GetStackSizeSkipped() = 0;
  virtual HResult GetFrameType() = 0;
  virtual HResult GetFrame() = 0;
  virtual HResult Request(uint32_t code, uint32_t in_size, const uint8_t* in, uint32_t out_size,
                          uint8_t* out) = 0;
};

class IXCLRDataTask : public IUnknown {
 public:
  virtual HResult GetProcess() = 0;
  virtual HResult GetCurrentAppDomain() = 0;
  virtual HResult GetUniqueID() = 0;
  virtual HResult GetFlags() = 0;
  virtual HResult IsSameObject() = 0;
  virtual HResult GetManagedObject() = 0;
  virtual HResult GetDesiredExecutionState() = 0;
  virtual HResult SetDesiredExecutionState() = 0;
  virtual HResult CreateStackWalk(uint32_t flags, IXCLRDataStackWalk** walk) = 0;
};

class IXCLRDataProcess : public IUnknown {
 public:
  virtual HResult Flush() = 0;
  virtual HResult StartEnumTasks() = 0;
  virtual HResult EnumTask() = 0;
  virtual HResult EndEnumTasks() = 0;
  virtual HResult GetTaskByOSThreadID(uint32_t id, IXCLRDataTask** task) = 0;
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::dac
