// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/perf_record.h"

#include <cstring>

namespace clrscope::capture {
namespace {

// PERF_RECORD_*
enum : uint32_t {
  kRecordLost = 2,
  kRecordComm = 3,
  kRecordExit = 4,
  kRecordThrottle = 5,
  kRecordFork = 7,
  kRecordSample = 9,
  kRecordLostSamples = 13,
};
constexpr uint16_t kCpuModeMask = 7, kCpuModeKernel = 1;
constexpr uint16_t kCommExec = 1u << 13;
constexpr uint64_t kAbi64 = 2;
constexpr size_t kHeaderBytes = 8;
constexpr size_t kTrailerBytes = 24;  // pid, tid, time, id

bool ReadSample(ByteReader& r, uint16_t misc, PerfSample& s) {
  s.in_kernel = (misc & kCpuModeMask) == kCpuModeKernel;
  s.ip = r.U64();
  s.pid = r.I32();
  s.tid = r.I32();
  s.time_ns = r.I64();
  s.id = r.U64();
  s.period = r.U64();
  const uint64_t addresses = r.U64();
  if (addresses > r.remaining() / 8) return false;
  s.chain = r.Take(addresses * 8);
  const uint64_t abi = r.U64();
  if (abi != 0) {
    uint64_t regs[kPerfUserRegCount];
    for (uint64_t& reg : regs) reg = r.U64();
    s.regs.known = abi == kAbi64;
    s.regs.fp = regs[0];
#if defined(__aarch64__)
    s.regs.lr = regs[1];
    s.regs.sp = regs[2];
    s.regs.ip = regs[3];
#else
    s.regs.sp = regs[1];
    s.regs.ip = regs[2];
#endif
  }
  const uint64_t copied = r.U64();
  if (copied != 0) {
    if (copied > r.remaining()) return false;
    s.stack = r.Take(copied);
    // How much of it the stack really had.
    const uint64_t real = r.U64();
    if (real < s.stack.size()) s.stack = s.stack.first(real);
  }
  return r.ok();
}

// What follows the header of a record that is no sample, without its trailer.
PerfKind ReadOther(uint32_t type, uint16_t misc, Bytes body, PerfRecord& out) {
  ByteReader r(body);
  PerfSample& s = out.sample;
  PerfKind kind = PerfKind::kOther;
  switch (type) {
    case kRecordLost:
      r.U64();  // the id of an event
      out.lost = r.U64();
      kind = PerfKind::kLost;
      break;
    case kRecordLostSamples:
      out.lost = r.U64();
      kind = PerfKind::kLost;
      break;
    case kRecordThrottle:
      kind = PerfKind::kThrottle;
      break;
    case kRecordComm: {
      s.pid = r.I32();
      s.tid = r.I32();
      out.exec = (misc & kCommExec) != 0;
      const std::string_view text = AsText(r.Take(r.remaining()));
      out.name = text.substr(0, text.find('\0'));
      kind = PerfKind::kName;
      break;
    }
    case kRecordExit:
    case kRecordFork:
      s.pid = r.I32();
      out.parent_pid = r.I32();
      s.tid = r.I32();
      out.parent_tid = r.I32();
      s.time_ns = r.I64();
      kind = type == kRecordExit ? PerfKind::kExit : PerfKind::kFork;
      break;
    default:
      break;
  }
  return r.ok() ? kind : PerfKind::kMalformed;
}

}  // namespace

PerfRecord DecodePerfRecord(Bytes record) {
  PerfRecord out;
  ByteReader header(record);
  const uint32_t type = header.U32();
  const uint16_t misc = header.U16(), size = header.U16();
  if (!header.ok() || size != record.size()) {
    out.kind = PerfKind::kMalformed;
    return out;
  }
  const Bytes body = record.subspan(kHeaderBytes);
  if (type == kRecordSample) {
    ByteReader r(body);
    const bool good = ReadSample(r, misc, out.sample);
    out.kind = good ? PerfKind::kSample : PerfKind::kMalformed;
    return out;
  }
  if (body.size() < kTrailerBytes) {
    out.kind = PerfKind::kMalformed;
    return out;
  }
  ByteReader trailer(body.last(kTrailerBytes));
  out.sample.pid = trailer.I32();
  out.sample.tid = trailer.I32();
  out.sample.time_ns = trailer.I64();
  out.sample.id = trailer.U64();
  out.kind = ReadOther(type, misc, body.first(body.size() - kTrailerBytes), out);
  return out;
}

int64_t PerfRecordTime(Bytes record) {
  ByteReader r(record);
  const uint32_t type = r.U32();
  r.Skip(4);
  if (type == kRecordSample) {
    r.Skip(16);
  } else {
    if (record.size() < kHeaderBytes + kTrailerBytes) return 0;
    r.Skip(record.size() - kHeaderBytes - kTrailerBytes + 8);
  }
  return r.I64();
}

}  // namespace clrscope::capture
