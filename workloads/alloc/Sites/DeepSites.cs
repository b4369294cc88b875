// SPDX-License-Identifier: Apache-2.0
// Stacks below and above the runtime's limit of 100 frames in an event.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

static class DeepSites
{
    static readonly int s_shallow = Ledger.Register("DeepSites.Shallow", typeof(byte[]));
    static readonly int s_bottom = Ledger.Register("DeepSites.Bottom", typeof(char[]));

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Shallow(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(100, 500);
        ledger.Add(s_shallow, Size.Array(1, length));
        return new byte[length];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Deep50(ref Dice dice, Ledger ledger) => Down(50, ref dice, ledger);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Deep150(ref Dice dice, Ledger ledger) => Down(150, ref dice, ledger);

    // Not a tail call: the result is looked at.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Down(int left, ref Dice dice, Ledger ledger)
    {
        object made = left == 0 ? Bottom(ref dice, ledger) : Down(left - 1, ref dice, ledger);
        GC.KeepAlive(made);
        return made;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Bottom(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(50, 250);
        ledger.Add(s_bottom, Size.Array(2, length));
        return new char[length];
    }
}
