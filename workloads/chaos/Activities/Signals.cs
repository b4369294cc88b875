// SPDX-License-Identifier: Apache-2.0
// Signals to threads that do other things meanwhile: handlers of native code, on their stack and on alternate ones,
// and the runtime's.
using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Chaos;

sealed class Signals : Activity
{
    const int Patience = 10;  // s
    static readonly int[] s_managed = [1, 18, 28];  // SIGHUP, SIGCONT, SIGWINCH
    readonly long[] _came = new long[s_managed.Length];
    readonly List<PosixSignalRegistration> _registrations = [];

    readonly bool _managed;

    // `managed`: managed code handles some, too, on threads of the pool.
    public Signals(bool managed) : base(threads: 1, pauseMilliseconds: 5)
    {
        if (Native.chaos_catch_signals() == 0) throw new InvalidOperationException("no handlers could be set");
        _managed = managed;
        for (int i = 0; managed && i < s_managed.Length; i++)
        {
            int mine = i;
            _registrations.Add(PosixSignalRegistration.Create((PosixSignal)s_managed[i], context =>
            {
                Holder.Make();
                Interlocked.Increment(ref _came[mine]);
                context.Cancel = true;
            }));
        }
    }

    protected override ulong Compute(uint seed)
    {
        for (uint i = 0; i < 4; i++)
        {
            int which = (int)(i % 2), came = Native.chaos_signal_one(which, seed * 4 + i);
            if (came >= 0) Tally.Count(which == 0 ? "SIGUSR1 on the thread's stack" : "SIGUSR2 on the alternate stack");
            Tally.Check(came != 0, $"signal {which}: its handler did not run as it should");
        }
        Tally.Check(Native.chaos_signal_own_stack() == 1, "a signal on an alternate stack was not handled there");
        Tally.Count("SIGUSR2 on the alternate stack");
        if (_managed) Managed(seed % (uint)s_managed.Length);
        return Mix.Of(seed, 100);
    }

    void Managed(uint which)
    {
        long before = Interlocked.Read(ref _came[which]), start = Stopwatch.GetTimestamp();
        Native.chaos_raise(s_managed[which]);
        while (Interlocked.Read(ref _came[which]) == before && Stopwatch.GetElapsedTime(start).TotalSeconds < Patience) Thread.Sleep(1);
        Tally.Count("signals handled by managed code");
        Tally.Check(Interlocked.Read(ref _came[which]) != before, $"signal {s_managed[which]} never came");
    }
}
