// SPDX-License-Identifier: Apache-2.0
// The lock that every object has: `lock`, methods that are synchronized, and Monitor.TryEnter, which gives up.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Locks;

class MonitorKind : Kind
{
    protected readonly object _gate = new();

    public override string Method => "Clrscope.Workloads.Locks.MonitorKind.WaitForMonitor";
    public override bool Contends => true;

    protected override void Take(int round) => Monitor.Enter(_gate);
    protected override void Give(int round) => Monitor.Exit(_gate);
    protected override long Wait(int index) => WaitForMonitor();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitForMonitor()
    {
        long start = Stopwatch.GetTimestamp();
        lock (_gate) return Stopwatch.GetTimestamp() - start;
    }
}

sealed class SynchronizedKind : Kind
{
    public override string Method => "Clrscope.Workloads.Locks.SynchronizedKind.WaitForSynchronized";
    public override bool Contends => true;

    protected override void Take(int round) => Monitor.Enter(this);
    protected override void Give(int round) => Monitor.Exit(this);
    protected override long Wait(int index)
    {
        long start = Stopwatch.GetTimestamp();
        return WaitForSynchronized() - start;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.Synchronized)]
    long WaitForSynchronized() => Stopwatch.GetTimestamp();
}

sealed class TryEnterKind : Kind
{
    readonly object _gate = new();

    public override string Method => "Clrscope.Workloads.Locks.TryEnterKind.WaitByTryEnter";
    public override bool Contends => true;
    public override bool Fails => true;

    protected override void Take(int round) => Monitor.Enter(_gate);
    protected override void Give(int round)
    {
        AwaitEnd(round, Waiters.Length);
        Monitor.Exit(_gate);
    }

    protected override long Wait(int index) => WaitByTryEnter();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitByTryEnter()
    {
        long start = Stopwatch.GetTimestamp();
        if (Monitor.TryEnter(_gate, HoldMs)) throw new InvalidOperationException("the lock was free");
        return Stopwatch.GetTimestamp() - start;
    }
}

// Awaited by methods that go on, on threads of the pool, to wait for a lock there.
sealed class AsyncMonitorKind : MonitorKind
{
    public override string Method => "Clrscope.Workloads.Locks.AsyncMonitorKind.WaitAfterAwait";

    protected override void StartWaiter(int index) => Task.Run(() => RunAsync(index));

    async Task RunAsync(int index)
    {
        for (int round = 1; round <= Rounds; round++)
        {
            await WaitAsync(index, round);
            await Task.Yield();
        }
    }

    async Task WaitAsync(int index, int round)
    {
        AwaitRound(round);
        await Task.Yield();
        Begin(index, round);
        End(index, round, WaitAfterAwait());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitAfterAwait()
    {
        long start = Stopwatch.GetTimestamp();
        lock (_gate) return Stopwatch.GetTimestamp() - start;
    }
}
