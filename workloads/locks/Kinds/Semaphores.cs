// SPDX-License-Identifier: Apache-2.0
// SemaphoreSlim, by threads that stand still, and by methods that are awaited, where none does.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Locks;

sealed class SemaphoreKind : Kind
{
    readonly SemaphoreSlim _semaphore = new(0);

    public override string Method => "Clrscope.Workloads.Locks.SemaphoreKind.WaitForSemaphore";

    // One by one: those let go at once would meet at the semaphore's own lock.
    protected override void Give(int round)
    {
        for (int i = 1; i <= Waiters.Length; i++)
        {
            _semaphore.Release();
            AwaitEnd(round, i);
        }
    }

    protected override long Wait(int index) => WaitForSemaphore();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitForSemaphore()
    {
        long start = Stopwatch.GetTimestamp();
        _semaphore.Wait();
        return Stopwatch.GetTimestamp() - start;
    }
}

sealed class AsyncSemaphoreKind : Kind
{
    readonly SemaphoreSlim _semaphore = new(0);

    public override string Method => "Clrscope.Workloads.Locks.AsyncSemaphoreKind.RunAsync";
    public override bool Blocks => false;

    protected override void Give(int round) => _semaphore.Release(Waiters.Length);
    protected override long Wait(int index) => throw new NotSupportedException();
    protected override void StartWaiter(int index) => Task.Run(() => RunAsync(index));

    async Task RunAsync(int index)
    {
        for (int round = 1; round <= Rounds; round++)
        {
            AwaitRound(round);
            long start = Stopwatch.GetTimestamp();
            Task task = _semaphore.WaitAsync();
            Begin(index, round);
            await task;
            End(index, round, Stopwatch.GetTimestamp() - start);
        }
    }
}
