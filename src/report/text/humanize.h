// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. Not for JSON or CSV.
#pragma once

#include <cstdint>
#include <string>

#include "profile/estimate/estimate.h"

namespace clrscope::report {

// "0 B", "512 B", "1.50 KiB", "172 MiB": three significant digits.
std::string HumanBytes(double bytes);
// "512", "12.3 k", "1.20 M": three significant digits from 10 000 on.
std::string HumanCount(double count);
// "250 ms", "1.0 s", "30.2 s", "5m 12s", "1h 30m", "3d 4h".
std::string HumanDuration(double seconds);
// "812 ns", "3.41 ms", "12.3 s", "5m 12s": three significant digits below a minute.
std::string HumanTime(double seconds);
// "30s", "10m", "2h", "7d": whole, as options take it.
std::string HumanAge(uint64_t seconds);
// "12.3 %", "<0.1 %" for what is not nothing.
std::string HumanShare(double part, double whole);
// "±5 %" when the interval is narrow and about symmetric, else "1.2–4.5 MiB"; "≥1.2 MiB" without an
// upper bound.
std::string HumanBytesInterval(double value, profile::Interval interval);
std::string HumanCountInterval(double value, profile::Interval interval);
// In nanoseconds.
std::string HumanTimeInterval(double value, profile::Interval interval);
// 1234567 → "1,234,567": exact counts.
std::string Thousands(uint64_t n);

}  // namespace clrscope::report
