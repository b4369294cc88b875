// SPDX-License-Identifier: Apache-2.0
// The end of a thread, and that of a task.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Locks;

sealed class JoinKind : Kind
{
    volatile bool _end;
    Thread? _thread;

    public override string Method => "Clrscope.Workloads.Locks.JoinKind.WaitForThread";

    protected override void Take(int round)
    {
        _end = false;
        _thread = new Thread(() =>
        {
            while (!_end) Thread.Sleep(1);
        }) { Name = "joined" };
        _thread.Start();
    }

    protected override void Give(int round) => _end = true;
    protected override long Wait(int index) => WaitForThread();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitForThread()
    {
        long start = Stopwatch.GetTimestamp();
        _thread!.Join();
        return Stopwatch.GetTimestamp() - start;
    }
}

sealed class TaskKind : Kind
{
    TaskCompletionSource _source = new();

    public override string Method => "Clrscope.Workloads.Locks.TaskKind.WaitForTask";

    protected override void Take(int round) => _source = new TaskCompletionSource();
    protected override void Give(int round) => _source.SetResult();
    protected override long Wait(int index) => WaitForTask();

    [MethodImpl(MethodImplOptions.NoInlining)]
    long WaitForTask()
    {
        long start = Stopwatch.GetTimestamp();
        _source.Task.Wait();
        return Stopwatch.GetTimestamp() - start;
    }
}
