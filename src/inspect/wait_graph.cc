// SPDX-License-Identifier: Apache-2.0
#include "inspect/wait_graph.h"

#include <algorithm>

namespace clrscope::inspect {

WaitGraph::WaitGraph(const Picture& picture) {
  for (const Thread& t : picture.threads)
    if (t.managed()) threads_.try_emplace(t.managed_id, &t);
  for (const Lock& l : picture.locks) locks_.try_emplace(l.object, &l);
  for (const auto& [id, t] : threads_)
    for (const uint32_t owner : t->behind)
      if (threads_.contains(owner)) waiters_[owner].push_back(id);
}

const Thread* WaitGraph::ById(uint32_t managed_id) const {
  const auto found = threads_.find(managed_id);
  return found == threads_.end() ? nullptr : found->second;
}

const Lock* WaitGraph::LockOf(uint64_t object) const {
  const auto found = locks_.find(object);
  return found == locks_.end() ? nullptr : found->second;
}

const Thread* WaitGraph::OwnerFor(const Thread& thread) const {
  for (const uint32_t id : thread.behind)
    if (const Thread* owner = ById(id); owner != nullptr) return owner;
  return nullptr;
}

std::set<uint32_t> WaitGraph::Behind(const std::set<uint32_t>& ends) const {
  std::set<uint32_t> behind;
  std::vector<uint32_t> way(ends.begin(), ends.end());
  while (!way.empty()) {
    const auto waiters = waiters_.find(way.back());
    way.pop_back();
    if (waiters == waiters_.end()) continue;
    for (const uint32_t id : waiters->second)
      if (!ends.contains(id) && behind.insert(id).second) way.push_back(id);
  }
  return behind;
}

// Who waits only for threads that go on is left out, and who waits only for these, and so on.
std::set<uint32_t> WaitGraph::InOrBehindRings() const {
  std::map<uint32_t, size_t> waits;  // for how many that are not left out
  std::set<uint32_t> left;
  std::vector<uint32_t> out;
  for (const auto& [id, t] : threads_) {
    const auto n = std::ranges::count_if(
        t->behind, [this](uint32_t owner) { return threads_.contains(owner); });
    waits[id] = static_cast<size_t>(n);
    left.insert(id);
    if (n == 0) out.push_back(id);
  }
  while (!out.empty()) {
    const uint32_t id = out.back();
    out.pop_back();
    left.erase(id);
    const auto waiters = waiters_.find(id);
    if (waiters == waiters_.end()) continue;
    for (const uint32_t waiter : waiters->second)
      if (--waits[waiter] == 0) out.push_back(waiter);
  }
  return left;
}

std::vector<std::vector<uint32_t>> WaitGraph::Rings() const {
  std::vector<std::vector<uint32_t>> rings;
  const std::set<uint32_t> candidates = InOrBehindRings();
  std::set<uint32_t> done;
  for (const uint32_t start : candidates) {
    if (done.contains(start)) continue;
    // The shortest way back, by breadth.
    std::map<uint32_t, uint32_t> from;  // who is waited for → who waits
    std::vector<uint32_t> way{start};
    for (size_t i = 0; i < way.size() && !from.contains(start); ++i)
      for (const uint32_t owner : threads_.at(way[i])->behind)
        if (candidates.contains(owner) && from.try_emplace(owner, way[i]).second)
          way.push_back(owner);
    if (!from.contains(start)) continue;
    std::vector<uint32_t> ring;
    for (uint32_t at = from[start]; at != start; at = from[at]) ring.push_back(at);
    ring.push_back(start);
    std::ranges::reverse(ring);
    std::ranges::rotate(ring, std::ranges::min_element(ring));
    done.insert(ring.begin(), ring.end());
    rings.push_back(std::move(ring));
  }
  return rings;
}

}  // namespace clrscope::inspect
