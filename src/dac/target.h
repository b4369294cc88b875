// SPDX-License-Identifier: Apache-2.0
// The target as the data access library asks for it: memory and registers of the snapshot.
#pragma once

#include "dac/com/data_target.h"
#include "dac/remote.h"

namespace clrscope::dac {

class Target : public ICLRDataTarget, public ICLRRuntimeLocator {
 public:
  Target(Remote& remote, Address runtime_base) : remote_(remote), runtime_base_(runtime_base) {}

  HResult QueryInterface(const Guid& iid, void** out) override;
  uint32_t AddRef() override { return 2; }  // it lives as long as the process
  uint32_t Release() override { return 1; }

  HResult GetMachineType(uint32_t* machine) override;
  HResult GetPointerSize(uint32_t* size) override;
  HResult GetImageBase(const char16_t* path, Address* base) override;
  HResult ReadVirtual(Address address, uint8_t* buffer, uint32_t size, uint32_t* read) override;
  HResult WriteVirtual(Address, uint8_t*, uint32_t, uint32_t*) override { return kNotImplemented; }
  HResult GetTLSValue(uint32_t, uint32_t, Address*) override { return kNotImplemented; }
  HResult SetTLSValue(uint32_t, uint32_t, Address) override { return kNotImplemented; }
  HResult GetCurrentThreadID(uint32_t*) override { return kNotImplemented; }
  HResult GetThreadContext(uint32_t thread, uint32_t flags, uint32_t size,
                           uint8_t* context) override;
  HResult SetThreadContext(uint32_t, uint32_t, uint8_t*) override { return kNotImplemented; }
  HResult Request(uint32_t, uint32_t, uint8_t*, uint32_t, uint8_t*) override {
    return kNotImplemented;
  }
  HResult GetRuntimeBase(Address* base) override;

 private:
  Remote& remote_;
  Address runtime_base_;
};

}  // namespace clrscope::dac
