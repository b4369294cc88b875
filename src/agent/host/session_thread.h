// SPDX-License-Identifier: Apache-2.0
// The thread on which the sessions of a stay begin and end. The runtime calls its event sources
// back from there, in managed code, handlers of the program included: such code is run as on any
// thread of the program, and what it starts inherits the thread's signal mask.
//
// From its first call on the runtime knows the thread, and refuses it most of the profiling API
// outside of callbacks (CORPROF_E_UNSUPPORTED_CALL_SEQUENCE): the agent's own thread stays unknown.
//
// A thread's first event registers a destructor with the C library, under the loader's lock. Where
// that event is one of an allocation or a collection, others wait for this thread meanwhile, and
// whoever has the lock may be among them: a constructor of a library that enters managed code. So
// it is one thread for a stay, and its first event is ThreadCreated, which the runtime writes of
// every thread that it comes to know, before that is in managed code and with no lock held.
// Source: dotnet/runtime src/coreclr/vm/threads.cpp, SetupThread
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "agent/com/corprof.h"
#include "agent/host/heartbeat.h"

namespace clrscope::agent {

// What a session asks the runtime's provider for.
struct Ask {
  uint64_t keywords = 0;
  uint32_t level = 0;
  bool operator==(const Ask&) const = default;
};

class SessionThread {
 public:
  // On a thread of the runtime's: sessions begin and end under its signal mask. `ending`: the
  // process is; the runtime may keep a thread that calls it then, so that no call is waited for.
  // `heartbeat`: of who waits for the calls; both are borrowed.
  SessionThread(ICorProfilerInfo* info, const std::atomic<bool>& ending, Heartbeat& heartbeat);
  ~SessionThread();
  SessionThread(const SessionThread&) = delete;
  SessionThread& operator=(const SessionThread&) = delete;

  // Begins a session; 0 with the runtime's error where it refuses one. nullopt: no thread can be
  // started, or the process ends.
  struct Begun {
    EventPipeSession id;
    HResult result;
  };
  std::optional<Begun> Begin(const Ask& ask);
  // On the calling thread, which is one of the runtime's.
  Begun BeginHere(const Ask& ask);
  void Stop(EventPipeSession id);
  // Begins a session that asks for nothing and ends it, by which the runtime tells its providers
  // once more what all sessions want; the others lose nothing.
  void Remind();

  // Waits until the thread makes no more calls, and ends. The next call starts another.
  void End();

 private:
  struct State;
  static void* Main(void* state);
  struct Call;
  bool Do(Call& call);  // false: it was not done

  const std::atomic<bool>& ending_;
  Heartbeat& heartbeat_;
  std::shared_ptr<State> state_;  // also the thread's, which may be left in a call
};

}  // namespace clrscope::agent
