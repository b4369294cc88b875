// SPDX-License-Identifier: Apache-2.0
// The CPU time of the garbage collector's own threads, by their names (clr/gc_thread_names.h): of
// another process, or of the one that this runs in. Blocking collections of workstation GC run on
// the thread that allocates: no system tells their share.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace clrscope::clr {

// Clock ticks, as /proc counts them, in ns.
int64_t NanosOfTicks(int64_t ticks);

class GcThreadClock {
 public:
  enum Kind : uint8_t { kServer, kBackground, kOther };
  struct Used {
    int64_t threads = 0;  // that there were
    int64_t cpu_ns = 0;
  };

  // `tasks`: "/proc/self/task", "/proc/PID/task", another folder for tests.
  explicit GcThreadClock(std::string tasks) : tasks_(std::move(tasks)) {}

  // Looks at the threads anew. Returns false when there is no such folder: nothing changes then.
  // Costs a file for each thread of the process that is looked at for the first three times, and
  // two for each of the collector's.
  bool Read();
  // What threads of this kind used since the first Read() or the last Restart(). One that began
  // since then counts from 0, one that ended with what it had used when it was read last.
  Used Of(Kind kind) const;
  // Counts anew from what was read last.
  void Restart();
  // As of the last Read().
  bool IsGcThread(uint32_t thread) const;

 private:
  struct Thread {
    uint32_t id = 0;
    Kind kind = kOther;
    uint8_t looks = 0;    // a thread gets its name only after it has begun
    bool seen = false;    // in this round
    int64_t cpu_ns = 0;   // as read last
    int64_t from_ns = 0;  // what it had used before
  };
  bool ReadThread(int tasks, Thread& thread) const;
  void Ended(const Thread& thread);

  std::string tasks_;
  std::vector<Thread> threads_;  // by id: those that there are
  std::array<Used, 2> ended_{};
  bool began_ = false;
};

}  // namespace clrscope::clr
