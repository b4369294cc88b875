// SPDX-License-Identifier: Apache-2.0
// Threads by the hundred that allocate a little and end: managed ones, the pool's, and native ones that enter
// managed code, one of them near the end of a small stack.
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Chaos;

sealed class Threads() : Activity(threads: 1, pauseMilliseconds: 50)
{
    const int Each = 20;
    static readonly int LingerMs = Environment.Version.Major < 9 ? 20 : 0;  // native/chaos/linger.h

    protected override ulong Compute(uint seed)
    {
        ulong sum = 0;
        var threads = new Thread[Each];
        for (int i = 0; i < Each; i++)
        {
            ulong value = seed + (ulong)i;
            threads[i] = new Thread(() => Interlocked.Add(ref sum, WorkOfNewThread(value)), maxStackSize: i % 2 == 0 ? 256 * 1024 : 0);
            threads[i].Start();
        }
        var tasks = new Task<ulong>[Each];
        for (int i = 0; i < Each; i++)
        {
            ulong value = 100 + seed + (ulong)i;
            tasks[i] = Task.Run(() => InTwoParts(value));
        }
        ulong native;
        unsafe
        {
            native = Native.chaos_threads(Each, &Enter, 1000 + seed, LingerMs) + Native.chaos_near_end(&Enter, 2000 + seed, LingerMs);
        }
        foreach (Thread t in threads) t.Join();
        Task.WaitAll(tasks);
        Tally.Count("managed threads", Each);
        Tally.Count("native threads that enter", Each);
        Tally.Count("entered near a stack's end");
        Tally.Count("tasks of the pool", Each);
        return unchecked(sum + native + tasks.Aggregate(0ul, (a, t) => a + t.Result));
    }

    static async Task<ulong> InTwoParts(ulong value)
    {
        ulong first = WorkOfNewThread(value);
        await Task.Yield();
        return first + WorkOfNewThread(value + 1);
    }

    [UnmanagedCallersOnly]
    static ulong Enter(ulong value) => WorkOfNewThread(value);

    static ulong WorkOfNewThread(ulong value)
    {
        Holder.Make();
        return Mix.OfArrays(value, count: 100, length: 200);
    }
}
