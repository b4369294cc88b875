// SPDX-License-Identifier: Apache-2.0
#include "profile/interval/interval_frame.h"

#include <algorithm>

namespace clrscope::profile {
namespace {

template <size_t n>
uint8_t Bucket(const std::array<uint32_t, n>& starts, int64_t ns) {
  const int64_t seconds = ns < 0 ? 0 : ns / 1'000'000'000;
  const auto* above =
      std::upper_bound(starts.begin(), starts.end(), seconds,
                       [](int64_t value, uint32_t start) { return value < int64_t{start}; });
  return static_cast<uint8_t>(above - starts.begin() - 1);
}

}  // namespace

Estimate PartOf(const Estimate& flow, const Estimate& part) {
  Estimate e = flow;
  e.samples = part.samples;
  e.amount = part.amount;
  e.count = part.count;
  if (part.samples >= flow.samples) return e;
  const double share = static_cast<double>(part.samples) / static_cast<double>(flow.samples);
  for (double* v : {&e.seen_amount, &e.seen_count, &e.var_amount, &e.var_count}) *v *= share;
  return e;
}

uint8_t AgeBucket(int64_t ns) { return Bucket(kAgeStarts, ns); }
uint8_t BirthBucket(int64_t ns) { return Bucket(kBirthStarts, ns); }

}  // namespace clrscope::profile
