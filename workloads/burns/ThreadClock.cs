// SPDX-License-Identifier: Apache-2.0
// The CPU time of the calling thread and of the process, by the system's own clocks: clock_gettime(2).
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Burns;

static unsafe partial class ThreadClock
{
    const int ProcessCpu = 2, ThreadCpu = 3;

    [DllImport("libc", EntryPoint = "clock_gettime"), SuppressGCTransition]
    static extern int GetTime(int clock, long* time);

    public static long ThreadNs => Read(ThreadCpu);
    public static long ProcessNs => Read(ProcessCpu);

    static long Read(int clock)
    {
        long* time = stackalloc long[2];
        if (GetTime(clock, time) != 0) throw new InvalidOperationException("clock_gettime");
        return time[0] * 1_000_000_000 + time[1];
    }
}
