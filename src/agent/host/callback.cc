// SPDX-License-Identifier: Apache-2.0
#include "agent/host/callback.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "agent/host/forked.h"
#include "agent/host/kept_errno.h"
#include "agent/spool/own_file.h"

namespace clrscope::agent {
namespace {

// IIDs of ICorProfilerCallback2 … 11: one object is all of them.
constexpr Guid kCallbackIids[] = {
    {0x8A8CC829, 0xCCF2, 0x49fe, {0xBB, 0xAE, 0x0F, 0x02, 0x22, 0x28, 0x07, 0x1A}},
    {0x4FD2ED52, 0x7731, 0x4b8d, {0x94, 0x69, 0x03, 0xD2, 0xCC, 0x30, 0x86, 0xC5}},
    {0x7B63B2E3, 0x107D, 0x4d48, {0xB2, 0xF6, 0xF6, 0x1E, 0x22, 0x94, 0x70, 0xD2}},
    {0x8DFBA405, 0x8C9F, 0x45F8, {0xBF, 0xFA, 0x83, 0xB1, 0x4C, 0xEF, 0x78, 0xB5}},
    {0xFC13DF4B, 0x4448, 0x4F4F, {0x95, 0x0C, 0xBA, 0x8D, 0x19, 0xD0, 0x0C, 0x36}},
    {0xF76A2DBA, 0x1D52, 0x4539, {0x86, 0x6C, 0x2A, 0xA5, 0x18, 0xF9, 0xEF, 0xC3}},
    {0x5BED9B15, 0xC079, 0x4D47, {0xBF, 0xE2, 0x21, 0x5A, 0x14, 0x0C, 0x07, 0xE0}},
    {0x27583EC3, 0xC8F5, 0x482F, {0x80, 0x52, 0x19, 0x4B, 0x8C, 0xE4, 0x70, 0x5A}},
    {0xCEC5B60E, 0xC69C, 0x495F, {0x87, 0xF6, 0x84, 0xD2, 0x8E, 0xE1, 0x6F, 0xFB}},
    kCallback11Iid,
};

// Where the call to the agent came from: its own frame, whose caller is the runtime.
__attribute__((always_inline)) inline Registers Here() {
  Registers r;
  __asm__ volatile(
      "lea 0(%%rip), %0\n\t"
      "mov %%rsp, %1\n\t"
      "mov %%rbp, %2\n\t"
      : "=r"(r.ip), "=r"(r.sp), "=r"(r.rbp));
  return r;
}

void Say(const std::string& text) {
  const std::string line = "clrscope agent: " + text + "\n";
  (void)!::write(2, line.data(), line.size());
}

}  // namespace

HResult Callback::QueryInterface(const Guid& iid, void** out) {
  bool known = iid == kUnknownIid;
  for (const Guid& mine : kCallbackIids) known = known || iid == mine;
  *out = known ? static_cast<ICorProfilerCallback*>(this) : nullptr;
  if (!known) return kNoInterface;
  AddRef();
  return kOk;
}

bool Callback::is_at_work() const { return agent_ != nullptr && !IsForkedChild(); }

uint32_t Callback::AddRef() { return references_.fetch_add(1) + 1; }

uint32_t Callback::Release() {
  const uint32_t left = references_.fetch_sub(1) - 1;
  if (left == 0) delete this;
  return left;
}

HResult Callback::Load(IUnknown* info, std::string_view text, bool attached) {
  const KeptErrno kept;
  try {
    Result<Options> options = ParseOptions(text);
    if (!options.ok()) {
      Say(options.error().message + "; nothing is profiled");
      return kCancelActivation;
    }
    void* raw = nullptr;
    if (!Succeeded(info->QueryInterface(kInfo13Iid, &raw)) || raw == nullptr) {
      Say("this runtime is older than .NET 7; nothing is profiled");
      return kCancelActivation;
    }
    info_ = ComPtr<ICorProfilerInfo>(static_cast<ICorProfilerInfo*>(raw));
    agent_ = std::make_shared<Agent>(info_.get(), options.Take(), attached);
    if (const Status s = agent_->Start(); !s.ok()) {
      Say(s.error().message + "; nothing is profiled");
      return kCancelActivation;
    }
    return kOk;
  } catch (...) {
    return kFail;
  }
}

HResult Callback::Initialize(IUnknown* info) {
  const char* options = std::getenv("CLRSCOPE_OPTS");
  return Load(info, options == nullptr ? "" : options, /*attached=*/false);
}

HResult Callback::InitializeForAttach(IUnknown* info, void* client_data, uint32_t size) {
  RemoveOwnFile();
  return Load(info, {static_cast<const char*>(client_data), client_data == nullptr ? 0 : size},
              /*attached=*/true);
}

HResult Callback::ProfilerAttachComplete() {
  const KeptErrno kept;
  if (agent_ != nullptr) agent_->OnAttachComplete();
  return kOk;
}

HResult Callback::ProfilerDetachSucceeded() { return kOk; }

HResult Callback::Shutdown() {
  const KeptErrno kept;
  if (is_at_work()) agent_->OnShutdown();
  return kOk;
}

HResult Callback::ModuleUnloadStarted(ModuleId module) {
  const KeptErrno kept;
  try {
    if (is_at_work()) agent_->OnModuleUnload(module);
  } catch (...) {
    return kFail;
  }
  return kOk;
}

HResult Callback::DynamicMethodUnloaded(FunctionId function) {
  const KeptErrno kept;
  try {
    if (is_at_work()) agent_->OnDynamicUnload(function);
  } catch (...) {
    return kFail;
  }
  return kOk;
}

HResult Callback::GarbageCollectionFinished() {
  if (is_at_work()) agent_->OnGcFinished();
  return kOk;
}

HResult Callback::ObjectAllocated(ObjectId object, ClassId type) {
  if (!is_at_work()) return kOk;
  const KeptErrno kept;
  agent_->OnObjectAllocated(object, type, Here());
  return kOk;
}

HResult Callback::EventPipeEventDelivered(EventPipeProvider, uint32_t event_id,
                                          uint32_t event_version, uint32_t, const uint8_t*,
                                          uint32_t data_size, const uint8_t* data,
                                          const Guid* activity, const Guid*, ThreadId, uint32_t,
                                          uintptr_t*) {
  if (!is_at_work()) return kOk;
  const KeptErrno kept;
  agent_->OnEvent(event_id, event_version, AsBytes(data, data_size), activity, Here());
  return kOk;
}

HResult Callback::LoadAsNotificationOnly(int32_t* notification_only) {
  *notification_only = 0;
  return kOk;
}

}  // namespace clrscope::agent
