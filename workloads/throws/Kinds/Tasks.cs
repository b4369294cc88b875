// SPDX-License-Identifier: Apache-2.0
// Thrown within a task of the pool: ExecutionContext throws it again on its way to the task, and Wait throws an
// AggregateException around it.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class TaskError : Error;

static class Tasks
{
    public static void Round(Options _)
    {
        Task task = Task.Run(Throw);
        ((IAsyncResult)task).AsyncWaitHandle.WaitOne();  // so that Wait does not run it itself
        try
        {
            Wait(task);
        }
        catch (AggregateException)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw()
    {
        Ledger.Throw(typeof(TaskError));
        Ledger.Rethrow(typeof(TaskError));
        throw new TaskError();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Wait(Task task)
    {
        Ledger.Throw(typeof(AggregateException), Marks.Inner);
        task.Wait();
    }
}
