// SPDX-License-Identifier: Apache-2.0
// Source of fields: dotnet/runtime src/libraries/System.Private.CoreLib/src/System/Threading/
// Lock.cs, ReaderWriterLockSlim.cs
#include "dac/locks.h"

#include <algorithm>
#include <utility>

#include "dac/guarded.h"

namespace clrscope::dac {
namespace {

constexpr uint32_t kMaxSyncBlocks = 200'000;
constexpr size_t kMaxLocks = 20'000;
constexpr size_t kMaxCounts = 10'000;     // of a thread: locks that it has read under
constexpr Address kMaxCallers = 4 << 10;  // of the stack of those who called what waits
constexpr int32_t kMaxReaders = 0x0fffffff;

// An event has no owner.
constexpr std::pair<std::string_view, std::string_view> kWithHandle[] = {
    {"System.Threading.Mutex", "mutex"},      {"System.Threading.Semaphore", "semaphore"},
    {"System.Threading.AutoResetEvent", ""},  {"System.Threading.ManualResetEvent", ""},
    {"System.Threading.EventWaitHandle", ""},
};

Lock NewLock(Address object, std::string_view kind, std::string type) {
  Lock lock;
  lock.object = object;
  lock.kind = kind;
  lock.type = std::move(type);
  return lock;
}

bool IsOwner(const Thread& thread, const Lock& lock) {
  const uint32_t id = lock.kind == "lock" ? thread.data.os_id : thread.data.managed_id;
  return lock.owners.size() == 1 && lock.owners.front() == id && lock.owners_known;
}

}  // namespace

Locks::Locks(Runtime& runtime, CoreLibrary& core, const std::vector<Thread>& threads)
    : runtime_(runtime),
      core_(core),
      threads_(threads),
      lock_type_(core.Type("System.Threading.Lock")),
      reader_writer_type_(core.Type("System.Threading.ReaderWriterLockSlim")),
      semaphore_slim_type_(core.Type("System.Threading.SemaphoreSlim")),
      thread_type_(core.Type("System.Threading.Thread")),
      handle_type_(core.Type("Microsoft.Win32.SafeHandles.SafeWaitHandle")) {
  for (const auto& [name, kind] : kWithHandle)
    if (const Address type = core.Type(name); type != 0) handle_owners_[type] = kind;
  ReadSyncBlocks();
}

void Locks::ReadSyncBlocks() {
  std::map<Address, uint32_t> ids;
  for (const Thread& t : threads_) ids[t.object] = t.data.managed_id;
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
    if (owner == ids.end() || full()) continue;
    Lock lock = NewLock(data.object, "monitor", runtime_.TypeName(core_.TypeOf(data.object)));
    lock.owners = {owner->second};
    lock.recursion = data.recursion;
    lock.waiters = data.held >> 1;
    locks_[data.object] = lock;
    sync_blocks_[data.sync_block] = data.object;
  }
}

bool Locks::full() const { return locks_.size() == kMaxLocks; }

// Null when there are too many, and for an object that is known as a monitor.
const Lock* Locks::Keep(Lock lock) {
  const auto known = locks_.find(lock.object);
  if (known != locks_.end()) return known->second.kind == lock.kind ? &known->second : nullptr;
  if (full()) return nullptr;
  const Address object = lock.object;
  return &locks_.emplace(object, std::move(lock)).first->second;
}

int32_t Locks::Number(Address object, std::string_view field) {
  int32_t value = 0;
  const Address at = core_.At(object, field);
  if (at != 0) runtime_.remote().Get(at, &value);
  return value;
}

const Lock* Locks::ManagedLockAt(Address object) {
  Lock lock = NewLock(object, "lock", "System.Threading.Lock");
  const auto owner = static_cast<uint32_t>(Number(object, "_owningThreadId"));
  if (owner == 0) return nullptr;
  lock.owners = {owner};
  lock.recursion = static_cast<uint32_t>(Number(object, "_recursionCount"));
  return Keep(std::move(lock));
}

// Who reads is written with each thread: a list of how often it has which lock, by the lock's
// number.
void Locks::ReadReaders() {
  readers_.emplace();
  for (const Thread& t : threads_) {
    Address count = core_.ThreadStaticObject(reader_writer_type_, "t_rwc", t.object);
    for (size_t i = 0; count != 0 && i < kMaxCounts; ++i, count = core_.Reference(count, "next")) {
      int64_t lock = 0;
      const Address at = core_.At(count, "lockID");
      if (at == 0 || !runtime_.remote().Get(at, &lock)) break;
      if (Number(count, "readercount") > 0) (*readers_)[lock].push_back(t.data.managed_id);
    }
  }
}

const Lock* Locks::ReaderWriterAt(Address object) {
  Lock lock = NewLock(object, "reader_writer_lock", "System.Threading.ReaderWriterLockSlim");
  const int32_t writer = Number(object, "_writeLockOwnerId");
  if (writer > 0) {
    lock.owners = {static_cast<uint32_t>(writer)};
    return Keep(std::move(lock));
  }
  if (!readers_) ReadReaders();
  int64_t id = 0;
  if (const Address at = core_.At(object, "_lockID");
      at != 0 && runtime_.remote().Get(at, &id) && readers_->contains(id))
    lock.owners = (*readers_)[id];
  const int32_t upgrader = Number(object, "_upgradeLockOwnerId");
  // Both count as readers.
  const size_t found = lock.owners.size() + (upgrader > 0 ? 1 : 0);
  lock.owners_known = found >= static_cast<size_t>(Number(object, "_owners") & kMaxReaders);
  if (const auto own = static_cast<uint32_t>(upgrader);
      upgrader > 0 && std::ranges::find(lock.owners, own) == lock.owners.end())
    lock.owners.push_back(own);
  return Keep(std::move(lock));
}

const Lock* Locks::SemaphoreAt(Address object) {
  Lock lock = NewLock(object, "semaphore", "System.Threading.SemaphoreSlim");
  lock.owners_known = false;
  return Keep(std::move(lock));
}

// Who waits for a mutex, a semaphore or an event has its handle on its stack, and the object only
// if somebody needs it again. Who holds it a part of the runtime knows that nobody can ask.
const Lock* Locks::ByHandle(const Wait& wait) {
  Address handle = 0, owner = 0;
  for (Address at = wait.from & ~Address{7}; at < wait.to; at += 8) {
    const Address word = runtime_.remote().Word(at);
    if (word < 4096 || word == handle || core_.TypeOf(word) != handle_type_) continue;
    if (handle != 0) return nullptr;  // which of the two is not known
    handle = word;
  }
  if (handle == 0 || handle_type_ == 0) return nullptr;
  const std::optional<Field> field =
      core_.FieldOf(core_.Type("System.Threading.WaitHandle"), "_waitHandle");
  for (Address at = wait.from & ~Address{7}; field && at < wait.to + kMaxCallers && owner == 0;
       at += 8) {
    const Address word = runtime_.remote().Word(at);
    if (word >= 4096 && handle_owners_.contains(core_.TypeOf(word)) &&
        runtime_.remote().Word(word + 8 + field->offset) == handle)
      owner = word;
  }
  Lock lock;
  lock.object = owner == 0 ? handle : owner;
  lock.kind = owner == 0 ? "wait_handle" : handle_owners_[core_.TypeOf(owner)];
  if (lock.kind.empty()) return nullptr;
  lock.type = runtime_.TypeName(core_.TypeOf(lock.object));
  lock.owners_known = false;
  return Keep(std::move(lock));
}

const Lock* Locks::ThreadAt(Address object) {
  Lock lock = NewLock(object, "thread", "System.Threading.Thread");
  const int32_t id = Number(object, "_managedThreadId");
  if (id <= 0) return nullptr;
  lock.owners = {static_cast<uint32_t>(id)};
  return Keep(std::move(lock));
}

// What a thread that waits for a lock has on its stack: of a monitor its sync block, of all others
// the object.
template <class LockAt>
const Lock* Locks::ByScan(const Thread& thread, const Wait& wait, LockAt lock_at) {
  const Lock* found = nullptr;
  for (Address at = wait.from & ~Address{7}; at < wait.to; at += 8) {
    const Address word = runtime_.remote().Word(at);
    if (word < 4096 || word % 8 != 0) continue;
    const Lock* lock = lock_at(word);
    if (lock == nullptr || lock == found || IsOwner(thread, *lock)) continue;
    if (found != nullptr) return nullptr;  // which of the two is not known
    found = lock;
  }
  return found;
}

WaitsFor Locks::WaitedFor(const Thread& thread, const Wait& wait) {
  const auto of_type = [&](Address type, auto make) {
    return ByScan(thread, wait, [&](Address object) -> const Lock* {
      if (type == 0 || core_.TypeOf(object) != type) return nullptr;
      const auto known = locks_.find(object);
      if (known == locks_.end()) return make(object);
      return known->second.kind == "monitor" ? nullptr : &known->second;
    });
  };
  WaitsFor waits;
  switch (wait.kind) {
    case WaitKind::kNone:
    case WaitKind::kConstructor:
      break;
    case WaitKind::kMonitor:
      waits.lock = ByScan(thread, wait, [&](Address word) -> const Lock* {
        const auto block = sync_blocks_.find(word);
        return block == sync_blocks_.end() ? nullptr : &locks_[block->second];
      });
      break;
    case WaitKind::kLock:
      waits.lock = of_type(lock_type_, [&](Address o) { return ManagedLockAt(o); });
      break;
    case WaitKind::kReaderWriterLock:
    case WaitKind::kUpgradeableLock:
      waits.lock = of_type(reader_writer_type_, [&](Address o) { return ReaderWriterAt(o); });
      // Of who reads only one matters to it: who has the right to write later.
      if (waits.lock != nullptr && wait.kind == WaitKind::kUpgradeableLock)
        if (const int32_t id = Number(waits.lock->object, "_upgradeLockOwnerId"); id > 0)
          waits.behind = {static_cast<uint32_t>(id)};
      break;
    case WaitKind::kSemaphore:
      waits.lock = of_type(semaphore_slim_type_, [&](Address o) { return SemaphoreAt(o); });
      break;
    case WaitKind::kHandle:
      waits.lock = ByHandle(wait);
      break;
    case WaitKind::kThread:
      waits.lock = of_type(thread_type_, [&](Address o) { return ThreadAt(o); });
      break;
  }
  return waits;
}

bool Locks::SameDefinition(Address type, const MethodTableData& as) {
  MethodTableData data;
  return Succeeds([&] { return runtime_.sos().GetMethodTableData(type, &data); }) &&
         data.token == as.token && data.module == as.module;
}

// Types whose static constructor the method is. One of a generic type is shared by instantiations:
// which one is made ready is on the stack, where the runtime called it from.
std::vector<Address> Locks::TypesRun(Address method, Address from, Address to) {
  const Address type = runtime_.TypeOfMethod(method);
  MethodTableData shared;
  if (type == 0) return {};
  if (runtime_.TypeName(type).find("__Canon") == std::string::npos ||
      !Succeeds([&] { return runtime_.sos().GetMethodTableData(type, &shared); }))
    return {type};
  std::vector<Address> types;
  for (Address at = from & ~Address{7}; at < to; at += 8) {
    const Address word = runtime_.remote().Word(at);
    if (word < 4096 || word % 8 != 0 || word == type) continue;
    if (SameDefinition(word, shared) && std::ranges::find(types, word) == types.end())
      types.push_back(word);
  }
  return types;
}

void Locks::NoteConstructors(const Thread& thread, const ThreadStack& stack, const Wait& wait) {
  constexpr Address kMaxCall = 16 << 10;  // what the runtime has on a stack for a call
  if (wait.kind == WaitKind::kConstructor)
    waiters_.push_back({thread.data.os_id, thread.data.managed_id, wait});
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    const StackFrame& frame = stack.frames[i];
    if (frame.method == 0 || frame.explicit_frame != 0) continue;
    if (runtime_.MethodName(frame.method).find("..cctor(") == std::string::npos) continue;
    Address to = frame.sp + kMaxCall;
    for (size_t caller = i + 1; caller < stack.frames.size(); ++caller) {
      const StackFrame& above = stack.frames[caller];
      if (above.explicit_frame != 0 || above.method == 0 ||
          IsClassInit(runtime_.MethodName(above.method)))
        continue;
      to = std::min(to, above.sp);
      break;
    }
    for (const Address type : TypesRun(frame.method, frame.sp, to)) {
      const auto [at, fresh] = run_.try_emplace(type, thread.data.managed_id);
      if (!fresh && at->second != thread.data.managed_id) at->second = 0;  // not certain
    }
  }
}

std::vector<Locks::ConstructorWait> Locks::ConstructorsWaitedFor() {
  std::vector<ConstructorWait> waits;
  if (run_.empty()) return waits;
  for (const Waiter& waiter : waiters_) {
    // A method that the runtime was about to run is of the class that it makes ready.
    MethodTableData entered;
    const Address of = waiter.wait.entered == 0 ? 0 : runtime_.TypeOfMethod(waiter.wait.entered);
    if (of != 0 && !Succeeds([&] { return runtime_.sos().GetMethodTableData(of, &entered); }))
      continue;
    Address found = 0;
    bool certain = true;
    for (Address at = waiter.wait.from & ~Address{7}; at < waiter.wait.to; at += 8) {
      const Address word = runtime_.remote().Word(at);
      const auto run = run_.find(word);
      if (run == run_.end() || run->second == 0 || run->second == waiter.managed_id) continue;
      if (of != 0 && !SameDefinition(word, entered)) continue;
      certain &= found == 0 || found == word;
      found = word;
    }
    if (found == 0 || !certain) continue;
    Lock lock = NewLock(found, "static_constructor", runtime_.TypeName(found));
    lock.owners = {run_[found]};
    if (const Lock* kept = Keep(std::move(lock)); kept != nullptr)
      waits.push_back({waiter.os_id, kept});
  }
  return waits;
}

}  // namespace clrscope::dac
