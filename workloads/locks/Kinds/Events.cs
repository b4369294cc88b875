// SPDX-License-Identifier: Apache-2.0
// Events, slim and of the system, a reader's and writer's lock, and Monitor.Wait.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Locks;

sealed class EventSlimKind : Kind
{
    readonly ManualResetEventSlim _event = new();

    public override string Method => "Clrscope.Workloads.Locks.EventSlimKind.WaitForEventSlim";

    protected override void Take(int round) => _event.Reset();
    protected override void Give(int round) => _event.Set();
    protected override long Wait(int index) => WaitForEventSlim();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitForEventSlim()
    {
        long start = Stopwatch.GetTimestamp();
        _event.Wait();
        return Stopwatch.GetTimestamp() - start;
    }
}

sealed class EventKind : Kind
{
    readonly ManualResetEvent _event = new(false);

    public override string Method => "Clrscope.Workloads.Locks.EventKind.WaitForEvent";

    protected override void Take(int round) => _event.Reset();
    protected override void Give(int round) => _event.Set();
    protected override long Wait(int index) => WaitForEvent();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitForEvent()
    {
        long start = Stopwatch.GetTimestamp();
        _event.WaitOne();
        return Stopwatch.GetTimestamp() - start;
    }
}

sealed class RwLockKind : Kind
{
    readonly ReaderWriterLockSlim _gate = new();

    public override string Method => "Clrscope.Workloads.Locks.RwLockKind.WaitToRead";

    protected override void Take(int round) => _gate.EnterWriteLock();
    protected override void Give(int round) => _gate.ExitWriteLock();
    protected override long Wait(int index) => WaitToRead();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitToRead()
    {
        long start = Stopwatch.GetTimestamp();
        _gate.EnterReadLock();
        long ticks = Stopwatch.GetTimestamp() - start;
        _gate.ExitReadLock();
        return ticks;
    }
}

sealed class PulseKind : Kind
{
    readonly object _gate = new();

    public override string Method => "Clrscope.Workloads.Locks.PulseKind.WaitForPulse";

    // One by one, as above; a waiter has let go of the lock once it stands still.
    protected override void Give(int round)
    {
        for (int i = 1; i <= Waiters.Length; i++)
        {
            lock (_gate) Monitor.Pulse(_gate);
            AwaitEnd(round, i);
        }
    }

    protected override long Wait(int index) => WaitForPulse();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitForPulse()
    {
        lock (_gate)
        {
            long start = Stopwatch.GetTimestamp();
            Monitor.Wait(_gate);
            return Stopwatch.GetTimestamp() - start;
        }
    }
}
