// SPDX-License-Identifier: Apache-2.0
// What stands at the head of docs/accuracy.md. {} is how many runs there were.
#pragma once

namespace clrscope::bench {

inline constexpr char kIntroduction[] =
    R"(<!-- Written by `make accuracy`: change bench/accuracy_introduction.h, not this file. -->
# Accuracy

Every estimator that clrscope has, and the naive ones, on programs of which each allocation is known: eleven that are
simulated (`src/profile/testing/program.h`, and four that mix sizes, `mixed_programs.h` beside it), and three real ones,
of which `bench/sequences.py` records every allocation in order: the C# compiler, csharpier and an ASP.NET Core service.
The simulator samples them as the runtime does. {} seeded runs each, four times as many of the estimators that claim an
interval, a twentieth of them by AllocationTick, which chance hardly moves. `make accuracy` writes this file and records
what it needs.

Figures are per cent, of bytes. *Bias* of a total is the mean error, *spread* its standard deviation. Of types and of
sites: *off*, half of all bytes lie in rows that are off by no more; *bias*, the mean of the rows' |bias|, by bytes;
*worst*, of those with a hundredth of all bytes; *ranks*, Kendall's tau between told and true order of those with a
thousandth. *Covered* by the 95 % interval: bytes and objects of the total; of how many rows with five samples or more,
the least and the most of bytes and objects. *The runtime's own ticks* came in the very run that was recorded: one run,
no simulation.

What the tables say:

- **AllocationSampled, each object by its size over its chance**, is unbiased everywhere, and so is the **live sample at
  every cap**. `× 100 KB` forgets that large objects are surely seen, `total ÷ sampled bytes` that small ones hardly
  are.
- **Intervals of bytes and of objects hold**, where sizes are mixed too (byte arrays, strings: a few large ones that are
  seen, many small ones that are not). An interval of objects allows for the smallest ones as soon as its samples, or
  others of the same type, differ in size (`docs/decisions/0002-intervals.md`), so it is wide where nearly all samples
  are large. It can not allow for what hides where all samples of a type, everywhere, have one size.
- **AllocationTick has no estimator that is best.** By what else than its amount was tried, an event's *own bytes and a
  share of the rest* repairs the bias towards large objects below the stride, and helps much where there are many
  (ASP.NET Core); elsewhere it is the same or a little worse. The first table counts. The *amount* stays the default,
  marked as biased and without an interval.
- What is wrong with AllocationTick is mostly the **alias** of a fixed stride: a loop that allocates the same types in
  turn can be named by one of them, for as long as it runs. No weight mends that. The three real programs show it in the
  rows' own ticks as in simulated ones.
- Totals by AllocationTick are too high by what threads **lose of their contexts**: an object that does not fit is given
  a new one, and the rest of the old one is lost when another thread was given memory meanwhile. It is 1 % in real
  programs, 13 % where 64 threads take turns. *Scaled to the GC's count* would mend totals; no event tells that count.
- A single thread loses nothing. (An earlier simulator let it, and said that a periodic program is told wrongly; live on
  .NET 8 and 9 it is told right.)
- **Live objects by AllocationTick** carry its bias on. Halving at the cap adds spread and hardly any bias to totals.
- A **table that refuses newcomers** when it is full, and raw sizes (what other profilers show as live), miss most
  bytes.
- **`--types low` and `high`** are lower bounds: live, at the end, by program.
)";

}  // namespace clrscope::bench
