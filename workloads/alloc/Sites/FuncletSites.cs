// SPDX-License-Identifier: Apache-2.0
// Allocations in exception handlers. The JIT makes a function of its own of each handler, which runs on
// the frame of the method around it. Exceptions and their stack traces are outside the ledger.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

static class FuncletSites
{
    const int Each = 40;  // objects for one exception, so that most samples lie in the handler
    static readonly int s_bytes = Ledger.Register("FuncletSites.Make", typeof(byte[]));
    static readonly Exception s_thrown = new InvalidOperationException("expected");

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Make(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(100, 4000);
        ledger.Add(s_bytes, Size.Array(1, length));
        return new byte[length];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object MakeMany(ref Dice dice, Ledger ledger)
    {
        object last = "";
        for (int i = 0; i < Each; i++) last = Make(ref dice, ledger);
        return last;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int depth)
    {
        if (depth == 0) throw s_thrown;
        Throw(depth - 1);
        GC.KeepAlive(s_thrown);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object InCatch(ref Dice dice, Ledger ledger)
    {
        try
        {
            Throw(3);
            return "";
        }
        catch (InvalidOperationException)
        {
            return MakeMany(ref dice, ledger);
        }
    }

    // Once as the exception passes, once without one.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object InFinally(ref Dice dice, Ledger ledger)
    {
        object made = "";
        try
        {
            Passing(ref made, ref dice, ledger, throws: true);
        }
        catch (InvalidOperationException)
        {
        }
        Passing(ref made, ref dice, ledger, throws: false);
        return made;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Passing(ref object made, ref Dice dice, Ledger ledger, bool throws)
    {
        try
        {
            if (throws) Throw(2);
        }
        finally
        {
            made = MakeMany(ref dice, ledger);
        }
    }

    // The filter runs while the frames that threw are still there.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object InFilter(ref Dice dice, Ledger ledger)
    {
        object made = "";
        try
        {
            Throw(3);
        }
        catch (InvalidOperationException) when (Keep(out made, ref dice, ledger))
        {
        }
        return made;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Keep(out object made, ref Dice dice, Ledger ledger)
    {
        made = MakeMany(ref dice, ledger);
        return true;
    }

    // A handler in a handler, and a method with a stackalloc and a handler.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Nested(ref Dice dice, Ledger ledger)
    {
        Span<long> room = stackalloc long[dice.Between(1, 64)];
        try
        {
            Throw(1);
        }
        catch (InvalidOperationException)
        {
            room[0] = 1;
            try
            {
                Throw(2);
            }
            catch (InvalidOperationException)
            {
                return MakeMany(ref dice, ledger);
            }
            finally
            {
                GC.KeepAlive(MakeMany(ref dice, ledger));
            }
        }
        return room[0].ToString();
    }
}
