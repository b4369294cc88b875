// SPDX-License-Identifier: Apache-2.0
// System.Threading.Lock, which there is since .NET 9.
#if NET9_0_OR_GREATER
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Locks;

sealed class LockKind : Kind
{
    readonly Lock _gate = new();

    public override string Method => "Clrscope.Workloads.Locks.LockKind.WaitForLock";
    public override bool Contends => true;

    protected override void Take(int round) => _gate.Enter();
    protected override void Give(int round) => _gate.Exit();
    protected override long Wait(int index) => WaitForLock();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitForLock()
    {
        long start = Stopwatch.GetTimestamp();
        lock (_gate) return Stopwatch.GetTimestamp() - start;
    }
}

sealed class TryLockKind : Kind
{
    readonly Lock _gate = new();

    public override string Method => "Clrscope.Workloads.Locks.TryLockKind.WaitByTryLock";
    public override bool Contends => true;
    public override bool Stops => false;  // of a Lock that was not had in time the runtime does not say that the wait ended
    public override bool Fails => true;

    protected override void Take(int round) => _gate.Enter();
    protected override void Give(int round)
    {
        AwaitEnd(round, Waiters.Length);
        _gate.Exit();
    }

    protected override long Wait(int index) => WaitByTryLock();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitByTryLock()
    {
        long start = Stopwatch.GetTimestamp();
        if (_gate.TryEnter(HoldMs)) throw new InvalidOperationException("the lock was free");
        return Stopwatch.GetTimestamp() - start;
    }
}
#endif
