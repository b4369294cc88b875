// SPDX-License-Identifier: Apache-2.0
// Any bytes as a process's map of memory, up to the first 0, and as the records of the kernel's
// sampler behind it: whatever they say, chains stay within what was copied.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "capture/kernel/chain_repair.h"
#include "capture/kernel/code_ranges.h"
#include "capture/kernel/perf_record.h"
#include "capture/kernel/record_ring.h"

namespace {

using namespace clrscope;

void Check(bool holds) {
  if (!holds) std::abort();
}

void TakeSample(const capture::PerfSample& sample, const capture::CodeRanges& code) {
  constexpr size_t kMostFrames = 127;
  std::vector<uint64_t> chain;
  const size_t frames = capture::SplitPerfChain(
      sample.chain, kMostFrames, [](uint64_t) {}, [&](uint64_t a) { chain.push_back(a); });
  Check(frames <= kMostFrames && chain.size() <= frames);
  const size_t before = chain.size();
  capture::ChainRepair repair;
  (void)repair.Run(chain, sample.regs, sample.stack, code);
  Check(chain.size() <= before + 1 + sample.stack.size() / 8);
  Check(code.NativesOf(chain) <= chain.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* const end = data + size;
  const uint8_t* const maps_end = std::find(data, end, uint8_t{0});
  const capture::CodeRanges code = capture::CodeRanges::Parse(
      {reinterpret_cast<const char*>(data), static_cast<size_t>(maps_end - data)});
  if (maps_end == end) return 0;
  // As the kernel's buffer: a power of two.
  const auto rest = static_cast<size_t>(end - maps_end - 1);
  size_t room = 64;
  while (room < rest) room *= 2;
  std::vector<std::byte> buffer(room);
  std::copy_n(reinterpret_cast<const std::byte*>(maps_end + 1), rest, buffer.begin());
  capture::RecordRing ring({buffer.data(), buffer.size()});
  ring.Set(0, rest);
  for (size_t n = 0; n <= rest; ++n) {
    const Bytes bytes = ring.Peek();
    if (bytes.empty()) break;
    const capture::PerfRecord record = capture::DecodePerfRecord(bytes);
    if (record.kind == capture::PerfKind::kSample) TakeSample(record.sample, code);
    (void)capture::PerfRecordTime(bytes);
    ring.Drop();
  }
  (void)ring.TakeMalformed();
  Check(ring.tail() <= rest || ring.Peek().empty());
  return 0;
}
