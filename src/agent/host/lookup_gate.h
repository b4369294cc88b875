// SPDX-License-Identifier: Apache-2.0
// Between the agent's thread, which asks the runtime what types and code are, and the threads that
// unload them. What was seen on a stack or in an event exists at that moment; it is stamped with
// the gate's epoch. Whoever is about to unload closes the epoch: nothing with an older stamp is
// asked about from then on, however late the agent's thread comes, and the one question that may be
// under way is waited for. Of dynamic methods that is a wait in cooperative mode: a collection, and
// with it the whole program, waits as long. So a question is one call of the runtime, see lookup.h.
//
// The runtime holds no lock while it tells that something will be unloaded, so that no question can
// wait for the thread that waits for it. Source: dotnet/runtime src/coreclr/vm/loaderallocator.cpp,
// LoaderAllocator::GCLoaderAllocators, which calls StartUnload after it has left the list's lock;
// src/coreclr/vm/dynamicmethod.cpp, LCGMethodResolver::Destroy
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace clrscope::agent {

class LookupGate {
 public:
  // The stamp of what is seen now; by whoever sees it, while it is there.
  uint32_t epoch() const { return epoch_.load(std::memory_order_seq_cst); }

  // On the agent's thread, around one question about something with this stamp. False: it may be
  // gone, and must not be asked about. No question within another.
  class [[nodiscard]] Question {
   public:
    Question(LookupGate& gate, uint32_t stamp) : gate_(gate) {
      // Either this is seen by Close(), or the new epoch is seen here.
      gate_.turns_.store(gate_.turns_.load(std::memory_order_relaxed) + 1,
                         std::memory_order_seq_cst);
      allowed_ = gate_.epoch() == stamp && !gate_.is_shut();
    }
    ~Question() {
      gate_.turns_.store(gate_.turns_.load(std::memory_order_relaxed) + 1,
                         std::memory_order_release);
    }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    explicit operator bool() const { return allowed_; }

   private:
    LookupGate& gate_;
    bool allowed_;
  };

  // On the thread that unloads. When it returns, nobody asks about what was seen before.
  void Close() {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    // Questions that begin later see the new epoch, and are not waited for.
    const uint64_t turn = turns_.load(std::memory_order_seq_cst);
    const bool asking = turn % 2 != 0;
    const timespec pause{0, 20'000};
    while (asking && turns_.load(std::memory_order_acquire) == turn)
      (void)::nanosleep(&pause, nullptr);
  }

  // For good: no question begins from now on. Waits for none.
  void Shut() { shut_.store(true, std::memory_order_seq_cst); }
  bool is_shut() const { return shut_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<uint32_t> epoch_{0};
  std::atomic<uint64_t> turns_{0};  // odd while a question is under way
  std::atomic<bool> shut_{false};
};

}  // namespace clrscope::agent
