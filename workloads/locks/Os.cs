// SPDX-License-Identifier: Apache-2.0
using System.Runtime.InteropServices;
using System.Text.Unicode;

namespace Clrscope.Workloads.Locks;

static class Os
{
    // The kernel's id of this thread, by which the runtime's events name the owner of a lock.
    [DllImport("libc", EntryPoint = "gettid")] public static extern int ThreadId();

    // Of one of our threads; 0 when it has ended.
    public static long CpuNanoseconds(int osThread)
    {
        const int perThreadScheduled = 6;  // as MAKE_THREAD_CPUCLOCK of the kernel has it
        return GetTime((~osThread << 3) | perThreadScheduled, out TimeSpec time) == 0 ? time.Seconds * 1_000_000_000 + time.Nanoseconds : 0;
    }

    // It neither runs nor waits for a processor. Of one of our threads.
    public static bool Sleeps(int osThread)
    {
        // Nothing is allocated here: who holds a lock is to be seen at what it does afterwards.
        Span<byte> path = stackalloc byte[64];
        Utf8.TryWrite(path, $"/proc/self/task/{osThread}/stat\0", out _);
        int file = Open(ref path[0], 0);
        if (file < 0) return false;
        Span<byte> stat = stackalloc byte[512];
        nint length = Read(file, ref stat[0], stat.Length);
        _ = Close(file);
        int name = length <= 0 ? -1 : stat[..(int)length].LastIndexOf((byte)')');
        return name >= 0 && stat[name + 2] == 'S';
    }

    [DllImport("libc", EntryPoint = "open")] static extern int Open(ref byte path, int flags);
    [DllImport("libc", EntryPoint = "read")] static extern nint Read(int file, ref byte buffer, nint count);
    [DllImport("libc", EntryPoint = "close")] static extern int Close(int file);

    struct TimeSpec
    {
        public long Seconds, Nanoseconds;
    }

    [DllImport("libc", EntryPoint = "clock_gettime")] static extern int GetTime(int clock, out TimeSpec time);
}
