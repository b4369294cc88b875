// SPDX-License-Identifier: Apache-2.0
#include "agent/testing/fake_runtime.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <span>

#include "agent/testing/call_table.h"
#include "clr/event_table.h"

namespace clrscope::agent {
namespace {

using symbols::Table;

// No vector: its destructor would be registered with the loader at its first use, under the lock
// that a test holds.
constexpr size_t kMostFrames = 16;
thread_local FakeRuntime::Frame t_stack[kMostFrames];
thread_local size_t t_depth = 0;

uint32_t Copy(const std::string& text, uint32_t capacity, char16_t* out) {
  if (capacity == 0) return static_cast<uint32_t>(text.size()) + 1;
  const auto n = static_cast<uint32_t>(std::min<size_t>(text.size(), capacity - 1));
  for (uint32_t i = 0; i < n; ++i) out[i] = static_cast<char16_t>(text[i]);
  out[n] = 0;
  return n + 1;
}

}  // namespace

void FakeRuntime::SetStack(const std::vector<Frame>& stack) {
  t_depth = std::min(stack.size(), kMostFrames);
  std::copy_n(stack.begin(), t_depth, t_stack);
}

void FakeRuntime::AddModule(ModuleId module, uint32_t flags, Bytes image) {
  const std::lock_guard lock(mutex_);
  modules_[module] = {flags, image};
}

void FakeRuntime::AddType(ClassId type, ModuleId module) {
  const std::lock_guard lock(mutex_);
  types_[type] = module;
}

void FakeRuntime::AddMethod(FunctionId method, ModuleId module, bool dynamic, uintptr_t start,
                            size_t size) {
  const std::lock_guard lock(mutex_);
  methods_[method] = {module, dynamic, start, size};
  code_[start] = method;
  freed_code_.erase(start);
}

void FakeRuntime::FreeMethod(FunctionId method) {
  const std::lock_guard lock(mutex_);
  const auto it = methods_.find(method);
  code_.erase(it->second.start);
  freed_code_.insert(it->second.start);
  methods_.erase(it);
}

void FakeRuntime::FreeModule(ModuleId module) {
  const std::lock_guard lock(mutex_);
  modules_.erase(module);
  std::erase_if(types_, [&](const auto& t) { return t.second == module; });
  for (auto it = methods_.begin(); it != methods_.end();) {
    if (it->second.module != module) {
      ++it;
      continue;
    }
    code_.erase(it->second.start);
    freed_code_.insert(it->second.start);
    it = methods_.erase(it);
  }
}

void FakeRuntime::ExpectListedCalls(const Heartbeat* heartbeat) { heartbeat_.store(heartbeat); }

std::string_view FakeRuntime::Where() const {
  static constexpr std::array<std::string_view, 9> kCallbacks = {"",
                                                                 "`Initialize`",
                                                                 "`InitializeForAttach`",
                                                                 "allocation event",
                                                                 "GC event",
                                                                 "other event",
                                                                 "`ObjectAllocated`",
                                                                 "`ModuleUnloadStarted`",
                                                                 "`DynamicMethodUnloaded`"};
  if (Within::callback_ != Callback::kNone)
    return kCallbacks.at(static_cast<size_t>(Within::callback_));
  if (end_thread_.load() == std::this_thread::get_id()) return "the agent's end";
  thread_local std::array<char, 16> t_name{};  // has it before its first call
  if (t_name[0] == 0) (void)::prctl(PR_GET_NAME, t_name.data());
  const std::string_view thread(t_name.data());
  if (thread == "clrscope-events") return "sessions'";
  if (thread != "clrscope-agent") return "a thread of no callback";
  return suspender_.load() == std::this_thread::get_id() ? "agent's while suspended" : "agent's";
}

void FakeRuntime::Called(const char* method) const {
  const Heartbeat* heartbeat = heartbeat_.load();
  if (heartbeat == nullptr) return;
  // Mostly the same one again: a suspension's length decides how soon the next one comes.
  thread_local const char* t_method = nullptr;
  thread_local const char* t_where = nullptr;
  const std::string_view where = Where();
  if (where.starts_with("agent's") && heartbeat->call() != method)
    ADD_FAILURE() << "the heartbeat says \"" << heartbeat->call() << "\" of " << method;
  if (method == t_method && where.data() == t_where) return;
  t_method = method;
  t_where = where.data();
  ExpectInCallTable(method, where);
}

void FakeRuntime::Asked(const char* method) {
  Called(method);
  ++questions_;
  questions_stall.Pass();
}

template <class Map>
const typename Map::mapped_type* FakeRuntime::Find(const Map& map, uintptr_t id) {
  const auto it = map.find(id);
  if (it != map.end()) return &it->second;
  ++asked_of_the_dead_;
  return nullptr;
}

HResult FakeRuntime::GetRuntimeInformation(uint16_t*, int32_t*, uint16_t* major_out, uint16_t*,
                                           uint16_t*, uint16_t*, uint32_t capacity,
                                           uint32_t* length, char16_t* version) {
  Called();
  *major_out = major;
  *length = Copy("10.0", capacity, version);
  return kOk;
}

HResult FakeRuntime::SetEventMask2(uint32_t low, uint32_t) {
  Called();
  mask_low_.store(low);
  return kOk;
}

HResult FakeRuntime::EventPipeStartSession(uint32_t count, EventPipeProviderConfig* providers,
                                           int32_t, EventPipeSession* session) {
  Called();
  {
    const std::lock_guard lock(mutex_);
    session_threads_.insert(std::this_thread::get_id());
  }
  beginning_sessions.Pass();
  if (refuses_sessions.load()) return kFail;
  *session = ++sessions_;
  const std::lock_guard lock(mutex_);
  for (const EventPipeProviderConfig& p : std::span(providers, count))
    if ((p.keywords & clr::keyword::kAllocationSampling) != 0) sampling_sessions_.insert(*session);
  return kOk;
}

HResult FakeRuntime::EventPipeStopSession(EventPipeSession session) {
  Called();
  const std::lock_guard lock(mutex_);
  session_threads_.insert(std::this_thread::get_id());
  sampling_sessions_.erase(session);
  ++sessions_ended_;
  return kOk;
}

HResult FakeRuntime::GetObjectSize2(ObjectId, size_t* size) {
  Called();
  *size = 24;
  return kOk;
}

HResult FakeRuntime::RequestProfilerDetach(uint32_t) {
  Called();
  detached_.store(true);
  return kOk;
}

HResult FakeRuntime::DoStackSnapshot(ThreadId, StackSnapshotCallback* callback, uint32_t,
                                     void* context, uint8_t*, uint32_t) {
  Called();
  for (const Frame& f : std::span(t_stack, t_depth))
    if (callback(f.function, f.ip, 0, 0, nullptr, context) != kOk) return kAbort;
  return kOk;
}

HResult FakeRuntime::CreateHandle(ObjectId, int32_t, ObjectHandle* handle) {
  Called();
  creating_handles.Pass();
  *handle = reinterpret_cast<ObjectHandle>(++handles_ << 4);  // NOLINT
  return kOk;
}

HResult FakeRuntime::DestroyHandle(ObjectHandle) {
  Called();
  ++destroyed_;
  if (Within::callback_ != Callback::kAllocationEvent &&
      suspender_.load() != std::this_thread::get_id())
    ++destroyed_outside_;
  return kOk;
}

HResult FakeRuntime::SuspendRuntime() {
  Called();
  if (refuses_suspensions.load() != 0) {
    --refuses_suspensions;
    return suspension_refusal.load();
  }
  std::thread::id nobody;
  if (!suspender_.compare_exchange_strong(nobody, std::this_thread::get_id()))
    return kSuspensionInProgress;
  ++suspensions_;
  return kOk;
}

HResult FakeRuntime::ResumeRuntime() {
  Called();
  std::thread::id self = std::this_thread::get_id();
  if (!suspender_.compare_exchange_strong(self, {})) return kFail;
  if (resumed) resumed();
  return kOk;
}

HResult FakeRuntime::GetObjectIDFromHandle(ObjectHandle handle, ObjectId* object) {
  Asked();
  *object = reinterpret_cast<ObjectId>(handle);
  return kOk;
}

HResult FakeRuntime::IsArrayClass(ClassId type, uint32_t*, ClassId*, uint32_t*) {
  Asked();
  const std::lock_guard lock(mutex_);
  return Find(types_, type) == nullptr ? kFail : HResult{1};
}

HResult FakeRuntime::GetClassIDInfo2(ClassId type, ModuleId* module, uint32_t* token, ClassId*,
                                     uint32_t, uint32_t* count, ClassId*) {
  Asked();
  const std::lock_guard lock(mutex_);
  const ModuleId* of = Find(types_, type);
  if (of == nullptr) return kFail;
  *module = *of;
  *token = symbols::TokenOf(Table::kTypeDef, static_cast<uint32_t>(type));
  *count = 0;
  return kOk;
}

HResult FakeRuntime::GetModuleInfo2(ModuleId module, const uint8_t** base, uint32_t capacity,
                                    uint32_t* length, char16_t* name, AssemblyId* assembly,
                                    uint32_t* flags) {
  Asked();
  const std::lock_guard lock(mutex_);
  const Module* m = Find(modules_, module);
  if (m == nullptr) return kFail;
  *base = reinterpret_cast<const uint8_t*>(m->image.data());
  *length = Copy("/app/Module" + std::to_string(module) + ".dll", capacity, name);
  *assembly = module;
  *flags = m->flags;
  return kOk;
}

HResult FakeRuntime::GetModuleMetaData(ModuleId module, uint32_t, const Guid&, IUnknown** out) {
  Asked();
  const std::lock_guard lock(mutex_);
  if (Find(modules_, module) == nullptr) return kFail;
  ++metadata_opened_;
  *out = &metadata_;
  return kOk;
}

HResult FakeRuntime::GetFunctionFromIP3(const uint8_t* at, FunctionId* function, ReJitId* rejit) {
  Called();
  const auto ip = reinterpret_cast<uintptr_t>(at);
  ++looked_up_;
  const bool outside = Within::callback_ != Callback::kModuleUnloadStarted &&
                       Within::callback_ != Callback::kDynamicMethodUnloaded &&
                       suspender_.load() != std::this_thread::get_id();
  if (outside) ++looked_up_outside_;
  const std::lock_guard lock(mutex_);
  *rejit = 0;
  auto next = code_.upper_bound(ip);
  if (next != code_.begin()) {
    const auto& [start, method] = *--next;
    if (ip - start < methods_[method].size) {
      *function = method;
      return kOk;
    }
  }
  // Where code was: the runtime's tables are being taken down there.
  const auto freed = freed_code_.upper_bound(ip);
  if (outside && freed != freed_code_.begin() && ip - *std::prev(freed) < 64) ++asked_of_the_dead_;
  return kFail;
}

HResult FakeRuntime::IsFunctionDynamic(FunctionId function, int32_t* dynamic) {
  Asked();
  const std::lock_guard lock(mutex_);
  const Method* m = Find(methods_, function);
  if (m == nullptr) return kFail;
  *dynamic = m->dynamic ? 1 : 0;
  return kOk;
}

HResult FakeRuntime::GetDynamicFunctionInfo(FunctionId function, ModuleId* module, const uint8_t**,
                                            uint32_t*, uint32_t capacity, uint32_t* length,
                                            char16_t* name) {
  Asked();
  const std::lock_guard lock(mutex_);
  const Method* m = Find(methods_, function);
  if (m == nullptr) return kFail;
  *module = m->module;
  *length = Copy("M" + std::to_string(function), capacity, name);
  return kOk;
}

HResult FakeRuntime::GetNativeCodeStartAddresses(FunctionId function, ReJitId, uint32_t capacity,
                                                 uint32_t* count, uintptr_t* starts) {
  Asked();
  const std::lock_guard lock(mutex_);
  const Method* m = Find(methods_, function);
  if (m == nullptr) return kFail;
  *count = has_code.load() ? 1 : capacity;  // more than there is room for: nobody reads its code
  if (has_code.load()) *starts = m->start;
  return kOk;
}

HResult FakeRuntime::GetReJITIDs(FunctionId function, uint32_t, uint32_t* count, ReJitId*) {
  Asked();
  const std::lock_guard lock(mutex_);
  *count = 0;
  return Find(methods_, function) == nullptr ? kFail : kOk;
}

HResult FakeRuntime::GetILFunctionBody(ModuleId module, uint32_t, const uint8_t** body,
                                       uint32_t* size) {
  Asked();
  static constexpr uint8_t kTiny[] = {0x06, 0x2a};  // ret
  const std::lock_guard lock(mutex_);
  if (Find(modules_, module) == nullptr) return kFail;
  *body = kTiny;
  *size = sizeof kTiny;
  return kOk;
}

HResult FakeRuntime::GetFunctionInfo2(FunctionId function, FrameInfo, ClassId* type,
                                      ModuleId* module, uint32_t* token, uint32_t, uint32_t* count,
                                      ClassId*) {
  Asked();
  const std::lock_guard lock(mutex_);
  const Method* m = Find(methods_, function);
  if (m == nullptr) return kFail;
  *type = 0;
  *module = m->module;
  *token = symbols::TokenOf(Table::kMethodDef, static_cast<uint32_t>(function));
  *count = 0;
  return kOk;
}

uint32_t FakeRuntime::Metadata::Release() {
  Called(__func__);
  ++runtime_.metadata_released_;
  return 1;
}

HResult FakeRuntime::Metadata::GetScopeProps(char16_t* name, uint32_t capacity, uint32_t* length,
                                             Guid* mvid) {
  runtime_.Asked();
  *mvid = kUnknownIid;
  *length = Copy("Module.dll", capacity, name);
  return kOk;
}

HResult FakeRuntime::Metadata::GetTypeDefProps(uint32_t token, char16_t* name, uint32_t capacity,
                                               uint32_t* length, uint32_t* flags, uint32_t*) {
  runtime_.Asked();
  *flags = 1;
  *length = Copy("T" + std::to_string(symbols::RowOf(token)), capacity, name);
  return kOk;
}

HResult FakeRuntime::Metadata::GetMethodProps(uint32_t token, uint32_t* owner, char16_t* name,
                                              uint32_t capacity, uint32_t* length, uint32_t*,
                                              const uint8_t** signature, uint32_t* signature_size,
                                              uint32_t*, uint32_t*) {
  runtime_.Asked();
  *owner = symbols::TokenOf(Table::kTypeDef, 1);
  *signature = nullptr;
  *signature_size = 0;
  *length = Copy("M" + std::to_string(symbols::RowOf(token)), capacity, name);
  return kOk;
}

}  // namespace clrscope::agent
