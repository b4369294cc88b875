// SPDX-License-Identifier: Apache-2.0
// Collections of each kind at times, which also let go what was unloaded.
namespace Clrscope.Workloads.Chaos;

sealed class Collections() : Activity(threads: 1, pauseMilliseconds: 150)
{
    protected override ulong Compute(uint seed)
    {
        switch (seed % 6)
        {
            case 0: GC.Collect(0); break;
            case 1: GC.Collect(1, GCCollectionMode.Forced, blocking: true, compacting: true); break;
            case 2: GC.Collect(2, GCCollectionMode.Forced, blocking: false); break;
            case 3: GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true); break;
            case 4: GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true); break;
            default:
                GC.Collect();
                GC.WaitForPendingFinalizers();
                break;
        }
        Tally.Count("collections induced");
        return seed;
    }
}
