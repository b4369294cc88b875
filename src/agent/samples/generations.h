// SPDX-License-Identifier: Apache-2.0
// Which generation an object is in, told from its address by the bounds that the runtime keeps of
// its generations. The runtime is never asked about an address: it would look into tables that may
// have no entry for it any more. What it says is right only while nothing moves, which GcPhase
// tells.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "agent/host/lookup.h"

namespace clrscope::agent {

// Counts what collections begin and end, on the threads that collect.
class GcPhase {
 public:
  // A collection that may move objects has begun, and nothing has moved yet.
  void Begun() {
    moving_.store(true, std::memory_order_relaxed);
    (void)epoch_.fetch_add(1, std::memory_order_seq_cst);
  }
  // A collection, also a background one, is over, and the runtime knows the new bounds.
  void Finished() {
    finished_.store(true, std::memory_order_relaxed);
    moving_.store(false, std::memory_order_relaxed);
    (void)epoch_.fetch_add(1, std::memory_order_seq_cst);
  }
  // What begins was not told for a while.
  void Forget() {
    finished_.store(false, std::memory_order_relaxed);
    (void)epoch_.fetch_add(1, std::memory_order_seq_cst);
  }
  // The present epoch; 0 while objects may move, and before anything is known. What is read between
  // two calls with the same answer, not 0, belongs together.
  uint64_t Quiet() const {
    // A write, of what is there, so that it stays behind what was read before it.
    const uint64_t epoch = epoch_.fetch_add(0, std::memory_order_acq_rel);
    const bool quiet =
        finished_.load(std::memory_order_seq_cst) && !moving_.load(std::memory_order_seq_cst);
    return quiet && epoch_.load(std::memory_order_seq_cst) == epoch ? epoch : 0;
  }

 private:
  mutable std::atomic<uint64_t> epoch_{1};
  std::atomic<bool> moving_{false}, finished_{false};
};

// The bounds, as of one epoch. On the agent's thread.
class Generations {
 public:
  Generations(const Lookup& lookup, const GcPhase& phase) : lookup_(lookup), phase_(phase) {}

  // Takes the bounds anew where they are of another epoch. False: not now.
  bool Take();
  // The generation of the object that `handle` holds, 0 … 2, 3 = LOH, 4 = POH; -1: cannot be said
  // now. `alive` is set in every case; where nobody may ask any more it still is.
  int8_t Of(ObjectHandle handle, bool* alive) const;

  // What is within them; sorts `ranges`, by which LookUp() goes.
  static void Sort(std::vector<GenerationRange>& ranges);
  static int8_t LookUp(const std::vector<GenerationRange>& ranges, uintptr_t address);

 private:
  const Lookup& lookup_;
  const GcPhase& phase_;
  std::vector<GenerationRange> ranges_;
  uint64_t epoch_ = 0;
};

}  // namespace clrscope::agent
