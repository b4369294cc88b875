// SPDX-License-Identifier: Apache-2.0
// The stacks of one process as a tree of (parent, address, code epoch): identical stacks are one
// node, common roots are shared. Nothing is resolved here; addresses get their names later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace clrscope::profile {

// An address as it was used during one epoch: code may be unloaded and its range used again.
struct CodeAddress {
  uint64_t address = 0;
  int64_t first_ns = 0;  // when it was first seen, since the recording's start
};

class StackTree {
 public:
  // Fixed nodes. kTruncated is the root of stacks that the runtime cut.
  static constexpr uint32_t kRoot = 0, kTruncated = 1, kNoStack = 2, kOther = 3, kFirstReal = 4;
  // The runtime cuts stacks at this depth, at the root's end.
  static constexpr uint32_t kRuntimeLimit = 100;
  static constexpr uint32_t kDefaultMaxNodes = 1'500'000;

  explicit StackTree(uint32_t max_nodes = kDefaultMaxNodes);

  // Finds or adds the stack `ips` (leaf first, `pointer_size` bytes each, any alignment) and
  // returns its leaf's node. Past the cap of nodes new stacks are kOther. `thread`: whose stack it
  // is; stacks of one thread mostly share their root with the one before.
  uint32_t Fold(const std::byte* ips, uint32_t frames, uint8_t pointer_size, uint64_t thread,
                int64_t time_ns);

  // Code in [start, start + size) is gone: the same addresses mean something else from now on.
  // Returns whether any of them had been seen, i.e. whether memos of nodes are outdated.
  bool Retire(uint64_t start, uint64_t size);

  uint32_t size() const { return static_cast<uint32_t>(parents_.size()); }
  uint32_t parent(uint32_t node) const { return parents_[node]; }
  // Index into addresses(); meaningless for the fixed nodes.
  uint32_t address_index(uint32_t node) const { return address_of_[node]; }
  const std::vector<CodeAddress>& addresses() const { return addresses_; }
  bool capped() const { return size() >= max_nodes_; }

  // For a tree that is read back: in the order in which they were added.
  void RestoreAddress(CodeAddress a) { addresses_.push_back(a); }
  void RestoreNode(uint32_t parent, uint32_t address_index) {
    parents_.push_back(parent);
    address_of_.push_back(address_index);
  }

 private:
  struct Slot {
    uint64_t key = 0;  // address, epoch in the top 16 bits
    uint32_t parent = 0;
    uint32_t node = 0;  // 0 = empty
  };
  static constexpr uint64_t kRootHash[2] = {0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u};  // by root
  struct Retired {
    uint64_t start, end;
    uint16_t epoch;
  };

  // Of a path: made from the parent's hash, not from its node, so that the places of a whole
  // stack's nodes are known before the first is looked at.
  static uint64_t HashChild(uint64_t parent_hash, uint64_t key) {
    const uint64_t h = (parent_hash ^ key) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 32);
  }
  uint64_t Tag(uint64_t address) const;
  uint32_t Child(uint32_t parent, uint64_t key, uint64_t hash, int64_t time_ns);
  uint32_t AddressIndex(uint64_t key, int64_t time_ns);
  void Grow();

  uint32_t max_nodes_;
  std::vector<uint32_t> parents_, address_of_;
  std::vector<CodeAddress> addresses_;
  std::vector<Slot> slots_;
  std::vector<uint64_t> hashes_;                                     // by node, to grow slots_
  std::unordered_map<uint64_t, uint32_t> address_index_;             // key → index
  std::unordered_map<uint64_t, std::vector<uint64_t>> known_pages_;  // page → addresses seen
  std::unordered_map<uint64_t, std::vector<Retired>> retired_pages_;
  // A thread's last stack, root first. Threads share lanes when there are many.
  struct Lane {
    uint32_t depth = 0;
    uint32_t root = kRoot;
    std::vector<uint64_t> ips, keys, hashes;
    std::vector<uint32_t> nodes;
  };
  static constexpr size_t kLanes = 16;
  std::array<Lane, kLanes> lanes_;
};

}  // namespace clrscope::profile
