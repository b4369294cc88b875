// SPDX-License-Identifier: Apache-2.0
// Which thread waits for which others: the managed threads of a picture, with an edge from each one
// to the owners of what it waits for. Refers to the picture.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "inspect/picture.h"

namespace clrscope::inspect {

class WaitGraph {
 public:
  explicit WaitGraph(const Picture& picture);

  // Null where there is none.
  const Thread* ById(uint32_t managed_id) const;
  const Lock* LockOf(uint64_t object) const;
  const Lock* WaitedFor(const Thread& thread) const { return LockOf(thread.waits_for); }
  // The first of the owners that it waits for and that are known.
  const Thread* OwnerFor(const Thread& thread) const;

  // Threads that wait, directly or through others, for one of `ends`, without these themselves; by
  // managed id.
  std::set<uint32_t> Behind(const std::set<uint32_t>& ends) const;
  // Rings of threads that wait for each other: managed ids, each waiting for what the next one
  // holds; the smallest id first. Of rings that share a thread the shortest through each are found.
  std::vector<std::vector<uint32_t>> Rings() const;

 private:
  std::set<uint32_t> InOrBehindRings() const;

  std::map<uint32_t, const Thread*> threads_;
  std::map<uint64_t, const Lock*> locks_;
  std::map<uint32_t, std::vector<uint32_t>> waiters_;  // owner → who waits for it
};

}  // namespace clrscope::inspect
