// SPDX-License-Identifier: Apache-2.0
// Who holds which lock, and which one a blocked thread waits for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dac/core_library.h"
#include "dac/stack_walk.h"

namespace clrscope::dac {

struct Lock {
  Address object = 0;
  Address sync_block = 0;  // 0: a System.Threading.Lock
  std::string type;        // raw
  uint32_t owner = 0;      // managed id, of a System.Threading.Lock the system's; 0: nobody
  uint32_t recursion = 0;
  uint32_t waiters = 0;  // as the lock itself counts them
};

class Locks {
 public:
  Locks(Runtime& runtime, CoreLibrary& core, const std::vector<Thread>& threads);

  const std::map<Address, Lock>& all() const { return locks_; }
  // The one lock, held by another thread, whose entering the thread's innermost frames are; null
  // when there is none or it is not certain which.
  const Lock* WaitedFor(const Thread& thread, const ThreadStack& stack);

 private:
  void ReadSyncBlocks(const std::vector<Thread>& threads);
  const Lock* ByScan(const Thread& thread, Address from, Address to, bool monitors);
  const Lock* ManagedLockAt(Address object);

  Runtime& runtime_;
  CoreLibrary& core_;
  std::map<Address, Lock> locks_;           // by object
  std::map<Address, Address> sync_blocks_;  // held ones → object
  Address lock_type_ = 0;                   // System.Threading.Lock
};

}  // namespace clrscope::dac
