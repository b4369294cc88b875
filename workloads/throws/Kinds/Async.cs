// SPDX-License-Identifier: Apache-2.0
// Through --levels awaits: the exception is thrown again by each of them, and by GetResult of the one who waits.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class AsyncError : Error;
sealed class SyncError : Error;

static class Async
{
    // Thrown on a thread of the pool, when all methods await. Where an await goes on, it is called by the catch block of the
    // method that it waited for: what it throws is nested.
    public static void Round(Options options)
    {
        var go = new TaskCompletionSource();
        Task task = Level(options.Levels, go.Task);
        Task.Run(go.SetResult);
        RunToEnd(task, typeof(AsyncError));
    }

    // Thrown before any await: each method has returned a task that has failed before its caller awaits it.
    public static void RoundOfSync(Options options) => RunToEnd(SyncLevel(options.Levels), typeof(SyncError));

    // No method throws; it is the first await that makes an exception of the task's state.
    public static void RoundOfCanceled(Options options)
    {
        using var source = new CancellationTokenSource();
        Task task = CanceledLevel(options.Levels, source.Token);
        source.Cancel();
        RunToEnd(task, typeof(TaskCanceledException));
    }

    static void RunToEnd(Task task, Type type)
    {
        ((IAsyncResult)task).AsyncWaitHandle.WaitOne();
        Ledger.Rethrow(type);
        try
        {
            task.GetAwaiter().GetResult();
        }
        catch (Exception e) when (e.GetType() == type)
        {
        }
    }

    static async Task Level(int level, Task go)
    {
        if (level == 0)
        {
            await go;
            Throw();
        }
        Ledger.Rethrow(typeof(AsyncError), Marks.Nested);
        await Level(level - 1, go);
    }

    static async Task SyncLevel(int level)
    {
        if (level == 0) ThrowSync();
        Ledger.Rethrow(typeof(SyncError));
        await SyncLevel(level - 1);
    }

    static async Task CanceledLevel(int level, CancellationToken token)
    {
        if (level == 1)
        {
            Ledger.Throw(typeof(TaskCanceledException));
            await Task.Delay(Timeout.Infinite, token);
        }
        Ledger.Rethrow(typeof(TaskCanceledException), Marks.Nested);
        await CanceledLevel(level - 1, token);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw()
    {
        Ledger.Throw(typeof(AsyncError));
        throw new AsyncError();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowSync()
    {
        Ledger.Throw(typeof(SyncError));
        throw new SyncError();
    }
}
