// SPDX-License-Identifier: Apache-2.0
// Native libraries that are opened and closed. Their constructors call back into managed code, which allocates
// and at times collects, while the loader's lock is held.
// Whatever wants the loader's lock meanwhile and is waited for by the garbage collector hangs: a new thread's first event,
// when there is any EventPipe session, and the runtime's own making of its background GC's thread. So the door is open only
// where there are no such: see Holder.cs and tests/chaos/life.py.
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Chaos;

sealed unsafe class Libraries(string folder) : Activity(threads: 2, pauseMilliseconds: 10)
{
    static readonly string s_guest = Path.Combine(AppContext.BaseDirectory, "libguest.so");
    [ThreadStatic] static string? t_copy;
    static int s_copies, s_calls;

    public static void OpenDoor() => Native.chaos_open_door(&Enter);

    protected override ulong Compute(uint seed)
    {
        // Each thread has a library of its own: one that somebody else has open is not opened again.
        if (t_copy == null)
        {
            t_copy = Path.Combine(folder, $"libguest-{Interlocked.Increment(ref s_copies)}.so");
            File.Copy(s_guest, t_copy, overwrite: true);
        }
        nint library = NativeLibrary.Load(t_copy);
        Tally.Count("libraries opened");
        var answer = (delegate* unmanaged<ulong>)NativeLibrary.GetExport(library, "guest_answer");
        ulong got = answer();
        NativeLibrary.Free(library);
        return Mix.Add(got, seed);
    }

    [UnmanagedCallersOnly]
    static ulong Enter(ulong value)
    {
        Tally.Count("calls back by constructors");
        ulong sum = value;
        for (int i = 0; i < 100; i++)
        {
            var bytes = new byte[1000 + i];
            bytes[i] = (byte)i;
            sum = Mix.Add(sum, (ulong)bytes.Length + bytes[i]);
        }
        if (Interlocked.Increment(ref s_calls) % 16 == 0) GC.Collect(0);
        return sum;
    }
}
