// SPDX-License-Identifier: Apache-2.0
// What the kernel's sampler writes into its buffers: records, each with a header of 8 bytes. Every
// event is opened with the same sample_type, so the layout of a sample is fixed.
// Source: perf_event_open(2); include/uapi/linux/perf_event.h
#pragma once

#include <cstdint>
#include <string_view>

#include "base/byte_reader.h"

namespace clrscope::capture {

// sample_type: IP, TID, TIME, CALLCHAIN, ID, PERIOD, REGS_USER, STACK_USER. With sample_id_all
// every other record ends with TID, TIME and ID.
inline constexpr uint64_t kPerfSampleType =
    1u << 0 | 1u << 1 | 1u << 2 | 1u << 5 | 1u << 6 | 1u << 8 | 1u << 12 | 1u << 13;

// sample_regs_user: what a chain of frames is repaired with, in the order of the bits.
#if defined(__aarch64__)
inline constexpr uint64_t kPerfUserRegs = 1ull << 29 | 1ull << 30 | 1ull << 31 | 1ull << 32;
inline constexpr int kPerfUserRegCount = 4;  // FP, LR, SP, PC
#else
inline constexpr uint64_t kPerfUserRegs = 1u << 6 | 1u << 7 | 1u << 8;
inline constexpr int kPerfUserRegCount = 3;  // BP, SP, IP
#endif

struct UserRegs {
  bool known = false;  // false: not in a user's process, or not a 64-bit one
  uint64_t fp = 0, sp = 0, ip = 0;
  uint64_t lr = 0;  // 0 where calls push the return address
};

struct PerfSample {
  int32_t pid = 0, tid = 0;
  int64_t time_ns = 0;
  uint64_t id = 0;      // of the event that was opened; a thread that inherited it has the same
  uint64_t period = 0;  // ns of the CPU clock
  uint64_t ip = 0;
  bool in_kernel = false;
  Bytes chain;  // u64 each, with markers, see SplitChain
  UserRegs regs;
  Bytes stack;  // from regs.sp upwards
};

enum class PerfKind : uint8_t {
  kSample,
  kLost,      // `lost` records found no room
  kThrottle,  // the kernel paused an event that came too often
  kName,      // a thread's name is `name`; `exec`: the program is another one
  kExit,
  kFork,
  kOther,
  kMalformed,  // contradicts its kind's layout
};

struct PerfRecord {
  PerfKind kind = PerfKind::kOther;
  PerfSample sample;       // kSample; its ids and time are those of any kind
  uint64_t lost = 0;       // kLost
  int32_t parent_tid = 0;  // kFork
  int32_t parent_pid = 0;  // kFork
  bool exec = false;       // kName
  std::string_view name;   // kName
};

// `record`: one record with its header. Views point into it.
PerfRecord DecodePerfRecord(Bytes record);

// When it was written, for what is put into order before it is decoded; 0: not known.
int64_t PerfRecordTime(Bytes record);

// The kernel's and the user's addresses of a chain, leaf first; at most `most` of both. Appends.
// Returns how many addresses there were.
template <class Kernel, class User>
size_t SplitPerfChain(Bytes chain, size_t most, Kernel&& kernel, User&& user) {
  // PERF_CONTEXT_*: negative numbers above -4095 say whose addresses follow.
  constexpr uint64_t kMarkers = static_cast<uint64_t>(-4095);
  constexpr uint64_t kKernel = static_cast<uint64_t>(-128), kUser = static_cast<uint64_t>(-512);
  uint64_t whose = 0;
  size_t n = 0;
  for (ByteReader r(chain); r.remaining() >= 8 && n < most;) {
    const uint64_t address = r.U64();
    if (address >= kMarkers) {
      whose = address;
    } else if (whose == kKernel) {
      kernel(address), ++n;
    } else if (whose == kUser) {
      user(address), ++n;
    }
  }
  return n;
}

}  // namespace clrscope::capture
