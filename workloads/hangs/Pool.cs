// SPDX-License-Identifier: Apache-2.0
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Hangs;

/// <summary>Sync over async: every worker blocks in the result of a task that needs a worker.</summary>
static class Pool
{
    const int Items = 200;
    static readonly TaskCompletionSource<int> never = new();

    public static int Min { get; private set; }
    public static int Workers { get; private set; }
    public static int Queued { get; private set; }

    public static void Starve(Dictionary<string, int> threads)
    {
        Min = Environment.ProcessorCount;
        Workers = Min;
        ThreadPool.SetMinThreads(Min, 1);
        ThreadPool.SetMaxThreads(Workers, 1);  // the pool would add a worker each half second
        int begun = 0;
        for (int i = 0; i < Items; i++)
            ThreadPool.QueueUserWorkItem(_ => { Interlocked.Increment(ref begun); HandleRequest(); });
        while (Volatile.Read(ref begun) < Workers) Thread.Sleep(1);
        Thread.Sleep(300);
        Queued = Items - Workers;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void HandleRequest() => _ = LoadAsync().Result;

    static async Task<int> LoadAsync() => await never.Task;
}
