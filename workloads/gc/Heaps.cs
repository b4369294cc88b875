// SPDX-License-Identifier: Apache-2.0
// Makes server GC with DATAS take a heap away: much that survives, from four threads, and little that does, from one, in turn.
// Before .NET 11 the runtime's total of allocated bytes stands still from then on (dotnet/runtime#131069). Goes on for some
// seconds of that, and tells what it allocated by its own count and by the runtime's.
using System.Diagnostics;

namespace Clrscope.Workloads.Collections;

static class Heaps
{
    const double HeavySeconds = 7, LightSeconds = 8, StillSeconds = 5, MostSeconds = 90;
    const int Kept = 100_000;

    sealed class Node
    {
        public Node? Next;
        public byte[]? Data;
    }

    static long s_bytes;
    static volatile bool s_heavy, s_stop;

    public static string Run()
    {
        long before = GC.GetTotalAllocatedBytes();
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++)
        {
            bool light = i == 0;
            threads[i] = new Thread(() => Work(light));
            threads[i].Start();
        }
        var clock = Stopwatch.StartNew();
        // It stands still where a second in which the program allocates adds nothing.
        double still = -1, since = 0;
        long total = 0;
        while (clock.Elapsed.TotalSeconds < MostSeconds && (still < 0 || clock.Elapsed.TotalSeconds < still + StillSeconds))
        {
            s_heavy = still < 0 && clock.Elapsed.TotalSeconds % (HeavySeconds + LightSeconds) < HeavySeconds;
            Thread.Sleep(10);
            long now = GC.GetTotalAllocatedBytes();
            if (now != total)
            {
                total = now;
                since = clock.Elapsed.TotalSeconds;
                still = -1;
            }
            else if (still < 0 && !s_heavy && clock.Elapsed.TotalSeconds > since + 1)
            {
                still = since;
            }
        }
        s_stop = true;
        foreach (Thread thread in threads) thread.Join();
        long counted = GC.GetTotalAllocatedBytes() - before;
        return $"{{\"allocated_bytes\":{Interlocked.Read(ref s_bytes)},\"runtime_bytes\":{counted},\"stood_still\":{(still < 0 ? "false" : "true")}}}";
    }

    // Sizes are those of a 64-bit runtime: 16 bytes of an object and 24 of an array are its own.
    static void Work(bool light)
    {
        var kept = new Node[Kept];
        long bytes = 24 + 8 * Kept;
        int at = 0;
        while (!s_stop)
        {
            if (s_heavy)
            {
                for (int i = 0; i < 4000; i++)
                {
                    at = (at + 1) % Kept;
                    kept[at] = new Node { Next = kept[(at * 31 + i) % Kept]?.Next == null ? kept[(at + 7) % Kept] : null, Data = new byte[200] };
                    bytes += 32 + 224;
                }
            }
            else if (light)
            {
                for (int i = 0; i < 300; i++) GC.KeepAlive(new byte[1000]);
                bytes += 300 * 1024;
                Thread.Sleep(1);
            }
            else
            {
                Thread.Sleep(5);
            }
            Interlocked.Add(ref s_bytes, bytes);
            bytes = 0;
        }
    }
}
