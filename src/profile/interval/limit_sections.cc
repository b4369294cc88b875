// SPDX-License-Identifier: Apache-2.0
// What the agent may take, what it took, and which rows are of windows of time.
#include "profile/interval/interval_sections.h"

namespace clrscope::profile::interval {
namespace {

void OfWindows(const IntervalWindows& w, Out& o) {
  o.Signed(w.ns);
  o.Unsigned(w.count);
  for (const int64_t ns : w.of_ns) o.Signed(ns);
}
// Sums of hostile frames can be added up as well.
int64_t Ns(In& in) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const int64_t ns = in.Time();
  if (ns < 0 || ns > kMost) in.Fail();
  return in.ok() ? ns : 0;
}
void OfWindows(In& in, IntervalWindows& w) {
  w.ns = Ns(in);
  w.count = in.Below(uint64_t{1} << 40);
  for (int64_t& ns : w.of_ns) ns = Ns(in);
}

}  // namespace

// What it says of rows is by their order: a reader that does not know it has the same sums.
void Limit(const IntervalFrame& f, Out& o) {
  o.Number(f.overhead.limit);
  o.Signed(f.overhead.cpu_ns);
  o.Unsigned(kOverheadParts);
  for (size_t i = 0; i < kOverheadParts; ++i) {
    const Overhead::Windows& w = f.overhead.windows[i];
    o.Signed(f.overhead.cost_ns[i]);
    o.Unsigned(w.windows);
    o.Signed(w.ns);
    o.Signed(w.of_ns);
  }
  OfWindows(f.windows, o);
  OfWindows(f.all_windows, o);
  const auto of_rows = [&o](const auto& rows) {
    o.Unsigned(rows.size());
    for (const auto& r : rows) o.Unsigned(r.window);
  };
  of_rows(f.flows);
  of_rows(f.lives);
  of_rows(f.turnover);
}
void Limit(In& in, IntervalFrame& f) {
  f.overhead.limit = in.Number();
  f.overhead.cpu_ns = Ns(in);
  const size_t parts = in.Rows(4);
  for (size_t i = 0; i < parts && in.ok(); ++i) {
    const int64_t cost_ns = Ns(in);
    Overhead::Windows w;
    w.windows = in.Below(uint64_t{1} << 40);
    w.ns = Ns(in);
    w.of_ns = Ns(in);
    if (i >= kOverheadParts) continue;  // a later agent's
    f.overhead.cost_ns[i] = cost_ns;
    f.overhead.windows[i] = w;
  }
  OfWindows(in, f.windows);
  OfWindows(in, f.all_windows);
  const auto of_rows = [&in](auto& rows) {
    if (in.Rows(1) != rows.size()) in.Fail();
    for (auto& r : rows) {
      if (!in.ok()) return;
      r.window = static_cast<uint8_t>(in.Below(kGroups + 1));
    }
  };
  of_rows(f.flows);
  of_rows(f.lives);
  of_rows(f.turnover);
}

}  // namespace clrscope::profile::interval
