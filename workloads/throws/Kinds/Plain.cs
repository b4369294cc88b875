// SPDX-License-Identifier: Apache-2.0
// Thrown and caught, on several threads: plain-I throws I + 1 times.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class PlainError : Error;

static class Plain
{
    public static void Round(Options options)
    {
        var threads = new Thread[options.Threads];
        for (int i = 0; i < threads.Length; i++)
        {
            int count = i + 1;
            threads[i] = new Thread(() => Several(count)) { Name = $"plain-{i}" };
            threads[i].Start();
        }
        foreach (Thread thread in threads) thread.Join();
    }

    static void Several(int count)
    {
        for (int i = 0; i < count; i++)
        {
            try
            {
                Throw();
            }
            catch (PlainError)
            {
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw()
    {
        Ledger.Throw(typeof(PlainError));
        throw new PlainError();
    }
}
