// SPDX-License-Identifier: Apache-2.0
// One class for each kind of chain: Leaf allocates after an await, and what waits for it is known.
// Every kind allocates arrays of its own type, so that a sample tells its kind by its type alone.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Awaits;

interface IChain
{
    // Who awaits Leaf, nearest first: "Type.Method" as the agent is to show them.
    static abstract string[] Callers { get; }
    static abstract Task Run(int rounds);
}

static class Work
{
    public const int Objects = 24, Length = 480;
    public static volatile object? Sink;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Allocate<T>() where T : struct
    {
        for (int i = 0; i < Objects; i++) Sink = new T[Length];
    }
}

struct M0 { public long V; }
struct M1 { public long V; }
struct M2 { public long V; }
struct M3 { public long V; }
struct M4 { public long V; }
struct M5 { public long V; }
struct M6 { public long V; }
struct M7 { public long V; }
struct M8 { public long V; }
struct M9 { public long V; }
struct M10 { public long V; }
struct M11 { public long V; }
struct M12 { public long V; }
struct M13 { public long V; }
struct M14 { public long V; }
struct M15 { public long V; }
struct M16 { public long V; }

class PlainTask : IChain
{
    public static string[] Callers => ["PlainTask.Middle", "PlainTask.Run"];
    static async Task Leaf() { await Task.Yield(); Work.Allocate<M0>(); }
    static async Task Middle() { await Leaf(); }
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Middle(); }
}

class TaskOfT : IChain
{
    public static string[] Callers => ["TaskOfT.Middle", "TaskOfT.Run"];
    static async Task<string> Leaf() { await Task.Yield(); Work.Allocate<M1>(); return "x"; }
    static async Task<(string, long)> Middle() { return (await Leaf(), 1); }
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Middle(); }
}

class ValueTasks : IChain
{
    public static string[] Callers => ["ValueTasks.Middle", "ValueTasks.Run"];
    static async ValueTask<int> Leaf() { await Task.Yield(); Work.Allocate<M2>(); return 1; }
    static async ValueTask Middle() { await Leaf(); }
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Middle(); }
}

class Pooled : IChain
{
    public static string[] Callers => ["Pooled.Middle", "Pooled.Run"];
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    static async ValueTask<int> Leaf() { await Task.Yield(); Work.Allocate<M3>(); return 1; }
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    static async ValueTask Middle() { await Leaf(); }
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Middle(); }
}

class Unconfigured : IChain
{
    public static string[] Callers => ["Unconfigured.Middle", "Unconfigured.Run"];
    static async Task<long> Leaf() { await Task.Delay(0).ConfigureAwait(false); await Task.Yield(); Work.Allocate<M4>(); return 1; }
    static async Task<long> Middle() { return await Leaf().ConfigureAwait(false); }
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Middle().ConfigureAwait(false); }
}

class InContext : IChain
{
    sealed class Queue : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state) =>
            ThreadPool.UnsafeQueueUserWorkItem(_ => { SetSynchronizationContext(this); try { d(state); } finally { SetSynchronizationContext(null); } }, null);
    }
    public static string[] Callers => ["InContext.Middle", "InContext.Inner"];
    static async Task Leaf() { await Task.Yield(); Work.Allocate<M5>(); }
    static async Task Middle() { await Leaf(); }
    static async Task Inner(int rounds) { for (int i = 0; i < rounds; i++) await Middle(); }
    public static Task Run(int rounds)
    {
        SynchronizationContext? before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(new Queue());
        try { return Inner(rounds); }
        finally { SynchronizationContext.SetSynchronizationContext(before); }
    }
}

class Started : IChain
{
    public static string[] Callers => ["Started.Run"];
    static async Task Leaf() { await Task.Yield(); Work.Allocate<M6>(); }
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Task.Run(Leaf); }
}

class All : IChain
{
    public static string[] Callers => ["All.Run"];
    static async Task Leaf() { await Task.Yield(); Work.Allocate<M7>(); }
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Task.WhenAll(Leaf(), Leaf(), Leaf()); }
}

class Lambda : IChain
{
    public static string[] Callers => ["Lambda.Run.λ0", "Lambda.Run"];
    static async Task Leaf() { await Task.Yield(); Work.Allocate<M8>(); }
    public static async Task Run(int rounds)
    {
        Func<Task> middle = async () => await Leaf();
        for (int i = 0; i < rounds; i++) await middle();
    }
}

class Local : IChain
{
    public static string[] Callers => ["Local.Run.Middle", "Local.Run"];
    static async Task Leaf() { await Task.Yield(); Work.Allocate<M9>(); }
    public static async Task Run(int rounds)
    {
        int done = 0;
        for (int i = 0; i < rounds; i++) await Middle();
        async Task Middle() { await Leaf(); done++; }
    }
}

class Generic : IChain
{
    public static string[] Callers => ["Generic.Middle", "Generic.Middle", "Generic.Run"];
    static async Task<T?> Leaf<T>() { await Task.Yield(); Work.Allocate<M10>(); return default; }
    static async Task<T?> Middle<T, U>(int depth) => depth > 0 ? await Middle<T, T>(depth - 1) : await Leaf<T>();
    public static async Task Run(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            await Middle<string, int>(1);
            await Middle<long, object>(1);
        }
    }
}

class Iterated : IChain
{
    public static string[] Callers => ["Iterated.Run"];
    static async IAsyncEnumerable<int> Leaf(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            await Task.Yield();
            Work.Allocate<M11>();
            yield return i;
        }
    }
    public static async Task Run(int rounds)
    {
        long sum = 0;
        await foreach (int i in Leaf(rounds)) sum += i;
    }
}

class IteratorInside : IChain
{
    public static string[] Callers => ["IteratorInside.Each", "IteratorInside.Run"];
    static async Task Leaf() { await Task.Yield(); Work.Allocate<M12>(); }
    static async IAsyncEnumerable<int> Each(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            await Leaf();
            yield return i;
        }
    }
    public static async Task Run(int rounds)
    {
        long sum = 0;
        await foreach (int i in Each(rounds)) sum += i;
    }
}

class Deep : IChain
{
    const int Depth = 20;
    public static string[] Callers => [.. Enumerable.Repeat("Deep.Down", Depth), "Deep.Run"];
    static async Task Leaf() { await Task.Yield(); Work.Allocate<M13>(); }
    static async Task Down(int depth)
    {
        if (depth > 1) await Down(depth - 1);
        else await Leaf();
    }
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Down(Depth); }
}

class Several : IChain
{
    public static string[] Callers => ["Several.First", "Several.Run"];
    static async Task First(Task leaf) { await leaf; }
    static async Task Second(Task leaf) { await leaf; }
    public static async Task Run(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Task leaf = Leaf(gate.Task);
            Task first = First(leaf), second = Second(leaf);
            gate.SetResult();
            await first;
            await second;
            await Task.Yield();  // the others get their turns
        }
    }
    static async Task Leaf(Task gate) { await gate; Work.Allocate<M14>(); }
}

class Timed : IChain
{
    public static string[] Callers => ["Timed.Middle", "Timed.Run"];
    static async Task<int> Leaf() { await Task.Yield(); Work.Allocate<M15>(); return 1; }
    static async Task<int> Middle() => await Leaf().WaitAsync(TimeSpan.FromMinutes(1));
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Middle(); }
}

class AsTask : IChain
{
    public static string[] Callers => ["AsTask.Middle", "AsTask.Run"];
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    static async ValueTask<int> Leaf() { await Task.Yield(); Work.Allocate<M16>(); return 1; }
    static async Task Middle() { await Leaf().AsTask(); }
    public static async Task Run(int rounds) { for (int i = 0; i < rounds; i++) await Middle(); }
}
