// SPDX-License-Identifier: Apache-2.0
// What samples say about all allocations, with the error of saying so.
#pragma once

#include <cstdint>
#include <string_view>

namespace clrscope::profile {

// Which event of the runtime an allocation was learnt from. The values are stored in captures.
enum class Source : uint8_t {
  kForeign = 0,  // another tool's pprof: figures as they are told, nothing is known of their error
  kTick = 1,     // AllocationTick: one event per ~100 KB of a heap kind; biased, no interval
  kSampled = 2,  // AllocationSampled (.NET 10): each byte is hit with probability 1/102400
  kCounted = 3,  // GCSampledObjectAllocation: counts since the type's last event; a lower bound
};

// The heap that an object was allocated on; the wire values of the runtime's events.
enum class HeapKind : uint8_t { kSoh = 0, kLoh = 1, kPoh = 2, kUnknown = 3 };
constexpr HeapKind HeapKindOf(uint32_t wire) {
  return wire <= 2 ? static_cast<HeapKind>(wire) : HeapKind::kUnknown;
}

// The runtime's name of the event, in JSON and SQL too.
constexpr std::string_view EventName(Source source) {
  return source == Source::kTick      ? "AllocationTick"
         : source == Source::kSampled ? "AllocationSampled"
         : source == Source::kForeign ? "pprof"
                                      : "GCSampledObjectAllocation";
}
constexpr std::string_view KindName(HeapKind kind) {
  return kind == HeapKind::kSoh   ? "SOH"
         : kind == HeapKind::kLoh ? "LOH"
         : kind == HeapKind::kPoh ? "POH"
                                  : "unknown";
}

// Counted figures know sizes but not heaps: "LOH size" or "unknown".
constexpr std::string_view KindName(HeapKind kind, Source source) {
  return source == Source::kCounted && kind == HeapKind::kLoh ? "LOH size" : KindName(kind);
}

inline constexpr double kSamplingMeanBytes = 102400.0;

// Additive summary of samples: of one row, one stack, or everything.
//   samples          events
//   bytes, objects   estimates of what was allocated
//   seen_*           bytes and objects of the sampled objects themselves: a certain lower bound
//   var_*            variance of the estimates (Sampled only)
//   max_*            largest single-sample weight (Sampled only), for the intervals
struct Estimate {
  uint64_t samples = 0;
  double bytes = 0, objects = 0;
  double seen_bytes = 0, seen_objects = 0;
  double var_bytes = 0, var_objects = 0;
  double max_bytes = 0, max_objects = 0;
  bool biased = false;  // rests on AllocationTick, at least in part: no interval
  // Of a type, in part at least, of which objects of several sizes were seen anywhere in the
  // recording (profile/type_sizes.h).
  bool many_sizes = false;

  Estimate& operator+=(const Estimate& o) {
    samples += o.samples;
    bytes += o.bytes;
    objects += o.objects;
    seen_bytes += o.seen_bytes;
    seen_objects += o.seen_objects;
    var_bytes += o.var_bytes;
    var_objects += o.var_objects;
    if (o.max_bytes > max_bytes) max_bytes = o.max_bytes;
    if (o.max_objects > max_objects) max_objects = o.max_objects;
    biased = biased || o.biased;
    many_sizes = many_sizes || o.many_sizes;
    return *this;
  }
};

struct Interval {
  double low = 0, high = 0;
};

// The chance that at least one byte of an object of `size` bytes is hit: 1 - (1 - 1/mean)^size.
// Source: dotnet/runtime docs/design/features/RandomizedAllocationSampling.md
double HitProbability(double size, double mean = kSamplingMeanBytes);

// `n` AllocationSampled events of objects of `size` bytes each (size > 0).
Estimate EstimateSampled(uint64_t n, double size, double mean = kSamplingMeanBytes);

// `n` AllocationTick events with `amount` bytes in all; `size` is the mean size of the sampled
// objects, or 0 before payload V4, where objects cannot be estimated and stay 0.
Estimate EstimateTick(uint64_t n, double amount, double size);

// 95 % intervals of a sum of Sampled estimates. Right for few samples too: the objects that were
// seen are certain, the rest is a gamma interval matched to its mean and variance (Fay & Feuer,
// Statistics in Medicine 16, 1997; its upper end after Tiwari, Clegg & Zou, Statistical Methods in
// Medical Research 15, 2006), which for equal weights is the exact Poisson interval. Where sizes
// differ, in this row or elsewhere in its types, smaller objects may hide of which there is no
// sample: the upper end allows for them (docs/decisions/0002-intervals.md); `kind`: where all of
// them are, the LOH has no small ones.
Interval BytesInterval(const Estimate& e);
Interval ObjectsInterval(const Estimate& e, HeapKind kind = HeapKind::kUnknown);

// Whether the samples of `e` differ in size.
bool SizesDiffer(const Estimate& e);

}  // namespace clrscope::profile
