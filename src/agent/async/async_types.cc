// SPDX-License-Identifier: Apache-2.0
#include "agent/async/async_types.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "agent/async/async_roles.h"
#include "agent/samples/lazy_memory.h"
#include "agent/stacks/module_metadata.h"

namespace clrscope::agent {
namespace {

constexpr int kDeepestBase = 12;
constexpr uint32_t kMostTypeArguments = 16;
constexpr uint32_t kMostFields = 2048;
constexpr uint32_t kLargestOffset = 1u << 20;

struct ClassInfo {
  ModuleId module = 0;
  uint32_t token = 0;
  ClassId parent = 0;
  std::vector<ClassId> arguments;
};

bool AskClass(Lookup& lookup, ClassId type, ClassInfo* out) {
  uint32_t count = 0;
  std::array<ClassId, kMostTypeArguments> arguments{};
  if (!Succeeded(lookup.Ask<&ICorProfilerInfo::GetClassIDInfo2>(type, &out->module, &out->token,
                                                                &out->parent, kMostTypeArguments,
                                                                &count, arguments.data())) ||
      out->module == 0)
    return false;
  out->arguments.assign(arguments.begin(), arguments.begin() + std::min(count, kMostTypeArguments));
  return true;
}

// A method table begins with its flags and sizes (16 bytes), its base's table and its module.
// Source: dotnet/runtime src/coreclr/vm/methodtable.h, release/8.0 to 10.0
struct TableHead {
  uint64_t sizes[2];
  uintptr_t base, module;
};

constexpr std::string_view kBoxName =
    "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1";
constexpr std::string_view kPooledBoxName =
    "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder`1+StateMachineBox`1";
constexpr std::string_view kBlocking[] = {
    "System.Threading.Tasks.Task+SetOnInvokeMres",
    "System.Threading.Tasks.Task+SetOnCountdownMres",
};
constexpr std::string_view kInvokers[] = {
    "System.Threading.ThreadPool+<>c",
    "System.Threading.Tasks.ValueTask`1+ValueTaskSourceAsTask+<>c",
    "System.Threading.Tasks.ValueTask+ValueTaskSourceAsTask+<>c",
};

}  // namespace

AsyncTypes::AsyncTypes(Lookup& lookup, CodeTable& code, int pid)
    : lookup_(lookup), code_(code), memory_(pid), types_(LazyArray<AsyncType>(kMost)) {}

AsyncTypes::~AsyncTypes() { FreeLazy(types_, kMost); }

const AsyncType* AsyncTypes::Of(const CodeTable::Slot& slot) const {
  const uint64_t word = slot.rule.load(std::memory_order_acquire);
  return word == 0 || types_ == nullptr ? nullptr : &types_[word - 1];
}

const AsyncType* AsyncTypes::FindOrAdd(uintptr_t type, uint32_t* frame, bool* pending) const {
  *pending = false;
  const CodeTable::Slot* slot = code_.FindOrAdd(type | kTypeKey);
  if (slot == nullptr) return nullptr;
  *frame = slot->frame.load(std::memory_order_relaxed);
  const AsyncType* known = Of(*slot);
  *pending = known == nullptr;
  return known;
}

const AsyncType* AsyncTypes::Find(uintptr_t type) const {
  const CodeTable::Slot* slot = code_.Find(type | kTypeKey);
  return slot == nullptr ? nullptr : Of(*slot);
}

bool AsyncTypes::IsOfCoreLib(uintptr_t type) const {
  const ModuleId core = core_.load(std::memory_order_acquire);
  if (core == 0) return false;
  for (int depth = 0; depth < kDeepestBase; ++depth) {
    TableHead head;
    if (!IsPlausible(type) || !memory_.Read(type, &head) || head.module != core) return false;
    if (head.base == 0) return depth != 0 || type == object_.load(std::memory_order_relaxed);
    type = head.base;
  }
  return false;
}

bool AsyncTypes::OffsetOf(ClassId type, std::string_view field, uint32_t* offset) const {
  for (int depth = 0; type != 0 && depth < kDeepestBase; ++depth) {
    ClassInfo info;
    if (!AskClass(lookup_, type, &info)) return false;
    uint32_t count = 0, size = 0;
    (void)lookup_.Ask<&ICorProfilerInfo::GetClassLayout>(type, nullptr, 0u, &count, &size);
    std::vector<FieldOffset> fields(std::min(count, kMostFields));
    if (!fields.empty() &&
        Succeeded(lookup_.Ask<&ICorProfilerInfo::GetClassLayout>(
            type, fields.data(), static_cast<uint32_t>(fields.size()), &count, &size))) {
      ModuleMetadata metadata(lookup_, info.module);
      for (const FieldOffset& f : fields) {
        if (f.offset > kLargestOffset || metadata.FieldName(f.token) != field) continue;
        *offset = f.offset;
        return true;
      }
    }
    type = info.parent;
  }
  return false;
}

bool AsyncTypes::Derives(ClassId type, std::string_view base) const {
  for (int depth = 0; type != 0 && depth < kDeepestBase; ++depth) {
    ClassInfo info;
    if (!AskClass(lookup_, type, &info)) return false;
    if (ModuleMetadata(lookup_, info.module).TypeName(info.token) == base) return true;
    type = info.parent;
  }
  return false;
}

bool AsyncTypes::DescribeMachine(ClassId machine, AsyncType* out) const {
  ClassInfo info;
  if (!AskClass(lookup_, machine, &info)) return false;
  out->machine_is_class = !ModuleMetadata(lookup_, info.module).IsValueType(info.token);
  out->machine = AsyncRole::Machine(info.module, info.token, out->machine_is_class);
  if (out->machine_is_class && !OffsetOf(machine, "<>v__promiseOfValueOrEnd", &out->promise_at))
    out->promise_at = 0;
  return out->machine != 0 && OffsetOf(machine, "<>1__state", &out->state_at) &&
         OffsetOf(machine, "<>t__builder", &out->builder_at);
}

bool AsyncTypes::DescribeBox(ClassId type, AsyncType* out, ClassId* machine) const {
  ClassInfo info;
  if (!AskClass(lookup_, type, &info) || info.arguments.empty()) return false;
  *machine = info.arguments.back();
  return OffsetOf(type, "StateMachine", &out->machine_at) && DescribeMachine(*machine, out);
}

AsyncType AsyncTypes::Describe(ClassId type, ClassId* machine) const {
  AsyncType out;
  *machine = 0;
  ClassInfo info;
  uint32_t element_kind = 0, rank = 0;
  ClassId element = 0;
  const auto is = [&](AsyncKind kind, std::string_view field) {
    out.kind = field.empty() || OffsetOf(type, field, &out.next) ? kind : AsyncKind::kOther;
    return out;
  };
  if (lookup_.Ask<&ICorProfilerInfo::IsArrayClass>(type, &element_kind, &element, &rank) == kOk) {
    constexpr uint32_t kObjectElement = 0x1c, kClassElement = 0x12;
    if (rank == 1 && (element_kind == kObjectElement || element_kind == kClassElement))
      out.kind = AsyncKind::kArray;
    return out;
  }
  if (!AskClass(lookup_, type, &info) || info.module != core_.load(std::memory_order_relaxed))
    return out;
  const std::string name = ModuleMetadata(lookup_, info.module).TypeName(info.token);
  if (name == kBoxName || name == kPooledBoxName) {
    const bool pooled = name == kPooledBoxName;
    if (DescribeBox(type, &out, machine) &&
        OffsetOf(type, pooled ? "_valueTaskSource" : "m_continuationObject", &out.next))
      out.kind = pooled ? AsyncKind::kPooledBox : AsyncKind::kBox;
    return out;
  }
  if (name == "System.Object") return is(AsyncKind::kCompleted, "");
  if (name == "System.Action") return is(AsyncKind::kAction, "_target");
  if (name == "System.Action`1") return is(AsyncKind::kObjectAction, "_target");
  if (name == "System.Collections.Generic.List`1") {
    if (!OffsetOf(type, "_size", &out.count)) return out;
    return is(AsyncKind::kList, "_items");
  }
  if (name == "System.Runtime.CompilerServices.AsyncMethodBuilderCore+ContinuationWrapper")
    return is(AsyncKind::kWrapper, "_continuation");
  if (std::find(std::begin(kInvokers), std::end(kInvokers), name) != std::end(kInvokers))
    return is(AsyncKind::kInvoker, "");
  if (std::find(std::begin(kBlocking), std::end(kBlocking), name) != std::end(kBlocking))
    return is(AsyncKind::kBlocked, "");
  if (Derives(type, "System.Threading.Tasks.Task"))
    return is(AsyncKind::kTask, "m_continuationObject");
  if (Derives(type, "System.Threading.Tasks.AwaitTaskContinuation"))
    return is(AsyncKind::kAwait, "m_action");
  if (name == "System.Threading.Tasks.ContinueWithTaskContinuation")
    return is(AsyncKind::kContinueWith, "m_task");
  return out;
}

uint64_t AsyncTypes::WordFor(const AsyncType& type) {
  if (type.kind == AsyncKind::kOther || types_ == nullptr || count_ >= kMost) return 1;
  const auto [known, added] = words_.try_emplace(type, count_ + 1);
  if (added) types_[count_++] = type;
  return known->second;
}

ClassId AsyncTypes::Resolve(uint32_t id) {
  const CodeTable::Frame* f = code_.frame(id);
  if (f == nullptr) return 0;
  const CodeTable::Slot* slot = code_.Find(f->ip);
  if (slot == nullptr || Of(*slot) != nullptr) return 0;
  const auto type = static_cast<ClassId>(f->ip & ~kTypeKey);
  // Should what was seen have been no type at all.
  if (!IsOfCoreLib(type)) {
    code_.SetWord(id, 1);
    return 0;
  }
  ClassId object = object_.load(std::memory_order_relaxed);
  if (object == 0) {
    ClassInfo info;
    for (ClassId base = type; base != 0 && AskClass(lookup_, base, &info); base = info.parent)
      object = base;
  }
  ClassId machine = 0;
  const AsyncType described = Describe(type, &machine);
  if (lookup_.gone()) return 0;
  object_.store(object, std::memory_order_relaxed);
  // The state machine before its box: who knows the box looks for it.
  if (described.machine_is_class && described.kind != AsyncKind::kOther) {
    AsyncType own = described;
    own.kind = AsyncKind::kMachine;
    if (const CodeTable::Slot* s = code_.FindOrAdd(machine | kTypeKey);
        s != nullptr && Of(*s) == nullptr)
      code_.SetWord(s->frame.load(std::memory_order_relaxed), WordFor(own));
  }
  code_.SetWord(id, WordFor(described));
  return described.kind == AsyncKind::kBox || described.kind == AsyncKind::kPooledBox ? machine : 0;
}

void AsyncTypes::Clear() {
  ZeroLazy(types_, kMost);
  count_ = 1;
  words_.clear();
}

}  // namespace clrscope::agent
