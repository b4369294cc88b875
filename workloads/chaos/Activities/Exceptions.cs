// SPDX-License-Identifier: Apache-2.0
// Exceptions through filters, handlers and finally blocks, nested, thrown anew, and faults of the processor.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Chaos;

sealed class Exceptions() : Activity(threads: 2, pauseMilliseconds: 10)
{
    sealed class Oops(ulong value) : Exception("oops")
    {
        public readonly ulong Value = value;
        public readonly byte[] Ballast = new byte[2000];
    }

    // The runtime's alternate stack has room for one handler: a signal to a thread that is in that of a null reference
    // ends the process, whoever sends it (native/chaos/signals.c).
    protected override bool TakesSignals => false;

    protected override ulong Compute(uint seed)
    {
        ulong sum = 0;
        for (uint i = 0; i < 4; i++)
        {
            try
            {
                Deep(12, seed + i, ref sum);
            }
            catch (Oops e) when (Matches(e, seed, ref sum))
            {
                sum = Mix.Add(sum, 1);
            }
            catch (Oops e)
            {
                sum = Mix.Add(sum, e.Value + (ulong)e.Ballast.Length + (e.StackTrace!.Contains(nameof(Deep)) ? 2ul : 3ul));
            }
            sum = Mix.Add(sum, NullReference(null));
        }
        return sum;
    }

    static bool Matches(Oops e, uint seed, ref ulong sum)
    {
        sum = Mix.Add(sum, (ulong)new int[1000].Length);
        return e.Value % 2 == seed % 2;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deep(int depth, ulong value, ref ulong sum)
    {
        try
        {
            if (depth == 0)
            {
                Tally.Count("exceptions thrown");
                throw new Oops(value);
            }
            Deep(depth - 1, value, ref sum);
        }
        catch (Oops) when (depth % 4 == 3)
        {
            sum = Mix.Add(sum, (ulong)depth);
            Tally.Count("exceptions thrown");
            throw;
        }
        finally
        {
            sum = Mix.Add(sum, (ulong)(new object[depth + 1].Length));
            try
            {
                if (depth == 6) throw new InvalidOperationException(depth.ToString());
            }
            catch (InvalidOperationException e)
            {
                sum = Mix.Add(sum, (ulong)e.Message.Length);
                Tally.Count("exceptions thrown");
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong NullReference(string? nothing)
    {
        try
        {
            return (ulong)nothing!.Length;
        }
        catch (NullReferenceException)
        {
            Tally.Count("null references");
            return 7;
        }
    }
}
