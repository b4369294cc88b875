// SPDX-License-Identifier: Apache-2.0
// Rounds estimates to the integers that file formats want, without losing their sum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace clrscope {

// Rounds each of `values` (any unit; negative and non-finite ones count as 0) down or up by less
// than one, so that the results add up to the rounded sum of all. The largest remainders are
// rounded up; equal remainders go to the earlier one, so the result is deterministic.
// Source: the Hamilton (largest remainder) method of apportionment.
std::vector<int64_t> RoundToTotal(std::span<const double> values);

}  // namespace clrscope
