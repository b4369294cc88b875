// SPDX-License-Identifier: Apache-2.0
// One site for each way in which a type can be made, over types that nobody else allocates: what
// counts per type are held to.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

sealed class Plain { public long A, B; }

static class Holder
{
    public sealed class Nested { public int A; }
}

sealed class Cell<T> { public T? Value; }

struct Pixel { public int X, Y, Z; }     // 12 bytes: arrays of it have sizes that 8 does not divide
struct PinnedPixel { public byte B; }

delegate int OwnDelegate(int x);

static class TypeSites
{
    static readonly int s_plain = Ledger.Register("TypeSites.MakePlain", typeof(Plain));
    static readonly int s_nested = Ledger.Register("TypeSites.MakeNested", typeof(Holder.Nested));
    static readonly int s_cellInt = Ledger.Register("TypeSites.MakeCellOfInt", typeof(Cell<int>));
    static readonly int s_cellText = Ledger.Register("TypeSites.MakeCellOfString", typeof(Cell<string>));
    static readonly int s_cellPixel = Ledger.Register("TypeSites.MakeCellOfPixel", typeof(Cell<Pixel>));
    static readonly int s_delegate = Ledger.Register("TypeSites.MakeDelegate", typeof(OwnDelegate));
    static readonly int s_box = Ledger.Register("TypeSites.Box", typeof(Pixel));
    static readonly int s_fixed = Ledger.Register("TypeSites.FixedArray", typeof(Plain[]));
    static readonly int s_varying = Ledger.Register("TypeSites.VaryingArray", typeof(Pixel[]));
    static readonly int s_grid = Ledger.Register("TypeSites.Grid", typeof(Pixel[,]));
    static readonly int s_jagged = Ledger.Register("TypeSites.Jagged", typeof(Pixel[][]));
    static readonly int s_large = Ledger.Register("TypeSites.Large", typeof(Cell<int>[]), Heap.LOH);
    static readonly int s_pinned = Ledger.Register("TypeSites.Pinned", typeof(PinnedPixel[]), Heap.POH);
    static readonly int s_text = Ledger.Register("TypeSites.Text", typeof(string));
    static readonly int s_bytes = Ledger.Register("TypeSites.Bytes", typeof(byte[]));

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakePlain(ref Dice dice, Ledger ledger)
    {
        ledger.AddObject(s_plain, 16);
        return new Plain();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeNested(ref Dice dice, Ledger ledger)
    {
        ledger.AddObject(s_nested, 4);
        return new Holder.Nested();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeCellOfInt(ref Dice dice, Ledger ledger)
    {
        ledger.AddObject(s_cellInt, 4);
        return new Cell<int>();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeCellOfString(ref Dice dice, Ledger ledger)
    {
        ledger.AddObject(s_cellText, 8);
        return new Cell<string>();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeCellOfPixel(ref Dice dice, Ledger ledger)
    {
        ledger.AddObject(s_cellPixel, 12);
        return new Cell<Pixel>();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeDelegate(ref Dice dice, Ledger ledger)
    {
        ledger.AddObject(s_delegate, 48);
        return new OwnDelegate(ledger.Identity);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Box(ref Dice dice, Ledger ledger)
    {
        ledger.AddObject(s_box, 12);
        return new Pixel { X = 1 };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object FixedArray(ref Dice dice, Ledger ledger)
    {
        ledger.AddArray(s_fixed, 8, 7);
        return new Plain[7];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object VaryingArray(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(1, 100);
        ledger.AddArray(s_varying, 12, length);
        return new Pixel[length];
    }

    // Each dimension has its length and its lower bound, 4 bytes each.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Grid(ref Dice dice, Ledger ledger)
    {
        ledger.AddArray(s_grid, 12, 15, 16);
        return new Pixel[3, 5];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Jagged(ref Dice dice, Ledger ledger)
    {
        ledger.AddArray(s_jagged, 8, 3);
        return new Pixel[3][];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Large(ref Dice dice, Ledger ledger)
    {
        ledger.AddArray(s_large, 8, 11_000);
        return new Cell<int>[11_000];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Pinned(ref Dice dice, Ledger ledger)
    {
        ledger.AddArray(s_pinned, 1, 1_001);
        return GC.AllocateUninitializedArray<PinnedPixel>(1_001, pinned: true);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Text(ref Dice dice, Ledger ledger)
    {
        ledger.AddString(s_text, 9);
        return new string('x', 9);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Bytes(ref Dice dice, Ledger ledger)
    {
        ledger.AddArray(s_bytes, 1, 1);
        return new byte[1];
    }
}
