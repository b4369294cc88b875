// SPDX-License-Identifier: Apache-2.0
// Children that use CPU time of their own: copies of this process (fork), and other programs.
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Burns;

static unsafe class Children
{
    const int Turns = 4, ThreadCpu = 3;
    const long ChildNs = 200_000_000;

    // Found before the copy runs: it has none of the runtime's other threads, and must not wait for them.
    static readonly nint s_libc = NativeLibrary.Load("libc.so.6");
    static readonly delegate* unmanaged[SuppressGCTransition]<int> s_fork =
        (delegate* unmanaged[SuppressGCTransition]<int>)NativeLibrary.GetExport(s_libc, "fork");
    static readonly delegate* unmanaged[SuppressGCTransition]<int, void> s_exit =
        (delegate* unmanaged[SuppressGCTransition]<int, void>)NativeLibrary.GetExport(s_libc, "_exit");
    static readonly delegate* unmanaged[SuppressGCTransition]<int, long*, int> s_time =
        (delegate* unmanaged[SuppressGCTransition]<int, long*, int>)NativeLibrary.GetExport(s_libc, "clock_gettime");

    [DllImport("libc")]
    static extern int waitpid(int pid, int* status, int options);

    // The time of the program's own thread. A copy and a shell at each turn, that run meanwhile.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Forking(long ns)
    {
        Copy(0, s_fork, s_exit, s_time);  // it is compiled
        long start = ThreadClock.ThreadNs;
        for (int i = 1; i <= Turns; i++)
        {
            int child = Copy(1, s_fork, s_exit, s_time), status;
            using Process? shell = Process.Start("sh", ["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"]);
            while (ThreadClock.ThreadNs < start + ns * i / Turns)
            {
            }
            if (waitpid(child, &status, 0) != child || status != 0) throw new InvalidOperationException($"the copy ended with {status}");
            shell?.WaitForExit();
        }
        return ThreadClock.ThreadNs - start;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Copy(int copies, delegate* unmanaged[SuppressGCTransition]<int> fork, delegate* unmanaged[SuppressGCTransition]<int, void> exit,
                    delegate* unmanaged[SuppressGCTransition]<int, long*, int> clock)
    {
        if (copies == 0) return 0;
        int child = fork();
        if (child != 0) return child;
        long* time = stackalloc long[2];
        do clock(ThreadCpu, time);
        while (time[0] * 1_000_000_000 + time[1] < ChildNs);
        exit(0);
        return 0;
    }
}
