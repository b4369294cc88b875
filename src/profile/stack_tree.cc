// SPDX-License-Identifier: Apache-2.0
#include "profile/stack_tree.h"

#include <algorithm>
#include <cstring>

namespace clrscope::profile {
namespace {

constexpr uint32_t kMaxDepth = 1024;  // deeper stacks (other writers') lose their root too
constexpr unsigned kPageBits = 12;
constexpr unsigned kEpochShift = 48;
constexpr uint64_t kAddressMask = (uint64_t{1} << kEpochShift) - 1;

template <class Ip>
uint64_t Load(const std::byte* ips, uint32_t i) {
  Ip v;
  std::memcpy(&v, ips + sizeof(Ip) * i, sizeof(Ip));
  return v;
}

// How many root frames the stack shares with `last`; `last` is root first.
template <class Ip>
uint32_t SharedRoots(const std::byte* ips, uint32_t frames, const uint64_t* last,
                     uint32_t last_depth) {
  const uint32_t limit = std::min(frames, last_depth);
  uint32_t n = 0;
  const auto differs = [&](uint32_t i) { return Load<Ip>(ips, frames - 1 - i) ^ last[i]; };
  while (n + 4 <= limit && (differs(n) | differs(n + 1) | differs(n + 2) | differs(n + 3)) == 0)
    n += 4;
  while (n < limit && differs(n) == 0) ++n;
  return n;
}

}  // namespace

StackTree::StackTree(uint32_t max_nodes)
    : max_nodes_(std::max(max_nodes, kFirstReal)),
      parents_(kFirstReal, kRoot),
      address_of_(kFirstReal, 0),
      slots_(1 << 6) {}

uint32_t StackTree::Fold(const std::byte* ips, uint32_t frames, uint8_t pointer_size,
                         uint64_t thread, int64_t time_ns) {
  if (frames == 0) return kNoStack;
  const uint32_t root = frames >= kRuntimeLimit ? kTruncated : kRoot;
  if (frames > kMaxDepth) frames = kMaxDepth;  // keeps the leaf end
  Lane& lane = lanes_[thread % kLanes];
  if (lane.ips.size() < frames) {
    lane.ips.resize(frames);
    lane.keys.resize(frames);
    lane.hashes.resize(frames);
    lane.nodes.resize(frames);
  }
  uint32_t depth = 0;
  if (root == lane.root)
    depth = pointer_size == 8 ? SharedRoots<uint64_t>(ips, frames, lane.ips.data(), lane.depth)
                              : SharedRoots<uint32_t>(ips, frames, lane.ips.data(), lane.depth);
  uint32_t node = depth == 0 ? root : lane.nodes[depth - 1];
  uint64_t hash = depth == 0 ? kRootHash[root] : lane.hashes[depth - 1];
  lane.root = root;
  const size_t mask = slots_.size() - 1;
  for (uint32_t d = depth; d < frames; ++d) {
    const uint32_t i = frames - 1 - d;
    const uint64_t ip = pointer_size == 8 ? Load<uint64_t>(ips, i) : Load<uint32_t>(ips, i);
    const uint64_t key = retired_pages_.empty() ? (ip & kAddressMask) : Tag(ip & kAddressMask);
    hash = HashChild(hash, key);
    __builtin_prefetch(&slots_[hash & mask]);
    lane.ips[d] = ip;
    lane.keys[d] = key;
    lane.hashes[d] = hash;
  }
  for (; depth < frames; ++depth) {
    node = Child(node, lane.keys[depth], lane.hashes[depth], time_ns);
    if (node == kOther) break;
    lane.nodes[depth] = node;
  }
  lane.depth = depth;
  return node;
}

uint32_t StackTree::Child(uint32_t parent, uint64_t key, uint64_t hash, int64_t time_ns) {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  for (; slots_[i].node != 0; i = (i + 1) & mask)
    if (slots_[i].key == key && slots_[i].parent == parent) return slots_[i].node;
  if (capped()) return kOther;
  const uint32_t node = size();
  slots_[i] = {key, parent, node};
  hashes_.push_back(hash);
  parents_.push_back(parent);
  address_of_.push_back(AddressIndex(key, time_ns));
  if (size_t{node} * 5 > slots_.size() * 4) Grow();
  return node;
}

uint32_t StackTree::AddressIndex(uint64_t key, int64_t time_ns) {
  const auto [it, is_new] =
      address_index_.try_emplace(key, static_cast<uint32_t>(addresses_.size()));
  if (is_new) {
    const uint64_t address = key & kAddressMask;
    addresses_.push_back({address, time_ns});
    known_pages_[address >> kPageBits].push_back(address);
  }
  return it->second;
}

void StackTree::Grow() {
  std::vector<Slot> bigger(slots_.size() * 2);
  const size_t mask = bigger.size() - 1;
  for (const Slot& s : slots_) {
    if (s.node == 0) continue;
    size_t i = hashes_[s.node - kFirstReal] & mask;
    while (bigger[i].node != 0) i = (i + 1) & mask;
    bigger[i] = s;
  }
  slots_.swap(bigger);
}

uint64_t StackTree::Tag(uint64_t address) const {
  const auto it = retired_pages_.find(address >> kPageBits);
  if (it == retired_pages_.end()) return address;
  uint64_t epoch = 0;
  for (const Retired& r : it->second)
    if (address >= r.start && address < r.end) epoch = std::max<uint64_t>(epoch, r.epoch);
  return address | epoch << kEpochShift;
}

bool StackTree::Retire(uint64_t start, uint64_t size) {
  if (size == 0 || start > kAddressMask || size > kAddressMask - start) return false;
  const uint64_t end = start + size;
  constexpr uint64_t kMaxPages =
      1 << 12;  // 16 MB: a wild size must not cost a walk over the address space
  const uint64_t first = start >> kPageBits, last = (end - 1) >> kPageBits;
  if (last - first > kMaxPages) return false;
  bool any = false;
  for (uint64_t page = first; page <= last; ++page) {
    const auto known = known_pages_.find(page);
    if (known == known_pages_.end()) continue;
    const bool hit = std::any_of(known->second.begin(), known->second.end(),
                                 [&](uint64_t a) { return a >= start && a < end; });
    if (!hit) continue;
    any = true;
    std::vector<Retired>& list = retired_pages_[page];
    uint16_t epoch = 0;
    for (const Retired& r : list)
      if (r.start < end && start < r.end) epoch = std::max(epoch, r.epoch);
    // Code that is loaded again and again at one place is one entry, with the latest epoch.
    std::erase_if(list, [&](const Retired& r) { return start <= r.start && r.end <= end; });
    list.push_back({start, end, static_cast<uint16_t>(epoch == 0xFFFF ? epoch : epoch + 1)});
    // Addresses of the old epoch need not be found again.
    std::erase_if(known->second, [&](uint64_t a) { return a >= start && a < end; });
  }
  if (any)
    for (Lane& lane : lanes_) lane.depth = 0;
  return any;
}

}  // namespace clrscope::profile
