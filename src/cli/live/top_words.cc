// SPDX-License-Identifier: Apache-2.0
#include "cli/live/top_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/cells.h"

namespace clrscope::cli {

std::string SparkText(const std::vector<double>& values, size_t width) {
  static constexpr const char* kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t from = values.size() > width ? values.size() - width : 0;
  double most = 0;
  for (size_t i = from; i < values.size(); ++i) most = std::max(most, values[i]);
  std::string out;
  for (size_t i = from; i < values.size(); ++i) {
    const auto bar = static_cast<size_t>(most > 0 ? values[i] / most * 8 + 0.5 : 0);
    out += kBars[values[i] > 0 ? std::max<size_t>(bar, 1) : 0];
  }
  return out;
}

std::string ErrorText(const profile::Estimate& e, bool biased) {
  if (e.samples == 0) return "";
  if (biased) return "~";
  const profile::Interval i = profile::AmountInterval(e);
  const double half = std::max(e.amount - i.low, i.high - e.amount) / e.amount;
  return half < 0.01 ? "±<1 %" : half < 9.995 ? fmt::format("±{:.0f} %", half * 100) : "±>10×";
}

std::string FirstText(const TopModel& m, double value) {
  return report::QuantityText(m.first().unit, value, false);
}
std::string OtherText(const TopModel& m, double value) {
  return report::QuantityText(m.other().unit, value, false);
}

}  // namespace clrscope::cli
