// SPDX-License-Identifier: Apache-2.0
// Source: dotnet/runtime src/coreclr/gc/gc.cpp (CFinalize), src/coreclr/debug/daccess/request.cpp
#include "dac/finalizers.h"

#include <array>
#include <span>
#include <vector>

#include "dac/guarded.h"

namespace clrscope::dac {
namespace {

constexpr uint32_t kMaxHeaps = 1024;
constexpr uint32_t kMaxPointers = 16;
constexpr uint64_t kMaxWaiting = uint64_t{1} << 32;

// A heap keeps its objects with finalizers in one array, in segments by generation; the last two
// segments are those whose finalizers are to run, critical ones first. Each pointer is the end of
// one segment and the beginning of the next.
std::optional<uint64_t> LastTwo(std::span<const Address> ends) {
  if (ends.size() < 3) return std::nullopt;
  const Address begin = ends[ends.size() - 3], end = ends.back();
  if (begin > end || (end - begin) / sizeof(Address) > kMaxWaiting) return std::nullopt;
  return (end - begin) / sizeof(Address);
}

}  // namespace

std::optional<uint64_t> WaitForFinalizers(Runtime& runtime) {
  if (runtime.sos8() == nullptr) return std::nullopt;
  GcHeapData heap;
  if (!Succeeds([&] { return runtime.sos().GetGCHeapData(&heap); }) || heap.is_valid == 0)
    return std::nullopt;
  std::array<Address, kMaxPointers> ends{};
  uint32_t count = 0;
  const auto waiting = [&]() -> std::optional<uint64_t> {
    if (count > kMaxPointers) return std::nullopt;
    return LastTwo({ends.data(), count});
  };
  if (heap.is_server == 0) {
    if (!Succeeds([&] {
          return runtime.sos8()->GetFinalizationFillPointers(kMaxPointers, ends.data(), &count);
        }))
      return std::nullopt;
    return waiting();
  }
  if (heap.heaps > kMaxHeaps) return std::nullopt;
  // It fills just as many as there are, or none.
  std::vector<Address> heaps(heap.heaps);
  uint32_t needed = 0;
  if (!Succeeds([&] { return runtime.sos().GetGCHeapList(heap.heaps, heaps.data(), &needed); }))
    return std::nullopt;
  uint64_t sum = 0;
  for (const Address one : heaps) {
    if (!Succeeds([&] {
          return runtime.sos8()->GetFinalizationFillPointersSvr(one, kMaxPointers, ends.data(),
                                                                &count);
        }))
      return std::nullopt;
    const std::optional<uint64_t> here = waiting();
    if (!here) return std::nullopt;
    sum += *here;
  }
  return sum;
}

}  // namespace clrscope::dac
