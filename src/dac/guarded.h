// SPDX-License-Identifier: Apache-2.0
// Calls of the data access library that may fault or never end. The library reads a program that
// runs on: what it found a moment ago may be gone. Where an address has become 0 it reads at 0
// itself, and a list that has become a ring is followed for ever. On Linux it catches no fault (on
// Windows it does), so that one unloaded method would end the reader, and with it all stacks that
// come after.
#pragma once

#include <csetjmp>
#include <cstdint>

#include "base/com/unknown.h"

namespace clrscope::dac {

// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP end the guarded call that they come from,
// and a call that has run for 0.25 to 0.5 s of CPU time is ended, too. Outside of a guarded call
// these signals end the process as before.
void CatchFaults();

// How many guarded calls were ended.
uint64_t Faults();

class Guard {
 public:
  Guard();
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  sigjmp_buf& place() { return place_; }

 private:
  sigjmp_buf place_;
};

// While one exists, a call is not ended for its time: a question to clrscope gets its answer.
class NotEnded {
 public:
  NotEnded();
  ~NotEnded();
  NotEnded(const NotEnded&) = delete;
  NotEnded& operator=(const NotEnded&) = delete;
};

// Whether a call of the library succeeds; one that was ended does not. Such a call leaks what it
// had allocated, and keeps the library's lock, which the same thread may take again. `call` is one
// call of the library on the process's only thread, so that no destructor of ours is left out.
template <class Call>
[[gnu::noinline]] bool Succeeds(Call call) {
  Guard guard;
  if (sigsetjmp(guard.place(), 0) != 0) return false;
  return Succeeded(call());
}

}  // namespace clrscope::dac
