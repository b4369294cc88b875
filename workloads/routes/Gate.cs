// SPDX-License-Identifier: Apache-2.0
// A lock that requests wait for. Whoever has it looks at those who wait, and takes note of since when each stands still.
using System.Diagnostics;
using System.Runtime.CompilerServices;
using ThreadState = System.Threading.ThreadState;

namespace Clrscope.Workloads.Routes;

static class Gate
{
    const int LookMs = 5;

    static readonly object s_gate = new();
    static readonly Waiter?[] s_waiters = new Waiter?[256];  // without a lock of its own, for which others would wait
    static long s_given;

    sealed class Waiter
    {
        public readonly Thread Thread = Thread.CurrentThread;
        public readonly int OsThread = Os.ThreadId();
        public long Looked, Cpu, Stands;  // the last two looks at it, by who has the lock
    }

    public static void Pass(Tally tally, int ms)
    {
        if (!Monitor.TryEnter(s_gate)) WaitForTurn(tally);
        Hold(ms);
        Markers.Lock(tally);
        s_given = Stopwatch.GetTimestamp();
        Monitor.Exit(s_gate);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WaitForTurn(Tally tally)
    {
        var waiter = new Waiter();
        int slot = 0;
        while (slot < s_waiters.Length && Interlocked.CompareExchange(ref s_waiters[slot], waiter, null) is not null) slot++;
        long start = Stopwatch.GetTimestamp();
        Monitor.Enter(s_gate);
        long waited = (long)Stopwatch.GetElapsedTime(start).TotalNanoseconds;
        if (slot < s_waiters.Length) s_waiters[slot] = null;
        long blocked = waiter.Stands == 0 || s_given < waiter.Stands ? 0 : (long)Stopwatch.GetElapsedTime(waiter.Stands, s_given).TotalNanoseconds;
        tally.AddWait(waited, blocked);
    }

    static void Hold(int ms)
    {
        long start = Stopwatch.GetTimestamp();
        for (double left; (left = ms - Stopwatch.GetElapsedTime(start).TotalMilliseconds) > 0;)
        {
            foreach (Waiter? waiter in s_waiters)
                if (waiter is { Stands: 0 }) Look(waiter);
            Thread.Sleep((int)Math.Ceiling(Math.Min(left, LookMs)));
        }
    }

    // Who sleeps at two looks, and did not run in between, slept all the time. Spinning waiters sleep for shorter than that.
    static void Look(Waiter waiter)
    {
        long now = Stopwatch.GetTimestamp();
        if ((waiter.Thread.ThreadState & ThreadState.WaitSleepJoin) == 0 || !Os.Sleeps(waiter.OsThread))
        {
            waiter.Looked = 0;
            return;
        }
        long cpu = Os.CpuNanoseconds(waiter.OsThread);
        if (waiter.Looked == 0 || waiter.Cpu != cpu)
        {
            waiter.Looked = now;
            waiter.Cpu = cpu;
        }
        else if (Stopwatch.GetElapsedTime(waiter.Looked, now).TotalMilliseconds >= LookMs - 1)
        {
            waiter.Stands = waiter.Looked;
        }
    }
}
