// SPDX-License-Identifier: Apache-2.0
// The stacks of one process as a tree of (parent, address, code epoch): identical stacks are one
// node, common roots are shared. Nothing is resolved here; addresses get their names later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/flat_map.h"
#include "base/large_vector.h"
#include "base/mix_bits.h"

namespace clrscope::profile {

// An address as it was used during one epoch: code may be unloaded and its range used again.
struct CodeAddress {
  uint64_t address = 0;
  int64_t first_ns = 0;  // when it was first seen, since the recording's start
};

class StackTree {
 public:
  // Fixed nodes. kTruncated is the root of stacks that were cut at their root's end.
  static constexpr uint32_t kRoot = 0, kTruncated = 1, kNoStack = 2, kOther = 3, kFirstReal = 4;
  // The runtime cuts the stacks of its events at this depth (EP_MAX_STACK_DEPTH).
  static constexpr uint32_t kRuntimeLimit = 100;
  // Stacks of other writers are cut at this one.
  static constexpr uint32_t kMostFrames = 1024;
  static constexpr uint32_t kDefaultMaxNodes = 1'500'000;

  // `limit`: at which its writer cuts stacks. One that is deeper is another writer's.
  static constexpr bool IsCut(uint32_t frames, uint32_t limit = kMostFrames) {
    return frames == limit || frames >= kMostFrames;
  }

  explicit StackTree(uint32_t max_nodes = kDefaultMaxNodes);

  // Finds or adds the stack `ips` (leaf first, `pointer_size` bytes each, any alignment) and
  // returns its leaf's node. Past the cap of nodes new stacks are kOther. `thread`: whose stack it
  // is; stacks of one thread mostly share their root with the one before. A stack that
  // IsCut() hangs under kTruncated.
  // `note`, when given, becomes the word that SetNote() left with the stack.
  uint32_t Fold(const std::byte* ips, uint32_t frames, uint8_t pointer_size, uint64_t thread,
                int64_t time_ns, uint32_t limit = kMostFrames, uint32_t* note = nullptr);
  // A word of the caller's for a stack that Fold() returned last; 0 until it is set.
  void SetNote(uint32_t node, uint32_t note);

  // Code in [start, start + size) is gone: the same addresses mean something else from now on.
  // Returns whether any of them had been seen, i.e. whether memos of nodes are outdated.
  bool Retire(uint64_t start, uint64_t size);

  uint32_t size() const { return static_cast<uint32_t>(parents_.size()); }
  uint32_t parent(uint32_t node) const { return parents_[node]; }
  // Index into addresses(); meaningless for the fixed nodes.
  uint32_t address_index(uint32_t node) const { return address_of_[node]; }
  const std::vector<CodeAddress>& addresses() const { return addresses_; }
  bool capped() const { return size() >= max_nodes_; }

  // An address of a stack that lies elsewhere, as it was used at a time of its own; its index.
  uint32_t AddAddress(uint64_t address, int64_t time_ns) {
    addresses_.push_back({address, time_ns});
    return static_cast<uint32_t>(addresses_.size() - 1);
  }

  // For a tree that is read back: in the order in which they were added.
  void RestoreAddress(CodeAddress a) { addresses_.push_back(a); }
  void RestoreNode(uint32_t parent, uint32_t address_index) {
    parents_.push_back(parent);
    address_of_.push_back(address_index);
  }

 private:
  // A path from the root is known by its hash: with 1.5 million nodes two paths share one with a
  // chance below 1 in 10 million, so that a known stack is found by its leaf alone.
  struct Slot {
    uint64_t hash = 0;
    uint32_t node = 0;  // 0 = empty
  };
  // Whole stacks apart from their inner nodes: a tenth as many, so that a known one is found in a
  // table that mostly fits the cache.
  struct Leaf {
    uint64_t hash = 0;
    uint32_t node = 0;  // 0 = empty
    uint32_t note = 0;
  };
  static constexpr uint64_t kRootHash[2] = {0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u};  // by root
  struct Retired {
    uint64_t start, end;
    uint16_t epoch;
  };
  // A thread's last stack. Threads share lanes when there are many.
  struct Lane {
    uint32_t depth = 0;
    uint32_t root = kRoot;
    std::vector<uint64_t> ips;     // leaf first, its root is the vector's last
    std::vector<uint64_t> keys;    // root first, as the next ones
    std::vector<uint64_t> hashes;  // of the path that ends there
    std::vector<uint32_t> nodes;   // 0 = not looked up
  };

  static uint64_t HashChild(uint64_t parent_hash, uint64_t key) {
    return MixBits(parent_hash ^ key);
  }
  // Makes the stack its thread's last one and returns its lane.
  Lane& Follow(const std::byte* ips, uint32_t frames, uint8_t pointer_size, uint64_t thread,
               uint32_t root);
  template <class Ip>
  void FollowAs(const std::byte* ips, uint32_t frames, uint32_t root, Lane& lane);
  // The place of that path in a table of either kind, or of an empty entry.
  template <class Entry>
  static size_t Place(const LargeVector<Entry>& table, uint64_t hash) {
    const size_t mask = table.size() - 1;
    size_t i = hash & mask;
    while (table[i].node != 0 && table[i].hash != hash) i = (i + 1) & mask;
    return i;
  }
  template <class Entry>
  static void Double(LargeVector<Entry>& table);
  size_t AddLeaf(Lane& lane, uint32_t depth, int64_t time_ns);
  uint32_t AddPath(Lane& lane, uint32_t depth, int64_t time_ns);
  uint32_t AddNode(uint32_t parent, uint64_t key, uint64_t hash, int64_t time_ns);
  uint64_t Tag(uint64_t address) const;
  uint32_t AddressIndex(uint64_t key, int64_t time_ns);

  uint32_t max_nodes_;
  LargeVector<uint32_t> parents_, address_of_;
  std::vector<CodeAddress> addresses_;
  LargeVector<Slot> nodes_;  // of every path
  LargeVector<Leaf> leaves_;
  size_t leaf_count_ = 0;
  Leaf* last_ = nullptr;                                             // of the last Fold()
  FlatMap address_index_;                                            // key → index
  std::unordered_map<uint64_t, std::vector<uint64_t>> known_pages_;  // page → addresses seen
  std::unordered_map<uint64_t, std::vector<Retired>> retired_pages_;
  static constexpr size_t kLanes = 16;
  std::array<Lane, kLanes> lanes_;
};

}  // namespace clrscope::profile
