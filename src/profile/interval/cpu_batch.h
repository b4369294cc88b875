// SPDX-License-Identifier: Apache-2.0
// Samples of CPU time as bytes and back: what the agent's sampler sends over its socket, between
// intervals. Addresses as they are: who reads them knows the process's code.
//
// Layout, little-endian: u32 magic, u16 version, u16 0, the head, a varint number of samples, the
// samples. What follows the last one is left alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profile/interval/interval_coder.h"

namespace clrscope::profile {

inline constexpr uint32_t kCpuBatchMagic = 0x53524C43;  // "CLRS"
inline constexpr size_t kMostCpuFrames = 1024, kMostCpuStack = 64 << 10;

// Sums since the sampler was started.
struct CpuBatchHead {
  int64_t period_ns = 0;
  int64_t tick_ns = 0;      // the kernel looks at its timers so often; 0 = unknown
  uint32_t own_thread = 0;  // of the agent
  uint64_t lost = 0;        // samples that found no room
  uint64_t missed = 0;      // threads that got no timer
  uint64_t blocked = 0;     // threads that have the signal blocked
  uint64_t repeated = 0;    // ticks of timers that came together with another
  bool last = false;        // nothing more comes
  bool operator==(const CpuBatchHead&) const = default;
};

// A thread used CPU time here. Spans are valid for the call that they are passed to.
struct CpuBatchSample {
  uint32_t thread = 0;   // as the process counts
  uint32_t periods = 1;  // that it stands for
  int64_t time_ns = 0;   // CLOCK_MONOTONIC
  uint64_t ip = 0, sp = 0, bp = 0;
  bool in_kernel = false;            // on its way back from a system call
  bool cut = false;                  // its stack could not be read
  std::span<const uint64_t> chain;   // return addresses by frame pointers, innermost first
  std::span<const std::byte> stack;  // from sp on
};

class CpuBatchWriter {
 public:
  void Add(const CpuBatchSample& sample);
  size_t count() const { return count_; }
  size_t size() const { return samples_.bytes().size(); }
  // The batch; the writer is empty again.
  std::string Take(const CpuBatchHead& head);

 private:
  interval::Out samples_;
  size_t count_ = 0;
};

bool IsCpuBatch(Bytes bytes);
// errors: kTruncated, kCorrupt, kFailed for a version that is newer; samples before the damage were
// visited
Result<CpuBatchHead> DecodeCpuBatch(Bytes bytes,
                                    const std::function<void(const CpuBatchSample&)>& visit);

}  // namespace clrscope::profile
