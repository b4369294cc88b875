// SPDX-License-Identifier: Apache-2.0
// Frames of unusual shape: of a size that only the run decides, with native code in between, of methods
// that were replaced while they ran, of generic methods over values.
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Clrscope.Workloads;

static unsafe class FrameSites
{
    static readonly int s_bytes = Ledger.Register("FrameSites.Make", typeof(byte[]));
    static readonly int s_points = Ledger.Register("FrameSites.Values", typeof(Point[]));

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Make(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(100, 2000);
        ledger.Add(s_bytes, Size.Array(1, length));
        return new byte[length];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object OnStack(ref Dice dice, Ledger ledger) => OnStack(dice.Between(0, 4), ref dice, ledger);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object OnStack(int depth, ref Dice dice, Ledger ledger)
    {
        Span<byte> room = stackalloc byte[dice.Between(1, 3000)];
        room[0] = (byte)depth;
        object made = depth == 0 ? Make(ref dice, ledger) : OnStack(depth - 1, ref dice, ledger);
        return room[0] == depth ? made : "";
    }

    // --- native code in between -------------------------------------------------------------------
    [ThreadStatic] static Ledger? t_ledger;
    [ThreadStatic] static Dice t_dice;
    [ThreadStatic] static object? t_made;

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Comparer(int* left, int* right);

    [DllImport("libc", EntryPoint = "qsort")]
    static extern void SortByDelegate(int* items, nuint count, nuint size, Comparer compare);
    [DllImport("libc", EntryPoint = "qsort")]
    static extern void SortByPointer(int* items, nuint count, nuint size,
                                     delegate* unmanaged[Cdecl]<int*, int*, int> compare);

    static readonly Comparer s_compare = CompareByDelegate;

    static int CompareByDelegate(int* left, int* right) => Compare(*left, *right);

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    static int CompareByPointer(int* left, int* right) => Compare(*left, *right);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Compare(int left, int right)
    {
        t_made = Make(ref t_dice, t_ledger!);
        return left.CompareTo(right);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object ThroughDelegate(ref Dice dice, Ledger ledger)
    {
        (t_ledger, t_dice) = (ledger, dice);
        int* items = stackalloc int[4] { 3, 1, 2, 0 };
        SortByDelegate(items, 4, sizeof(int), s_compare);
        dice = t_dice;
        return t_made!;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object ThroughPointer(ref Dice dice, Ledger ledger)
    {
        (t_ledger, t_dice) = (ledger, dice);
        int* items = stackalloc int[4] { 3, 1, 2, 0 };
        SortByPointer(items, 4, sizeof(int), &CompareByPointer);
        dice = t_dice;
        return t_made!;
    }

    // --- replaced while they run ------------------------------------------------------------------
    // Each instantiation is called a few times only: its loop goes on in code that replaces the first.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Loop<T>(ref Dice dice, Ledger ledger) where T : struct
    {
        object last = "";
        T value = default;
        for (int i = 0; i < 20_000; i++)
        {
            last = Make(ref dice, ledger);
            if (value.GetHashCode() == int.MinValue) return value;
        }
        return last;
    }

    struct A { public int V; public override readonly int GetHashCode() => V; }
    struct B { public long V; public override readonly int GetHashCode() => (int)V; }
    struct C { public double V, W; public override readonly int GetHashCode() => (int)V; }
    struct D { public Point P; public override readonly int GetHashCode() => (int)P.X; }

    public static object LoopA(ref Dice dice, Ledger ledger) => Loop<A>(ref dice, ledger);
    public static object LoopB(ref Dice dice, Ledger ledger) => Loop<B>(ref dice, ledger);
    public static object LoopC(ref Dice dice, Ledger ledger) => Loop<C>(ref dice, ledger);
    public static object LoopD(ref Dice dice, Ledger ledger) => Loop<D>(ref dice, ledger);

    // --- generic over values ----------------------------------------------------------------------
    interface IMaker { object Make(int depth, ref Dice dice, Ledger ledger); }

    // Each level is a type of its own.
    struct Level<TInner> : IMaker where TInner : struct, IMaker
    {
        public TInner Inner;
        public Point Fill;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public object Make(int depth, ref Dice dice, Ledger ledger)
        {
            object made = Inner.Make(depth + 1, ref dice, ledger);
            GC.KeepAlive(made);
            return made;
        }
    }

    struct Bottom : IMaker
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public object Make(int depth, ref Dice dice, Ledger ledger)
        {
            int length = dice.Between(1, 40);
            ledger.Add(s_points, Size.Array(24, length));
            return new Point[length];
        }
    }

    public static object Values(ref Dice dice, Ledger ledger)
    {
        var maker = new Level<Level<Level<Level<Bottom>>>>();
        return maker.Make(0, ref dice, ledger);
    }
}
