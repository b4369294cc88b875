// SPDX-License-Identifier: Apache-2.0
// What stands at the head of docs/accuracy.md. {} is how many runs there were.
#pragma once

namespace clrscope::bench {

inline constexpr char kIntroduction[] =
    R"(<!-- Written by `make accuracy`: change bench/accuracy_introduction.h, not this file. -->
# Accuracy

This page compares every estimator of clrscope, and naive ones, on programs of which each allocation is known. Eleven
are simulated (`src/profile/testing/program.h`; the four that mix sizes are in `mixed_programs.h` beside it). Three are
real: the C# compiler, csharpier and an ASP.NET Core service. `bench/sequences.py` records their allocations in order.
A simulator samples all of them as the runtime does, {} times with different seeds. Estimators that claim an interval
have four times as many runs. AllocationTick, which chance hardly changes, has a twentieth. Live tables have 200 runs at
most of estimators without an interval. `make accuracy` records these programs and writes this page.
[accuracy-by-measure.md](accuracy-by-measure.md) has windows of time, CPU time and source lines.

Figures are per cent of bytes. For totals, *bias* is the mean error and *spread* its standard deviation. For types and
sites, *off* is the error that rows with half of all bytes do not exceed, and *bias* is the mean of the rows' |bias|,
weighted by bytes. *Worst* is the largest bias of a row with at least 1 % of all bytes. *Ranks* is Kendall's tau between
reported and true order of the rows with at least 0.1 %. *Off* and *ranks* are means of the first 50 runs. *Covered* is
how often the 95 % interval holds the truth: of the total, for bytes and for objects; of types and sites, the number of
rows with five samples or more, and the lowest and highest coverage among them. *The runtime's own ticks* are those of
the recorded run itself: one run, no simulation.

What the tables say:

- **AllocationSampled, each object by its size over its chance**, is unbiased everywhere, and so is the **live sample at
  every cap**. `× 100 KB` forgets that large objects are surely seen, `total ÷ sampled bytes` that small ones hardly
  are.
- **Intervals of bytes and of objects hold**, where sizes are mixed too (byte arrays, strings: a few large ones that are
  seen, many small ones that are not). An interval of objects allows for the smallest ones as soon as its samples, or
  others of the same type, differ in size (`docs/decisions/0002-intervals.md`), so it is wide where nearly all samples
  are large. It cannot allow for what hides where all samples of a type, everywhere, have one size.
- **AllocationTick has no estimator that is best.** By what else than its amount was tried, an event's *own bytes and a
  share of the rest* repairs the bias towards large objects below the stride, and helps much where there are many
  (ASP.NET Core); elsewhere it is the same or a little worse. The first table counts. The *amount* stays the default,
  marked as biased and without an interval.
- What is wrong with AllocationTick is mostly the **alias** of a fixed stride: a loop that allocates the same types in
  turn can be named by one of them, for as long as it runs. No weight mends that. The three real programs show it in the
  rows' own ticks as in simulated ones.
- Totals by AllocationTick are too high by what threads **lose of their contexts**: an object that does not fit is given
  a new one, and the rest of the old one is lost when another thread was given memory meanwhile. In the three real
  programs that is 0.2 to 1.3 %. In simulated programs it is up to 14.5 % (`periodic`, 2 threads), and 12.8 % with 64
  threads. *Scaled to the GC's count* would correct totals; no event has that count.
- A single thread loses nothing. (An earlier simulator let it, and said that a periodic program is told wrongly; live on
  .NET 8 and 9 it is told right.)
- **Live objects by AllocationTick** carry its bias on. Halving at the cap adds spread and hardly any bias to totals.
- A **table that refuses newcomers** when it is full, and raw sizes (what other profilers show as live), miss most
  bytes.
- **`--types low` and `high`** are lower bounds: live, at the end, by program.
)";

}  // namespace clrscope::bench
