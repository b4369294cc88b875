// SPDX-License-Identifier: Apache-2.0
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "inspect/target_memory.h"

namespace clrscope::inspect {

size_t TargetMemory::ReadLive(uint64_t address, std::span<std::byte> out) const {
  iovec local{out.data(), out.size()};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process
  iovec remote{reinterpret_cast<void*>(address), out.size()};
  const ssize_t n = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  return n > 0 ? static_cast<size_t>(n) : 0;
}

size_t TargetMemory::Read(uint64_t address, std::span<std::byte> out) const {
  size_t have = ReadLive(address, out);
  // The copies that overlap: the one that begins before, and those that begin within.
  auto at = copies_.upper_bound(address);
  if (at != copies_.begin()) --at;
  for (; at != copies_.end() && at->first < address + out.size(); ++at) {
    const auto& [begin, bytes] = *at;
    const uint64_t from = std::max(begin, address);
    const uint64_t to = std::min(begin + bytes.size(), address + out.size());
    if (from >= to) continue;
    std::memcpy(out.data() + (from - address), bytes.data() + (from - begin), to - from);
    if (from - address <= have) have = std::max<size_t>(have, to - address);
  }
  return have;
}

void TargetMemory::Keep(uint64_t address, std::vector<std::byte> bytes) {
  copies_.insert_or_assign(address, std::move(bytes));
}

}  // namespace clrscope::inspect
