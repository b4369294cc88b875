// SPDX-License-Identifier: Apache-2.0
// The managed heartbeat: a thread that allocates every 10 ms. How much longer it stood still than the native one
// beside it is what a profiler, or the runtime, has done to it.
using System.Diagnostics;

namespace Clrscope.Workloads.Chaos;

// As in native/chaos/beat.c; nanoseconds of CLOCK_MONOTONIC.
struct HeartbeatPage
{
    public long NativeLast, NativeLost, NativeLongest, NativeBeats;
    public long ManagedLast, ManagedLongest, ManagedExcess, ManagedBeats;
}

static unsafe class Heartbeats
{
    const int Period = 10;  // ms
    const long NativePeriod = 5_000_000;
    static HeartbeatPage* s_page;
    static object? s_last;

    public static HeartbeatPage Now => *s_page;

    public static void Start(string path)
    {
        s_page = Native.chaos_start_beat(path);
        if (s_page == null) throw new IOException($"cannot map {path}");
        new Thread(Beat) { Name = "managed-beat", IsBackground = true }.Start();
    }

    // How long the native heartbeat has stood still so far, its present pause included.
    static long NativeLost(long now)
    {
        for (;;)
        {
            long lost = Volatile.Read(ref s_page->NativeLost), last = Volatile.Read(ref s_page->NativeLast);
            if (Volatile.Read(ref s_page->NativeLost) == lost) return lost + Math.Max(0, now - last - NativePeriod);
        }
    }

    static void Beat()
    {
        Holder.Make();
        long last = Stopwatch.GetTimestamp(), lostBefore = NativeLost(last);
        for (;;)
        {
            Thread.Sleep(Period);
            s_last = new byte[100];
            long now = Stopwatch.GetTimestamp(), lost = NativeLost(now), gap = now - last;
            long excess = gap - (lost - lostBefore);
            if (gap > s_page->ManagedLongest) s_page->ManagedLongest = gap;
            if (excess > s_page->ManagedExcess) s_page->ManagedExcess = excess;
            s_page->ManagedBeats++;
            Volatile.Write(ref s_page->ManagedLast, now);
            (last, lostBefore) = (now, lost);
        }
    }
}
