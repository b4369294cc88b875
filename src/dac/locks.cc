// SPDX-License-Identifier: Apache-2.0
#include "dac/locks.h"

#include <algorithm>

#include "dac/guarded.h"

namespace clrscope::dac {
namespace {

constexpr uint32_t kMaxSyncBlocks = 200'000;
constexpr Address kMaxScan = 64 << 10;
constexpr size_t kMaxLocks = 20'000;

bool IsMonitorEnter(const std::string& method) {
  return method.starts_with("System.Threading.Monitor.Enter") ||
         method.starts_with("System.Threading.Monitor.ReliableEnter") ||
         method.starts_with("System.Threading.Monitor.TryEnter") ||
         method.starts_with("System.Threading.Monitor.<TryEnter") ||
         method.starts_with("System.Threading.Monitor.ReliableEnterTimeout");
}
bool IsOwner(const Thread& thread, const Lock& lock) {
  return lock.owner == (lock.sync_block == 0 ? thread.data.os_id : thread.data.managed_id);
}
bool IsMonitor(const std::string& method) {
  return method.starts_with("System.Threading.Monitor.");
}
bool IsLock(const std::string& method) { return method.starts_with("System.Threading.Lock."); }

}  // namespace

Locks::Locks(Runtime& runtime, CoreLibrary& core, const std::vector<Thread>& threads)
    : runtime_(runtime), core_(core), lock_type_(core.Type("System.Threading.Lock")) {
  ReadSyncBlocks(threads);
}

void Locks::ReadSyncBlocks(const std::vector<Thread>& threads) {
  std::map<Address, uint32_t> ids;
  for (const Thread& t : threads) ids[t.object] = t.data.managed_id;
  uint32_t count = 1;
  for (uint32_t number = 1; number <= count && number <= kMaxSyncBlocks; ++number) {
    SyncBlockData data;
    if (!Succeeds([&] { return runtime_.sos().GetSyncBlockData(number, &data); })) {
      if (number == 1) return;
      continue;
    }
    count = data.count;
    if (data.is_free != 0 || data.owner == 0 || data.object == 0) continue;
    const auto owner = ids.find(data.owner);
    if (owner == ids.end() || locks_.size() == kMaxLocks) continue;
    Lock lock;
    lock.object = data.object;
    lock.sync_block = data.sync_block;
    lock.owner = owner->second;
    lock.recursion = data.recursion;
    lock.waiters = data.held >> 1;
    lock.type = runtime_.TypeName(core_.TypeOf(data.object));
    locks_[data.object] = lock;
    sync_blocks_[data.sync_block] = data.object;
  }
}

const Lock* Locks::ManagedLockAt(Address object) {
  const auto known = locks_.find(object);
  if (known != locks_.end()) return known->second.sync_block == 0 ? &known->second : nullptr;
  if (lock_type_ == 0 || core_.TypeOf(object) != lock_type_ || locks_.size() == kMaxLocks)
    return nullptr;
  Lock lock;
  lock.object = object;
  lock.type = "System.Threading.Lock";
  const Address owner = core_.At(object, "_owningThreadId");
  if (owner == 0 || !runtime_.remote().Get(owner, &lock.owner) || lock.owner == 0) return nullptr;
  if (const Address at = core_.At(object, "_recursionCount"); at != 0)
    runtime_.remote().Get(at, &lock.recursion);
  return &(locks_[object] = lock);
}

// What a thread that waits for a lock has on its stack: of a monitor its sync block, of a
// System.Threading.Lock the object.
const Lock* Locks::ByScan(const Thread& thread, Address from, Address to, bool monitors) {
  const Lock* found = nullptr;
  for (Address at = from & ~Address{7}; at < to; at += 8) {
    const Address word = runtime_.remote().Word(at);
    if (word < 4096 || word % 8 != 0) continue;
    const Lock* lock = nullptr;
    if (monitors) {
      const auto block = sync_blocks_.find(word);
      if (block != sync_blocks_.end()) lock = &locks_[block->second];
    } else {
      lock = ManagedLockAt(word);
    }
    if (lock == nullptr || lock == found || IsOwner(thread, *lock)) continue;
    if (found != nullptr) return nullptr;  // which of the two is not known
    found = lock;
  }
  return found;
}

const Lock* Locks::WaitedFor(const Thread& thread, const ThreadStack& stack) {
  const ThreadRegisters* registers = runtime_.remote().RegistersOf(thread.data.os_id);
  if (registers == nullptr || stack.faulted) return nullptr;
  // The frames of entering a lock, from the leaf up to the method that asked for it.
  Address upto = 0;
  bool monitor = false, managed_lock = false, asked = false;
  for (const StackFrame& frame : stack.frames) {
    const std::string name = frame.method == 0 ? "" : runtime_.MethodName(frame.method);
    if (frame.method != 0 && name.empty()) return nullptr;  // which method it is is not known
    if (IsMonitorEnter(name)) monitor = true;
    if (IsLock(name)) managed_lock = true;
    if (IsMonitor(name) && !IsMonitorEnter(name)) return nullptr;  // Wait, Pulse
    upto = frame.explicit_frame != 0 ? upto : frame.sp;
    const bool inside = frame.explicit_frame != 0 || IsMonitor(name) || IsLock(name) ||
                        name.empty() || name.starts_with("System.Threading.WaitHandle.") ||
                        name.starts_with("System.Threading.WaitSubsystem") ||
                        name.starts_with("System.Threading.AutoResetEvent") ||
                        name.starts_with("System.Threading.Thread.") ||
                        name.starts_with("System.Threading.SynchronizationContext") ||
                        name.starts_with("DynamicClass.IL_STUB");
    if (!inside) {
      asked = true;
      break;
    }
  }
  if (!asked || upto <= registers->rsp) return nullptr;
  // Of the caller's own frame nothing is looked at: it may hold locks of before and after.
  const Address to = std::min(upto, registers->rsp + kMaxScan);
  if (managed_lock) return ByScan(thread, registers->rsp, to, false);
  if (monitor) return ByScan(thread, registers->rsp, to, true);
  return nullptr;
}

}  // namespace clrscope::dac
