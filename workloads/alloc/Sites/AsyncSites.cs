// SPDX-License-Identifier: Apache-2.0
// Allocations within code that the compiler rewrites: async methods, iterators, local functions and
// lambdas. State machines and thread-pool items are not in the ledger, only what the sites make.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

static class AsyncSites
{
    const int Batch = 32;  // objects per call, so that the plumbing around them is small beside them
    static readonly int s_after = Ledger.Register("AsyncSites.AfterYieldAsync", typeof(byte[]));
    static readonly int s_before = Ledger.Register("AsyncSites.BeforeYieldAsync", typeof(char[]));
    static readonly int s_iterator = Ledger.Register("AsyncSites.Iterate", typeof(short[]));
    static readonly int s_local = Ledger.Register("AsyncSites.FromLocalFunction.Local", typeof(int[]));
    static readonly int s_lambda = Ledger.Register("AsyncSites.s_make.lambda", typeof(long[]));
    static readonly Func<int, object> s_make = length => new long[length];

    // The allocating half runs on a thread of the pool.
    public static object AfterYield(ref Dice dice, Ledger ledger) =>
        AfterYieldAsync(dice.Between(100, 500), ledger).GetAwaiter().GetResult();

    static async Task<object> AfterYieldAsync(int length, Ledger ledger)
    {
        await Task.Yield();
        object last = "";
        for (int i = 0; i < Batch; i++)
        {
            ledger.Add(s_after, Size.Array(1, length));
            last = new byte[length];
        }
        return last;
    }

    // Completes at once: its frame is on the stack of the caller.
    public static object BeforeYield(ref Dice dice, Ledger ledger) =>
        BeforeYieldAsync(dice.Between(50, 250), ledger).GetAwaiter().GetResult();

    static async Task<object> BeforeYieldAsync(int length, Ledger ledger)
    {
        object last = "";
        for (int i = 0; i < Batch; i++)
        {
            ledger.Add(s_before, Size.Array(2, length));
            last = new char[length];
        }
        await Task.CompletedTask;
        return last;
    }

    public static object FromIterator(ref Dice dice, Ledger ledger)
    {
        object last = "";
        foreach (object made in Iterate(dice.Between(50, 250), ledger)) last = made;
        return last;
    }

    static IEnumerable<object> Iterate(int length, Ledger ledger)
    {
        for (int i = 0; i < Batch; i++)
        {
            ledger.Add(s_iterator, Size.Array(2, length));
            yield return new short[length];
        }
    }

    public static object FromLocalFunction(ref Dice dice, Ledger ledger)
    {
        object last = "";
        int length = dice.Between(25, 125);
        for (int i = 0; i < Batch; i++)
        {
            ledger.Add(s_local, Size.Array(4, length));
            last = Local(length);
        }
        return last;

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Local(int n) => new int[n];
    }

    public static object FromLambda(ref Dice dice, Ledger ledger)
    {
        object last = "";
        int length = dice.Between(12, 60);
        for (int i = 0; i < Batch; i++)
        {
            ledger.Add(s_lambda, Size.Array(8, length));
            last = s_make(length);
        }
        return last;
    }
}
