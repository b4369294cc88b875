// SPDX-License-Identifier: Apache-2.0
// A runtime of types and methods that come and go. Whoever asks about what is not there has read
// freed memory, in a real one: it is counted.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "agent/com/corprof.h"
#include "agent/host/heartbeat.h"
#include "agent/stacks/module_metadata.h"
#include "agent/testing/deaf_info.h"
#include "agent/testing/deaf_metadata.h"

namespace clrscope::agent {

// Something that can be held up, and waits for it to be.
class Stall {
 public:
  // By whoever is to be held up.
  void Pass() {
    std::unique_lock lock(mutex_);
    if (!closed_ || (passes_ != 0 && passes_-- != 0)) return;
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !closed_ || passes_ != 0; });
    if (closed_) --passes_;
    --waiting_;
  }
  // So many still pass.
  void Close(uint64_t passes = 0) {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    passes_ = passes;
  }
  void LetOnePass() {
    const std::lock_guard lock(mutex_);
    ++passes_;
    changed_.notify_all();
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }
  // Until somebody is held up. False: nobody was for so long.
  bool Await(std::chrono::seconds patience = std::chrono::seconds(60)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return waiting_ != 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  uint64_t passes_ = 0;
  int waiting_ = 0;
};

class FakeRuntime final : public DeafInfo {
 public:
  struct Frame {
    FunctionId function;
    uintptr_t ip;
  };

  // Ids are the test's. A type's name is "T" and its id; a method's "M" and its id.
  // Tokens have the ids for rows: of the image, which is flat, if the module has one. `flags`:
  // COR_PRF_MODULE_FLAGS.
  void AddModule(ModuleId module, uint32_t flags, Bytes image = {});
  void AddType(ClassId type, ModuleId module);
  void AddMethod(FunctionId method, ModuleId module, bool dynamic, uintptr_t start, size_t size);
  // Where methods begin, there is code that can be read.
  std::atomic<bool> has_code{false};
  // The module and all of it, or the one method, is freed.
  void FreeModule(ModuleId module);
  void FreeMethod(FunctionId method);

  // What snapshots of the calling thread's stack tell, leaf first. The runtime's leave dynamic
  // methods out.
  static void SetStack(const std::vector<Frame>& stack);

  uint64_t asked_of_the_dead() const { return asked_of_the_dead_.load(); }
  uint64_t questions() const { return questions_.load(); }  // of the agent's thread
  uint64_t sessions() const { return sessions_.load(); }    // that were begun
  uint64_t sessions_ended() const { return sessions_ended_.load(); }
  // A session is open that has AllocationSampled. A runtime fires it for no other; tests fire it
  // themselves.
  bool samples_allocations() {
    const std::lock_guard lock(mutex_);
    return !sampling_sessions_.empty();
  }
  // On how many threads sessions were begun and ended.
  size_t session_threads() {
    const std::lock_guard lock(mutex_);
    return session_threads_.size();
  }
  uint32_t mask_low() const { return mask_low_.load(); }
  bool detached() const { return detached_.load(); }
  uint64_t handles() const { return handles_.load(); }  // that were made
  uint64_t destroyed() const { return destroyed_.load(); }
  // … on a thread that neither delivers an allocation nor has the runtime suspended.
  uint64_t destroyed_outside() const { return destroyed_outside_.load(); }
  uint64_t metadata_opened() const { return metadata_opened_.load(); }  // by GetModuleMetaData
  uint64_t metadata_released() const { return metadata_released_.load(); }
  uint64_t suspensions() const { return suspensions_.load(); }
  uint64_t looked_up() const { return looked_up_.load(); }  // code by its address
  // … on a thread that neither unloads nor has the runtime suspended.
  uint64_t looked_up_outside() const { return looked_up_outside_.load(); }
  bool suspended() const { return suspender_.load() != std::thread::id(); }

  // On a thread of the runtime's or the program's, around a callback.
  enum class Callback : uint8_t {
    kNone,
    kInitialize,
    kInitializeForAttach,
    kAllocationEvent,
    kGcEvent,
    kOtherEvent,
    kObjectAllocated,
    kModuleUnloadStarted,
    kDynamicMethodUnloaded
  };
  class Within {
   public:
    explicit Within(Callback callback) { callback_ = callback; }
    ~Within() { callback_ = Callback::kNone; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    friend class FakeRuntime;
    static inline thread_local Callback callback_ = Callback::kNone;
  };

  // Each call from now on is to be one that docs/agent.md lists. Those of the agent's thread are to
  // be in its heartbeat, which is borrowed.
  void ExpectListedCalls(const Heartbeat* heartbeat);
  // The calling thread gives back the last reference to the agent.
  void EndsHere() { end_thread_.store(std::this_thread::get_id()); }

  std::atomic<bool> refuses_sessions{false};
  // On the thread that resumes the runtime, once it runs.
  std::function<void()> resumed;
  // Suspensions that are refused from now on, as somebody else's is in progress.
  std::atomic<uint64_t> refuses_suspensions{0};
  std::atomic<HResult> suspension_refusal{kSuspensionInProgress};  // with what
  std::atomic<uint16_t> major{10};
  Stall creating_handles;  // on the program's threads
  Stall questions_stall;   // each of them
  Stall beginning_sessions;

  // NOLINTBEGIN(readability-identifier-naming): the runtime's names
  HResult GetRuntimeInformation(uint16_t* instance, int32_t* kind, uint16_t* major_out,
                                uint16_t* minor, uint16_t* build, uint16_t* qfe, uint32_t capacity,
                                uint32_t* length, char16_t* version) override;
  HResult SetEventMask2(uint32_t low, uint32_t high) override;
  HResult EventPipeStartSession(uint32_t count, EventPipeProviderConfig* providers, int32_t rundown,
                                EventPipeSession* session) override;
  HResult EventPipeStopSession(EventPipeSession session) override;
  HResult GetObjectSize2(ObjectId object, size_t* size) override;
  HResult RequestProfilerDetach(uint32_t expected_ms) override;
  HResult DoStackSnapshot(ThreadId thread, StackSnapshotCallback* callback, uint32_t flags,
                          void* context, uint8_t* registers, uint32_t registers_size) override;
  HResult SuspendRuntime() override;
  HResult ResumeRuntime() override;
  HResult CreateHandle(ObjectId object, int32_t kind, ObjectHandle* handle) override;
  HResult DestroyHandle(ObjectHandle handle) override;
  HResult GetObjectIDFromHandle(ObjectHandle handle, ObjectId* object) override;
  HResult IsArrayClass(ClassId type, uint32_t* element_kind, ClassId* element,
                       uint32_t* rank) override;
  HResult GetClassIDInfo2(ClassId type, ModuleId* module, uint32_t* token, ClassId* parent,
                          uint32_t capacity, uint32_t* count, ClassId* arguments) override;
  HResult GetModuleInfo2(ModuleId module, const uint8_t** base, uint32_t capacity, uint32_t* length,
                         char16_t* name, AssemblyId* assembly, uint32_t* flags) override;
  HResult GetModuleMetaData(ModuleId module, uint32_t open_flags, const Guid& iid,
                            IUnknown** out) override;
  HResult GetFunctionFromIP3(const uint8_t* ip, FunctionId* function, ReJitId* rejit) override;
  HResult IsFunctionDynamic(FunctionId function, int32_t* dynamic) override;
  HResult GetDynamicFunctionInfo(FunctionId function, ModuleId* module, const uint8_t** signature,
                                 uint32_t* signature_size, uint32_t capacity, uint32_t* length,
                                 char16_t* name) override;
  HResult GetNativeCodeStartAddresses(FunctionId function, ReJitId rejit, uint32_t capacity,
                                      uint32_t* count, uintptr_t* starts) override;
  HResult GetReJITIDs(FunctionId function, uint32_t capacity, uint32_t* count,
                      ReJitId* ids) override;
  HResult GetILFunctionBody(ModuleId module, uint32_t token, const uint8_t** body,
                            uint32_t* size) override;
  HResult GetFunctionInfo2(FunctionId function, FrameInfo frame, ClassId* type, ModuleId* module,
                           uint32_t* token, uint32_t capacity, uint32_t* count,
                           ClassId* arguments) override;
  // NOLINTEND(readability-identifier-naming)

 private:
  // Names follow from tokens, which are ids.
  class Metadata final : public DeafMetadata {
   public:
    explicit Metadata(FakeRuntime& runtime) : runtime_(runtime) {}
    // NOLINTBEGIN(readability-identifier-naming)
    uint32_t Release() override;
    HResult GetScopeProps(char16_t* name, uint32_t capacity, uint32_t* length, Guid* mvid) override;
    HResult GetTypeDefProps(uint32_t token, char16_t* name, uint32_t capacity, uint32_t* length,
                            uint32_t* flags, uint32_t* extends) override;
    HResult GetMethodProps(uint32_t token, uint32_t* owner, char16_t* name, uint32_t capacity,
                           uint32_t* length, uint32_t* attributes, const uint8_t** signature,
                           uint32_t* signature_size, uint32_t* rva, uint32_t* impl_flags) override;
    // NOLINTEND(readability-identifier-naming)
   private:
    void Called(const char* method) const override { runtime_.Called(method); }
    FakeRuntime& runtime_;
  };
  struct Module {
    uint32_t flags = 0;
    Bytes image;
  };
  struct Method {
    ModuleId module = 0;
    bool dynamic = false;
    uintptr_t start = 0;
    size_t size = 0;
  };
  // At the beginning of each method, which is the calling function.
  void Called(const char* method = __builtin_FUNCTION()) const override;
  void Asked(const char* method = __builtin_FUNCTION());  // of each that asks about something
  std::string_view Where() const;                         // the calling thread is
  // Looks it up; counts it where it is not there.
  template <class Map>
  const typename Map::mapped_type* Find(const Map& map, uintptr_t id);

  std::mutex mutex_;
  std::map<ModuleId, Module> modules_;
  std::map<ClassId, ModuleId> types_;
  std::map<FunctionId, Method> methods_;
  std::map<uintptr_t, FunctionId> code_;
  std::set<uintptr_t> freed_code_;  // starts
  std::set<std::thread::id> session_threads_;
  std::set<EventPipeSession> sampling_sessions_;
  Metadata metadata_{*this};
  std::atomic<std::thread::id> suspender_{}, end_thread_{};
  std::atomic<const Heartbeat*> heartbeat_{nullptr};  // null: any call will do
  std::atomic<uint64_t> asked_of_the_dead_{0}, questions_{0}, sessions_{0}, sessions_ended_{0},
      handles_{0}, destroyed_{0}, destroyed_outside_{0}, suspensions_{0}, metadata_opened_{0},
      metadata_released_{0}, looked_up_{0}, looked_up_outside_{0};
  std::atomic<uint32_t> mask_low_{0};
  std::atomic<bool> detached_{false};
};

}  // namespace clrscope::agent
