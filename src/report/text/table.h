// SPDX-License-Identifier: Apache-2.0
// The text of a report: heading, tables that fit the terminal, and what was lost.
#pragma once

#include <cstddef>
#include <string>

#include "report/input/input.h"
#include "report/rows/rows.h"
#include "report/text/style.h"

namespace clrscope::report {

struct TextOptions {
  size_t width = 100;
  Style style{};
  profile::SortBy sort = profile::SortBy::kAmount;
  bool framework = false;
};

// Fewer samples than this are marked: their figures are rough.
inline constexpr uint64_t kFewSamples = 5;

// What was recorded, by which event, and the totals.
// `sums`: with what was allocated, or lives, in all.
std::string HeadingText(const Input& input, const TextOptions& options, bool sums = true);
// One table with a title line.
std::string TableText(const ReportTable& table, const profile::Profile& profile,
                      const TextOptions& options);
// Blocks of frames, leaf first.
std::string StacksText(const ReportTable& table, const profile::Profile& profile,
                       const TextOptions& options);
// What the marks mean, and each loss as a sentence.
std::string FooterText(const Input& input, bool marked_few, size_t width);

// Whether a row is marked. Counts and events are not: they rest on nothing but themselves.
inline bool IsFew(const profile::Profile& p, const profile::Estimate& e) {
  return e.samples < kFewSamples && !p.counted() && !p.shown().events() &&
         p.shown().source != profile::Source::kForeign;
}
bool AnyFew(const ReportTable& table, const profile::Profile& p);

}  // namespace clrscope::report
