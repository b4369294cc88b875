// SPDX-License-Identifier: Apache-2.0
#include "profile/interval/cpu_batch.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace clrscope::profile {
namespace {

constexpr uint16_t kCpuBatchVersion = 1;
constexpr size_t kBatchHeader = 8;
constexpr uint64_t kInKernel = 1, kCut = 2, kSampleFlags = 4;
// Of a sample: thread, periods, flags, time, three registers, two counts.
constexpr size_t kLeastSample = 9;

// As a distance from the one before: code lies together.
uint64_t Take(interval::In& in, uint64_t from) { return from + static_cast<uint64_t>(in.Signed()); }
void Put(interval::Out& out, uint64_t value, uint64_t from) {
  out.Signed(static_cast<int64_t>(value - from));
}

void WriteHead(const CpuBatchHead& h, interval::Out& out) {
  out.Signed(h.period_ns);
  out.Signed(h.tick_ns);
  for (const uint64_t v :
       {uint64_t{h.own_thread}, h.lost, h.missed, h.blocked, h.repeated, uint64_t{h.last}})
    out.Unsigned(v);
}

CpuBatchHead ReadHead(interval::In& in) {
  CpuBatchHead h;
  h.period_ns = in.Time();
  h.tick_ns = in.Time();
  if (h.period_ns <= 0 || h.tick_ns < 0) in.Fail();
  h.own_thread = in.U32();
  for (uint64_t* v : {&h.lost, &h.missed, &h.blocked, &h.repeated}) *v = in.Unsigned();
  h.last = in.Below(2) != 0;
  return h;
}

}  // namespace

void CpuBatchWriter::Add(const CpuBatchSample& s) {
  samples_.Unsigned(s.thread);
  samples_.Unsigned(s.periods);
  samples_.Unsigned((s.in_kernel ? kInKernel : 0u) | (s.cut ? kCut : 0u));
  samples_.Signed(s.time_ns);
  samples_.Unsigned(s.ip);
  samples_.Unsigned(s.sp);
  Put(samples_, s.bp, s.sp);
  const auto chain = s.chain.first(std::min(s.chain.size(), kMostCpuFrames));
  samples_.Unsigned(chain.size());
  uint64_t before = s.ip;
  for (const uint64_t address : chain) {
    Put(samples_, address, before);
    before = address;
  }
  const auto stack = s.stack.first(std::min(s.stack.size(), kMostCpuStack));
  samples_.Unsigned(stack.size());
  samples_.Append({reinterpret_cast<const char*>(stack.data()), stack.size()});
  ++count_;
}

std::string CpuBatchWriter::Take(const CpuBatchHead& head) {
  interval::Out out;
  out.Fixed(kCpuBatchMagic);
  out.Fixed(kCpuBatchVersion);
  out.Fixed(uint16_t{0});
  WriteHead(head, out);
  out.Unsigned(count_);
  out.Append(samples_.bytes());
  samples_ = {};
  count_ = 0;
  return out.Take();
}

bool IsCpuBatch(Bytes bytes) {
  ByteReader reader(bytes);
  return reader.U32() == kCpuBatchMagic && reader.ok();
}

Result<CpuBatchHead> DecodeCpuBatch(Bytes bytes,
                                    const std::function<void(const CpuBatchSample&)>& visit) {
  if (bytes.size() < kBatchHeader || !IsCpuBatch(bytes))
    return Error::At(ErrorCode::kCorrupt, 0, "these bytes are no samples of the agent");
  if (const auto version = LoadAt<uint16_t>(bytes.data() + 4); version != kCpuBatchVersion)
    return Error::At(ErrorCode::kFailed, 4,
                     "the agent's samples are of version " + std::to_string(version) +
                         ": use the clrscope that loaded it");
  interval::In in(bytes.subspan(kBatchHeader));
  const CpuBatchHead head = ReadHead(in);
  std::vector<uint64_t> chain;
  std::string stack;
  const size_t samples = in.Rows(kLeastSample);
  for (size_t i = 0; i < samples && in.ok(); ++i) {
    CpuBatchSample s;
    s.thread = in.U32();
    s.periods = in.U32();
    const uint64_t flags = in.Below(kSampleFlags);
    s.in_kernel = (flags & kInKernel) != 0;
    s.cut = (flags & kCut) != 0;
    s.time_ns = in.Time();
    s.ip = in.Unsigned();
    s.sp = in.Unsigned();
    s.bp = Take(in, s.sp);
    chain.resize(in.Below(kMostCpuFrames + 1));
    uint64_t before = s.ip;
    for (uint64_t& address : chain) before = address = Take(in, before);
    stack = in.Text();
    if (stack.size() > kMostCpuStack) in.Fail();
    if (!in.ok()) break;
    s.chain = chain;
    s.stack = AsBytes(stack.data(), stack.size());
    visit(s);
  }
  if (!in.ok())
    return Error::At(ErrorCode::kCorrupt, kBatchHeader + in.position(),
                     "samples of the agent are damaged");
  return head;
}

}  // namespace clrscope::profile
