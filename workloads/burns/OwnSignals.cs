// SPDX-License-Identifier: Apache-2.0
// A program that has a use of its own for SIGPROF: a profiler that is built in, say.
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Burns;

sealed class OwnSignals : IDisposable
{
    const int Sigprof = 27, ItimerProf = 2, EveryUs = 10_000;

    [StructLayout(LayoutKind.Sequential)]
    struct Itimer
    {
        public long IntervalS, IntervalUs, ValueS, ValueUs;
    }

    [DllImport("libc")]
    static extern int setitimer(int which, in Itimer value, nint old);

    readonly PosixSignalRegistration _registration;
    int _count;

    public OwnSignals()
    {
        _registration = PosixSignalRegistration.Create((PosixSignal)Sigprof, context =>
        {
            context.Cancel = true;
            Interlocked.Increment(ref _count);
        });
        setitimer(ItimerProf, new Itimer { IntervalUs = EveryUs, ValueUs = EveryUs }, 0);
    }

    public int Count => Volatile.Read(ref _count);

    public void Dispose()
    {
        setitimer(ItimerProf, default, 0);
        _registration.Dispose();
    }
}
