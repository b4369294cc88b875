// SPDX-License-Identifier: Apache-2.0
// Who holds which lock, and which one a blocked thread waits for. Whatever a thread can wait for
// that others hold is a lock here: a static constructor that another thread runs and the end of a
// thread, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dac/core_library.h"
#include "dac/stack_walk.h"
#include "dac/waits.h"

namespace clrscope::dac {

struct Lock {
  Address object = 0;            // of a static constructor the type's method table
  std::string_view kind;         // monitor, lock, reader_writer_lock, mutex, semaphore, …
  std::string type;              // raw
  std::vector<uint32_t> owners;  // managed ids; of a System.Threading.Lock the system's
  bool owners_known = true;      // there is no other owner
  uint32_t recursion = 0;
  uint32_t waiters = 0;  // as the lock itself counts them
};

struct WaitsFor {
  const Lock* lock = nullptr;
  std::vector<uint32_t> behind;  // managed ids: those of the owners that matter; none: all do
};

class Locks {
 public:
  Locks(Runtime& runtime, CoreLibrary& core, const std::vector<Thread>& threads);

  const std::map<Address, Lock>& all() const { return locks_; }
  // There may be more than are kept.
  bool full() const;
  // The one lock that the thread's innermost frames wait for; none when there is none or it is not
  // certain which. Of a static constructor nothing is said here.
  WaitsFor WaitedFor(const Thread& thread, const Wait& wait);

  // The thread has been walked: it may run static constructors, or wait for one.
  void NoteConstructors(const Thread& thread, const ThreadStack& stack, const Wait& wait);
  struct ConstructorWait {
    uint32_t os_id = 0;
    const Lock* lock = nullptr;
  };
  // Once all threads have been walked.
  std::vector<ConstructorWait> ConstructorsWaitedFor();

 private:
  void ReadSyncBlocks();
  template <class LockAt>
  const Lock* ByScan(const Thread& thread, const Wait& wait, LockAt lock_at);
  const Lock* ManagedLockAt(Address object);
  const Lock* ReaderWriterAt(Address object);
  const Lock* SemaphoreAt(Address object);
  const Lock* ByHandle(const Wait& wait);
  const Lock* ThreadAt(Address object);
  const Lock* Keep(Lock lock);
  void ReadReaders();
  int32_t Number(Address object, std::string_view field);
  bool SameDefinition(Address type, const MethodTableData& as);
  std::vector<Address> TypesRun(Address method, Address from, Address to);

  Runtime& runtime_;
  CoreLibrary& core_;
  const std::vector<Thread>& threads_;
  std::map<Address, Lock> locks_;           // by object
  std::map<Address, Address> sync_blocks_;  // held ones → object
  Address lock_type_, reader_writer_type_, semaphore_slim_type_, thread_type_, handle_type_;
  std::map<Address, std::string_view> handle_owners_;  // types that have a handle → kind of lock

  // Number of a ReaderWriterLockSlim → managed ids; read once somebody waits for one.
  std::optional<std::map<int64_t, std::vector<uint32_t>>> readers_;

  std::map<Address, uint32_t> run_;  // type → managed id of the thread that runs its constructor
  struct Waiter {
    uint32_t os_id, managed_id;
    Wait wait;
  };
  std::vector<Waiter> waiters_;  // threads that may wait for a static constructor
};

}  // namespace clrscope::dac
