// SPDX-License-Identifier: Apache-2.0
// A thread that waits for a lock that another one does not let go of before the end.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Locks;

sealed class Hang
{
    public const string Method = "Clrscope.Workloads.Locks.Hang.WaitForEver";

    readonly object _gate = new();
    readonly Thread _holder, _waiter;
    volatile bool _held, _end;
    volatile int _holderOsThread, _waiterOsThread;
    long _begun;

    public int HolderOsThread => _holderOsThread;
    public int WaiterOsThread => _waiterOsThread;
    public string HolderName => _holder.Name!;
    public string WaiterName => _waiter.Name!;
    public long WaitedNanoseconds => (long)Stopwatch.GetElapsedTime(_begun).TotalNanoseconds;

    Hang()
    {
        _holder = new Thread(Hold) { Name = "hang-holder" };
        _waiter = new Thread(WaitForEver) { Name = "hang-waiter" };
    }

    public static Hang Start()
    {
        var hang = new Hang();
        hang._holder.Start();
        while (!hang._held) Thread.Sleep(1);
        hang._waiter.Start();
        while (hang._waiterOsThread == 0 || (hang._waiter.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0) Thread.Sleep(1);
        return hang;
    }

    public void End()
    {
        _end = true;
        while (_waiter.IsAlive) Thread.Sleep(1);
    }

    void Hold()
    {
        _holderOsThread = Os.ThreadId();
        lock (_gate)
        {
            _held = true;
            while (!_end) Thread.Sleep(10);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    void WaitForEver()
    {
        _begun = Stopwatch.GetTimestamp();
        _waiterOsThread = Os.ThreadId();
        lock (_gate) return;
    }
}
