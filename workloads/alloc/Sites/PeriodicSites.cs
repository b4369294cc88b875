// SPDX-License-Identifier: Apache-2.0
// A program whose rhythm is that of AllocationTick: a tick of every 100 KB lands always on the same
// site, though four sites allocate equally much. Random sampling is not fooled.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

static class PeriodicSites
{
    const int Each = 1024;           // bytes of one object
    const int OfEach = 25;           // 4 sites × 25 × 1024 = 102400
    static readonly int s_north = Ledger.Register("PeriodicSites.North", typeof(byte[]));
    static readonly int s_east = Ledger.Register("PeriodicSites.East", typeof(byte[]));
    static readonly int s_south = Ledger.Register("PeriodicSites.South", typeof(byte[]));
    static readonly int s_west = Ledger.Register("PeriodicSites.West", typeof(byte[]));

    public static object Cycle(ref Dice dice, Ledger ledger)
    {
        object last = "";
        for (int i = 0; i < OfEach; i++) last = North(ledger);
        for (int i = 0; i < OfEach; i++) last = East(ledger);
        for (int i = 0; i < OfEach; i++) last = South(ledger);
        for (int i = 0; i < OfEach; i++) last = West(ledger);
        return last;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object North(Ledger ledger)
    {
        ledger.Add(s_north, Each);
        return new byte[Each - 24];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object East(Ledger ledger)
    {
        ledger.Add(s_east, Each);
        return new byte[Each - 24];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object South(Ledger ledger)
    {
        ledger.Add(s_south, Each);
        return new byte[Each - 24];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object West(Ledger ledger)
    {
        ledger.Add(s_west, Each);
        return new byte[Each - 24];
    }
}
