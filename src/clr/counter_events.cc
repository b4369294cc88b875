// SPDX-License-Identifier: Apache-2.0
#include "clr/counter_events.h"

#include <cmath>
#include <cstring>

namespace clrscope::clr {

bool IsCounter(Utf16View name, std::u16string_view wanted) {
  return name.units == wanted.size() &&
         std::memcmp(name.bytes().data(), wanted.data(), 2 * wanted.size()) == 0;
}

bool Decode(const RawEvent& event, SumCounter& out) {
  ByteReader r(event.payload);
  out = {};
  out.name = r.Utf16Z();
  (void)r.Utf16Z();  // its name for people
  (void)r.Utf16Z();  // the scale of rates for people
  out.increment = r.F64();
  out.interval_s = static_cast<double>(r.Read<float>());
  (void)r.Utf16Z();  // metadata
  (void)r.Utf16Z();  // "Interval=1000"
  const bool sum = IsCounter(r.Utf16Z(), u"Sum");
  constexpr double kMost = 1e15, kLongest = 1e6;
  return r.ok() && sum && std::abs(out.increment) <= kMost && out.interval_s >= 0 &&
         out.interval_s <= kLongest;
}

bool Decode(const RawEvent& event, MeanCounter& out) {
  ByteReader r(event.payload);
  out = {};
  out.name = r.Utf16Z();
  (void)r.Utf16Z();  // its name for people
  out.mean = r.F64();
  constexpr size_t kRest = 8 + 4 + 8 + 8 + 4;  // deviation, count, least, most, interval
  r.Skip(kRest);
  (void)r.Utf16Z();  // "Interval=1000"
  const bool mean = IsCounter(r.Utf16Z(), u"Mean");
  constexpr double kMost = 1e15;
  return r.ok() && mean && out.mean >= 0 && out.mean <= kMost;
}

}  // namespace clrscope::clr
