// SPDX-License-Identifier: Apache-2.0
// The types by which async methods wait for each other, and where their fields lie. Found out on
// the agent's thread, by the names of fields; read on the program's threads.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <string_view>

#include "agent/host/lookup.h"
#include "agent/stacks/code_table.h"
#include "agent/stacks/own_reader.h"

namespace clrscope::agent {

enum class AsyncKind : uint8_t {
  kOther,         // of none of these kinds
  kBox,           // AsyncStateMachineBox: a task, and a state machine
  kPooledBox,     // StateMachineBox of pooled ValueTasks
  kTask,          // any other task: it goes on in whatever waits for it
  kMachine,       // a state machine that is a class
  kAction,        // System.Action
  kObjectAction,  // System.Action<object>
  kInvoker,       // whose methods resume a box that they are given as an argument
  kWrapper,       // ContinuationWrapper
  kAwait,         // AwaitTaskContinuation and what derives from it
  kContinueWith,  // ContinueWithTaskContinuation
  kList,          // List<object>
  kArray,         // object[]
  kBlocked,       // by which a thread waits: nobody awaits
  kCompleted,     // System.Object: the mark of a task that is done
};

// Offsets from the beginning of the object. A kind whose fields are not found is kOther.
struct AsyncType {
  AsyncKind kind = AsyncKind::kOther;
  bool machine_is_class = false;
  uint64_t machine = 0;     // of boxes: AsyncRole::Machine
  uint32_t next = 0;        // the field that leads on; of pooled boxes the ValueTask's source
  uint32_t count = 0;       // kList: _size
  uint32_t machine_at = 0;  // of boxes: the state machine, or the reference to it
  // From the state machine's beginning.
  uint32_t state_at = 0, builder_at = 0;
  uint32_t promise_at = 0;  // of async iterators: what the consumer waits for; 0 = none

  auto operator<=>(const AsyncType&) const = default;
};

class AsyncTypes {
 public:
  AsyncTypes(Lookup& lookup, CodeTable& code, int pid);
  ~AsyncTypes();
  AsyncTypes(const AsyncTypes&) = delete;
  AsyncTypes& operator=(const AsyncTypes&) = delete;

  // On any thread. `pending`: it is new, and noted for the agent's thread. nullptr: pending, or
  // there is no room. `type` must be the first word of an object, or pass IsOfCoreLib().
  const AsyncType* FindOrAdd(uintptr_t type, uint32_t* frame, bool* pending) const;
  const AsyncType* Find(uintptr_t type) const;
  // Whether what lies there has the shape of a method table of System.Private.CoreLib, as those of
  // its base types have.
  bool IsOfCoreLib(uintptr_t type) const;
  const OwnReader& memory() const { return memory_; }

  // On the agent's thread.
  void SetCoreLib(ModuleId module) { core_.store(module, std::memory_order_release); }
  // What a frame of the code table with kTypeKey is, after the lookup was begun for it. The state
  // machine's type of a box, 0 of others. Where it has gone meanwhile the frame stays pending.
  ClassId Resolve(uint32_t frame);
  void Clear();
  bool crowded() const { return count_ > kMost / 8 * 7; }

 private:
  AsyncType Describe(ClassId type, ClassId* machine) const;
  bool DescribeBox(ClassId type, AsyncType* out, ClassId* machine) const;
  bool DescribeMachine(ClassId machine, AsyncType* out) const;
  uint64_t WordFor(const AsyncType& type);
  const AsyncType* Of(const CodeTable::Slot& slot) const;
  // Of the type or one of its bases.
  bool OffsetOf(ClassId type, std::string_view field, uint32_t* offset) const;
  bool Derives(ClassId type, std::string_view base) const;

  static constexpr uint32_t kMost = 16 * 1024;
  Lookup& lookup_;
  CodeTable& code_;
  OwnReader memory_;
  AsyncType* types_ = nullptr;  // written before the word that leads to it
  uint32_t count_ = 1;          // 0 is kOther
  std::map<AsyncType, uint32_t> words_;
  std::atomic<ModuleId> core_{0};
  std::atomic<uintptr_t> object_{0};  // System.Object, the only one without a base
};

}  // namespace clrscope::agent
