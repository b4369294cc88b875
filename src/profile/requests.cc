// SPDX-License-Identifier: Apache-2.0
#include "profile/requests.h"

#include <algorithm>

namespace clrscope::profile {

double IdleFacts::watched() const {
  double sum = whole.watched;
  for (const auto& [age, of] : ages) sum += of.watched;
  return sum;
}

std::optional<IdleTime> IdleFacts::Sum(double count) const {
  const double in_windows = watched() - whole.watched;
  if (whole.watched + in_windows <= 0) return std::nullopt;
  IdleTime sum{whole.queued_ns, whole.awaiting_ns};
  const double rest = std::max(0.0, count - whole.watched);
  if (in_windows <= 0) {
    const double factor = 1 + rest / whole.watched;
    return IdleTime{factor * sum.queued_ns, factor * sum.awaiting_ns};
  }
  double above = in_windows;
  for (const auto& [age, of] : ages) {
    // Of those whose window ended at about this age, half were watched to it.
    const double factor = rest / std::max(above - of.watched / 2, 0.5);
    sum.queued_ns += factor * of.queued_ns;
    sum.awaiting_ns += factor * of.awaiting_ns;
    above -= of.watched;
  }
  return sum;
}

}  // namespace clrscope::profile
