// SPDX-License-Identifier: Apache-2.0
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Commands;

// A thread that collects a thousand times a second, for which all others must stop.
static class Collector
{
    const long Limit = 2_000_000_000;  // turns of the loop, some seconds
    static int s_collections;

    public static void Start() => new Thread(() =>
    {
        while (true)
        {
            GC.Collect(0);
            Interlocked.Increment(ref s_collections);
            Thread.Sleep(1);  // for the others
        }
    }) { IsBackground = true }.Start();

    // Computes until there were so many collections, and calls nothing meanwhile. Returns how many there were.
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    public static int SpinUntil(int collections)
    {
        int begin = Volatile.Read(ref s_collections);
        for (long i = 0; i < Limit && Volatile.Read(ref s_collections) - begin < collections; i++) { }
        return Volatile.Read(ref s_collections) - begin;
    }
}
