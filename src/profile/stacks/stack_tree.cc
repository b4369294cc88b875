// SPDX-License-Identifier: Apache-2.0
#include "profile/stacks/stack_tree.h"

#include <algorithm>
#include <cstring>

#include "base/byte_reader.h"

namespace clrscope::profile {
namespace {

constexpr unsigned kPageBits = 12;
constexpr unsigned kEpochShift = 48;
constexpr size_t kNoLeaf = ~size_t{0};
constexpr uint64_t kAddressMask = (uint64_t{1} << kEpochShift) - 1;

// How many frames at the root's end two stacks share; both are leaf first and end at `a`, `b`.
template <class Ip>
uint32_t SharedRoots(const std::byte* a, const uint64_t* b, uint32_t limit) {
  uint32_t n = 0;
  const auto differs = [&](uint32_t i) {
    return LoadAt<Ip>(a - sizeof(Ip) * (n + i)) ^ *(b - n - i);
  };
  if constexpr (sizeof(Ip) == sizeof(*b)) {
    constexpr uint32_t kStep = 16;  // the C library compares by the widest registers there are
    const auto same = [&](uint32_t i) {
      return std::memcmp(a - sizeof(Ip) * i, b - i, sizeof(Ip) * kStep) == 0;
    };
    while (n + kStep <= limit && same(n + kStep)) n += kStep;
  }
  while (n + 4 <= limit && (differs(1) | differs(2) | differs(3) | differs(4)) == 0) n += 4;
  while (n < limit && differs(1) == 0) ++n;
  return n;
}

}  // namespace

StackTree::StackTree(uint32_t max_nodes)
    : max_nodes_(std::max(max_nodes, kFirstReal)),
      parents_(kFirstReal, kRoot),
      address_of_(kFirstReal, 0),
      nodes_(1 << 6),
      leaves_(1 << 6) {}

uint32_t StackTree::Fold(const std::byte* ips, uint32_t frames, uint8_t pointer_size,
                         uint64_t thread, int64_t time_ns, uint32_t limit, uint32_t* note) {
  last_ = nullptr;
  if (frames == 0) return kNoStack;
  const uint32_t root = IsCut(frames, limit) ? kTruncated : kRoot;
  Lane& lane = Follow(ips, std::min(frames, kMostFrames), pointer_size, thread, root);
  size_t at = Place(leaves_, lane.hashes[lane.depth - 1]);
  if (leaves_[at].node == 0) {
    at = AddLeaf(lane, lane.depth, time_ns);
    if (at == kNoLeaf) return kOther;
  }
  last_ = &leaves_[at];
  if (note != nullptr) *note = last_->note;
  return lane.nodes[lane.depth - 1] = last_->node;
}

StackTree::Lane& StackTree::Follow(const std::byte* ips, uint32_t frames, uint8_t pointer_size,
                                   uint64_t thread, uint32_t root) {
  Lane& lane = lanes_[thread % kLanes];
  if (pointer_size == 8)
    FollowAs<uint64_t>(ips, frames, root, lane);
  else
    FollowAs<uint32_t>(ips, frames, root, lane);
  return lane;
}

template <class Ip>
void StackTree::FollowAs(const std::byte* ips, uint32_t frames, uint32_t root, Lane& lane) {
  if (lane.keys.size() < frames) {
    lane.ips.assign(frames, 0);
    lane.keys.resize(frames);
    lane.hashes.resize(frames);
    lane.nodes.resize(frames);
    lane.depth = 0;
  }
  const std::byte* const end = ips + sizeof(Ip) * frames;
  uint64_t* const last_end = lane.ips.data() + lane.ips.size();
  const uint32_t shared =
      root == lane.root ? SharedRoots<Ip>(end, last_end, std::min(frames, lane.depth)) : 0;
  lane.root = root;
  uint64_t hash = shared == 0 ? kRootHash[root] : lane.hashes[shared - 1];
  const bool any_retired = !retired_pages_.empty();
  for (uint32_t d = shared; d < frames; ++d) {
    const uint64_t ip = LoadAt<Ip>(end - sizeof(Ip) * (d + 1));
    const uint64_t key = any_retired ? Tag(ip & kAddressMask) : ip & kAddressMask;
    hash = HashChild(hash, key);
    last_end[-1 - static_cast<std::ptrdiff_t>(d)] = ip;
    lane.keys[d] = key;
    lane.hashes[d] = hash;
    lane.nodes[d] = 0;
  }
  lane.depth = frames;
}

void StackTree::SetNote(uint32_t node, uint32_t note) {
  if (last_ != nullptr && last_->node == node) last_->note = note;
}

// Past the cap of nodes: kNoLeaf.
size_t StackTree::AddLeaf(Lane& lane, uint32_t depth, int64_t time_ns) {
  const uint32_t node = AddPath(lane, depth, time_ns);
  if (node == kOther) return kNoLeaf;
  if (++leaf_count_ * 2 > leaves_.size()) Double(leaves_);
  const uint64_t hash = lane.hashes[depth - 1];
  const size_t at = Place(leaves_, hash);
  leaves_[at] = {hash, node, 0};
  return at;
}

// Adds what is missing of the lane's first `depth` frames and returns the last one's node.
uint32_t StackTree::AddPath(Lane& lane, uint32_t depth, int64_t time_ns) {
  uint32_t known = depth;
  for (; known > 0; --known) {
    uint32_t& node = lane.nodes[known - 1];
    if (node == 0) node = nodes_[Place(nodes_, lane.hashes[known - 1])].node;
    if (node != 0) break;
  }
  uint32_t node = known == 0 ? lane.root : lane.nodes[known - 1];
  for (; known < depth; ++known) {
    if (capped()) return kOther;
    node = AddNode(node, lane.keys[known], lane.hashes[known], time_ns);
    lane.nodes[known] = node;
  }
  return node;
}

uint32_t StackTree::AddNode(uint32_t parent, uint64_t key, uint64_t hash, int64_t time_ns) {
  const uint32_t node = size();
  nodes_[Place(nodes_, hash)] = {hash, node};
  parents_.push_back(parent);
  address_of_.push_back(AddressIndex(key, time_ns));
  if (size_t{node} * 4 > nodes_.size() * 3) Double(nodes_);
  return node;
}

uint32_t StackTree::AddressIndex(uint64_t key, int64_t time_ns) {
  const uint32_t found = address_index_.Find(key);
  if (found != FlatMap::kNone) return found;
  const auto index = static_cast<uint32_t>(addresses_.size());
  address_index_.Set(key, index);
  const uint64_t address = key & kAddressMask;
  addresses_.push_back({address, time_ns});
  known_pages_[address >> kPageBits].push_back(address);
  return index;
}

template <class Entry>
void StackTree::Double(LargeVector<Entry>& table) {
  LargeVector<Entry> bigger(table.size() * 2);
  for (const Entry& e : table)
    if (e.node != 0) bigger[Place(bigger, e.hash)] = e;
  table.swap(bigger);
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
