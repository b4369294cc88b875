// SPDX-License-Identifier: Apache-2.0
// Largest-remainder rounding. The agent links this file, and not the library of mathematics.
#include "base/round_to_total.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace clrscope {
namespace {

// Above this a double no longer tells neighbouring whole numbers apart.
constexpr double kMaxWeight = 9007199254740992.0;  // 2^53

double Clean(double value) { return value > 0 ? std::min(value, kMaxWeight) : 0.0; }

}  // namespace

std::vector<int64_t> RoundToTotal(std::span<const double> values) {
  std::vector<int64_t> out(values.size());
  std::vector<double> remainders(values.size());
  double left = 0;  // sum of the remainders: small numbers only, so no digits are lost
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = Clean(values[i]);
    out[i] = static_cast<int64_t>(value);  // whole and below 2^53: what std::floor says
    remainders[i] = value - static_cast<double>(out[i]);
    left += remainders[i];
  }
  const auto up = std::min(values.size(), static_cast<size_t>(left + 0.5));
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto larger = [&](size_t a, size_t b) {
    return remainders[a] != remainders[b] ? remainders[a] > remainders[b] : a < b;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<ptrdiff_t>(up), order.end(), larger);
  for (size_t i = 0; i < up; ++i) ++out[order[i]];
  return out;
}

}  // namespace clrscope
