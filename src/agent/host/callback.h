// SPDX-License-Identifier: Apache-2.0
// What the runtime calls: translates and delegates, and lets no exception out.
#pragma once

#include <atomic>
#include <memory>

#include "agent/com/deaf_callback.h"
#include "agent/host/agent.h"

namespace clrscope::agent {

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class Callback final : public DeafCallback {
 public:
  Callback() = default;
  virtual ~Callback() = default;

  HResult QueryInterface(const Guid& iid, void** out) override;
  uint32_t AddRef() override;
  uint32_t Release() override;

  HResult Initialize(IUnknown* info) override;
  HResult InitializeForAttach(IUnknown* info, void* client_data, uint32_t size) override;
  HResult ProfilerAttachComplete() override;
  HResult ProfilerDetachSucceeded() override;
  HResult Shutdown() override;
  HResult ModuleUnloadStarted(ModuleId module) override;
  HResult DynamicMethodUnloaded(FunctionId function) override;
  HResult GarbageCollectionFinished() override;
  HResult ObjectAllocated(ObjectId object, ClassId type) override;
  HResult EventPipeEventDelivered(EventPipeProvider provider, uint32_t event_id,
                                  uint32_t event_version, uint32_t metadata_size,
                                  const uint8_t* metadata, uint32_t data_size, const uint8_t* data,
                                  const Guid* activity, const Guid* related_activity,
                                  ThreadId event_thread, uint32_t frame_count,
                                  uintptr_t* frames) override;
  HResult LoadAsNotificationOnly(int32_t* notification_only) override;

 private:
  HResult Load(IUnknown* info, std::string_view options, bool attached);
  // Not in a child of fork(), where its threads are missing.
  bool is_at_work() const;

  std::atomic<uint32_t> references_{1};
  ComPtr<ICorProfilerInfo> info_;
  std::shared_ptr<Agent> agent_;
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::agent
