// SPDX-License-Identifier: Apache-2.0
// A thread's stack, and the memory of the process that it is walked by: headers of libraries and
// assemblies, unwind tables, methods. Whatever they say, a walk ends, and stays within what it was
// given.
//
// Input: the map of memory up to the first 0; ip, sp and rbp, 8 bytes each; how many bytes the
// stack has, 2 bytes; the stack; what is at kBase and behind.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "capture/kernel/code_rules.h"
#include "capture/kernel/stack_unwinder.h"
#include "unwind/leaf_rule.h"

namespace {

using namespace clrscope;

constexpr uint64_t kBase = 0x100000;

class Window final : public capture::ProcessMemory {
 public:
  explicit Window(Bytes bytes) : bytes_(bytes) {}
  size_t Read(uint64_t address, std::span<std::byte> to) override {
    if (address < kBase || address - kBase >= bytes_.size()) return 0;
    const Bytes there = bytes_.subspan(address - kBase);
    const size_t n = std::min(there.size(), to.size());
    std::copy_n(there.begin(), n, to.begin());
    return n;
  }

 private:
  Bytes bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* const end = data + size;
  const uint8_t* const maps_end = std::find(data, end, uint8_t{0});
  const capture::CodeRanges code = capture::CodeRanges::Parse(
      {reinterpret_cast<const char*>(data), static_cast<size_t>(maps_end - data)});
  if (maps_end == end) return 0;
  ByteReader in(AsBytes(maps_end + 1, static_cast<size_t>(end - maps_end - 1)));
  capture::UserRegs regs;
  regs.known = true;
  regs.ip = in.U64();
  regs.sp = in.U64();
  regs.fp = in.U64();
  const size_t stack_bytes = in.U16();
  if (stack_bytes > in.remaining()) return 0;
  const Bytes stack = in.Take(stack_bytes);
  const Bytes memory = {in.data(), in.remaining()};
  if (!in.ok()) return 0;

  Window rest(memory);
  capture::CodeRules rules(std::make_unique<Window>(memory));
  for (uint64_t at = 0; at < memory.size() && at < 4096; at += 256)
    rules.OnMethod({kBase + at, 256, at / 512});
  capture::StackUnwinder unwinder(&rules, &rest);
  std::vector<uint64_t> chain = {regs.ip, regs.ip + 16, regs.sp};
  const size_t before = chain.size();
  (void)unwinder.Run(chain, regs, stack, code);
  if (chain.empty() ||
      chain.size() > capture::StackUnwinder::kMostFrames + before + stack.size() / 8)
    std::abort();
  (void)unwind::EpiloguesIn(memory.first(std::min<size_t>(memory.size(), 4096)), 16);
  return 0;
}
