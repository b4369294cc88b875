// SPDX-License-Identifier: Apache-2.0
// Managed code on fibers. The runtime does not look for objects on such a stack when it collects (a control without
// any profiler dies of it), so this is for runs without a GC.
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Chaos;

sealed class Fibers() : Activity(threads: 1, pauseMilliseconds: 10)
{
    protected override bool TakesSignals => false;

    protected override unsafe ulong Compute(uint seed)
    {
        ulong sum = 0;
        for (ulong i = 0; i < 8; i++) sum = Mix.Add(sum, Native.chaos_on_fiber(&Enter, seed + i));
        Tally.Count("calls on a fiber", 8);
        return sum;
    }

    [UnmanagedCallersOnly]
    static ulong Enter(ulong value) => Mix.OfArrays(value, count: 50, length: 1000);
}
