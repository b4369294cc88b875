// SPDX-License-Identifier: Apache-2.0
// The large object heap (85,000 bytes and more) and the pinned object heap.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

static class LargeSites
{
    static readonly int s_large = Ledger.Register("LargeSites.Large", typeof(byte[]), Heap.LOH);
    static readonly int s_structs = Ledger.Register("LargeSites.LargeStructs", typeof(Point[]), Heap.LOH);
    static readonly int s_pinned = Ledger.Register("LargeSites.Pinned", typeof(byte[]), Heap.POH);
    static readonly int s_pinnedLarge = Ledger.Register("LargeSites.PinnedLarge", typeof(long[]), Heap.POH);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Large(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(85_000, 300_000);
        ledger.Add(s_large, Size.Array(1, length));
        return new byte[length];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object LargeStructs(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(4_000, 20_000);
        ledger.Add(s_structs, Size.Array(24, length));
        return new Point[length];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Pinned(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(100, 16_000);
        ledger.Add(s_pinned, Size.Array(1, length));
        return GC.AllocateUninitializedArray<byte>(length, pinned: true);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object PinnedLarge(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(12_000, 40_000);
        ledger.Add(s_pinnedLarge, Size.Array(8, length));
        return GC.AllocateArray<long>(length, pinned: true);
    }
}
