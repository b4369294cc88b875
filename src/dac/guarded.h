// SPDX-License-Identifier: Apache-2.0
// Calls of the data access library that may fault or never end. The library reads a program that
// runs on: what it found a moment ago may be gone. Where an address has become 0 it reads at 0
// itself, and a call may never end. On Linux it catches no fault (on
// Windows it does), so that one unloaded method would end the reader, and with it all stacks that
// come after.
#pragma once

#include <csetjmp>
#include <cstdint>

#include "base/com/unknown.h"

namespace clrscope::dac {

// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP end the guarded call that they come from,
// and a call that has run for 0.25 to 0.5 s of user CPU time is overdue. Outside of a guarded call
// these signals end the process as before.
void CatchFaults();

// How many guarded calls were ended, or were refused memory because they were overdue.
uint64_t Faults();

// Whether the guarded call is overdue: it is to get no more memory, so that it fails by itself. One
// that reads none is ended as if it had faulted, 0.25 s later.
bool Overdue();

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

// While one exists, a guarded call is not ended for its time: it runs code of ours, which asks
// clrscope for memory or allocates.
class OurCode {
 public:
  OurCode();
  ~OurCode();
  OurCode(const OurCode&) = delete;
  OurCode& operator=(const OurCode&) = delete;
};

// Whether a call of the library succeeds; one that faults or is overdue does not. One that is ended
// leaks what it had allocated, and keeps the library's lock, which the same thread may take again.
template <class Call>
[[gnu::noinline]] bool Succeeds(Call call) {
  Guard guard;
  if (sigsetjmp(guard.place(), 0) != 0) return false;
  return Succeeded(call()) && !Overdue();
}

}  // namespace clrscope::dac
