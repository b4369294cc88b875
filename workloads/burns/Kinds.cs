// SPDX-License-Identifier: Apache-2.0
// Ways to use CPU time, each in methods of its own whose time is known: a marker method repeats a small piece of work until its thread has used so
// much.
using System.Diagnostics;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Burns;

static class Kinds
{
    public static readonly string[] Names =
        ["loops", "recursion", "generics", "delegates", "dynamic", "async", "native", "back", "callback", "exceptions", "allocations", "garbage", "osr", "kernel",
         "threads"];

    // Those that are run only by name.
    public static readonly string[] OtherNames = ["churn", "collect", "fork", "pulses", "unloaded"];

    // By marker method, ns.
    public static readonly Dictionary<string, long> Truth = [];
    static volatile object? s_sink;
    static volatile int s_number;
    static readonly byte[] s_bytes = new byte[64 * 1024];

    public static void Run(string kind, double seconds)
    {
        long ns = (long)(seconds * 1e9);
        switch (kind)
        {
            case "loops":
                Count(nameof(LoopLong), LoopLong(ns * 7 / 10));
                Count(nameof(LoopShort), LoopShort(ns * 3 / 10));
                break;
            case "recursion": Count(nameof(Recurse), Recurse(ns)); break;
            case "generics": Count(nameof(Generic), Generic(new Adder(), ns)); break;
            case "delegates": Count(nameof(ByDelegate), ByDelegate(ns)); break;
            case "dynamic": Count(nameof(Dynamic), Dynamic(ns)); break;
            case "async": Count(nameof(AsyncPart), Async(ns).GetAwaiter().GetResult()); break;
            case "native": Count(nameof(Native), Native(ns)); break;
            case "back": Count(nameof(Back), Back(ns)); break;
            case "callback": Count(nameof(Callback), Callback(ns)); break;
            case "exceptions": Count(nameof(Throwing), Throwing(ns)); break;
            case "allocations": Count(nameof(Allocating), Allocating(ns)); break;
            case "garbage": Count(nameof(Garbage), Garbage(ns)); break;
            case "osr": Count(nameof(Replaced), Replaced(ns)); break;
            case "kernel": Count(nameof(Kernel), Kernel(ns)); break;
            case "threads": ShortThreads(ns); break;
            case "collect": Count(nameof(Collecting), Collecting(ns)); break;
            case "churn": Churn(ns); break;
            case "pulses": Count(nameof(Pulse), Pulses(ns)); break;
            case "unloaded": Count(nameof(Unloaded), Unloaded(ns)); break;
            case "fork": Count(nameof(Children.Forking), Children.Forking(ns)); break;
        }
    }

    static void Count(string method, long ns)
    {
        lock (Truth) Truth[method] = Truth.GetValueOrDefault(method) + ns;
    }

    static long Until(long ns, out long start)
    {
        start = ThreadClock.ThreadNs;
        return start + ns;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Spin(int n)
    {
        uint x = (uint)n;
        for (int i = 0; i < 20_000; i++) x = x * 1664525 + 1013904223;
        return (int)x;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long LoopLong(long ns)
    {
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end) s_number = Spin(s_number);
        return ThreadClock.ThreadNs - start;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long LoopShort(long ns)
    {
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end) s_number = Spin(s_number);
        return ThreadClock.ThreadNs - start;
    }

    // A fifth of a processor: 20 ms in 100.
    static long Pulses(long ns)
    {
        long used = 0;
        while (used < ns)
        {
            long before = Stopwatch.GetTimestamp();
            used += Pulse(Math.Min(20_000_000, ns - used));
            Count("PulseWall", (long)Stopwatch.GetElapsedTime(before).TotalNanoseconds);
            Thread.Sleep(80);
        }
        return used;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Pulse(long ns)
    {
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end) s_number = Spin(s_number);
        return ThreadClock.ThreadNs - start;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Recurse(long ns)
    {
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end) s_number = Deeper(40);
        return ThreadClock.ThreadNs - start;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deeper(int depth) => depth == 0 ? Spin(depth) : Deeper(depth - 1) + 1;

    interface IAdder
    {
        int Add(int a);
    }

    sealed class Adder : IAdder
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Add(int a) => Spin(a);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Generic<T>(T adder, long ns) where T : IAdder
    {
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end) s_number = adder.Add(s_number);
        return ThreadClock.ThreadNs - start;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long ByDelegate(long ns)
    {
        Func<int, int> spin = n => Spin(n);
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end) s_number = spin(s_number);
        return ThreadClock.ThreadNs - start;
    }

    static Func<int, int> Made(string name)
    {
        var method = new DynamicMethod(name, typeof(int), [typeof(int)]);
        ILGenerator il = method.GetILGenerator();
        Label again = il.DefineLabel();
        LocalBuilder i = il.DeclareLocal(typeof(int));
        il.MarkLabel(again);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4, 1664525);
        il.Emit(OpCodes.Mul);
        il.Emit(OpCodes.Starg_S, (byte)0);
        il.Emit(OpCodes.Ldloc, i);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Dup);
        il.Emit(OpCodes.Stloc, i);
        il.Emit(OpCodes.Ldc_I4, 20_000);
        il.Emit(OpCodes.Blt, again);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Func<int, int>>();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Dynamic(long ns)
    {
        Func<int, int> spin = Made("spin");
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end) s_number = spin(s_number);
        return ThreadClock.ThreadNs - start;
    }

    // Each method for 20 ms; then its code goes, and the next one's takes its place.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Unloaded(long ns)
    {
        long end = Until(ns, out long start);
        for (int i = 0; ThreadClock.ThreadNs < end; i++)
        {
            RunMade($"spin{i}");
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
        }
        return ThreadClock.ThreadNs - start;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunMade(string name)
    {
        Func<int, int> spin = Made(name);
        long end = ThreadClock.ThreadNs + 20_000_000;
        while (ThreadClock.ThreadNs < end) s_number = spin(s_number);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static async Task<long> Async(long ns)
    {
        long used = 0;
        while (used < ns)
        {
            await Task.Yield();
            used += AsyncPart(Math.Min(ns - used, 20_000_000));
        }
        return used;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long AsyncPart(long ns)
    {
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end) s_number = Spin(s_number);
        return ThreadClock.ThreadNs - start;
    }

    [DllImport("libc", EntryPoint = "memset")]
    static unsafe extern byte* Memset(byte* to, int value, nuint bytes);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe long Native(long ns)
    {
        long end = Until(ns, out long start);
        fixed (byte* bytes = s_bytes)
            while (ThreadClock.ThreadNs < end)
                for (int i = 0; i < 20; i++) Memset(bytes, i, (nuint)s_bytes.Length);
        return ThreadClock.ThreadNs - start;
    }

    [DllImport("libc", EntryPoint = "qsort")]
    static unsafe extern void Sort(int* items, nuint count, nuint size, delegate* unmanaged<int*, int*, int> compare);

    [UnmanagedCallersOnly]
    static unsafe int Compare(int* a, int* b) => *a < *b ? -1 : *a > *b ? 1 : 0;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe long Back(long ns)
    {
        int* items = stackalloc int[256];
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end)
        {
            for (int i = 0; i < 256; i++) items[i] = (i * 7919) & 0xFF;
            Sort(items, 256, sizeof(int), &Compare);
        }
        return ThreadClock.ThreadNs - start;
    }

    [DllImport("libc", EntryPoint = "qsort")]
    static unsafe extern void SortByDelegate(int* items, nuint count, nuint size, Comparison compare);

    unsafe delegate int Comparison(int* a, int* b);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe int Slowly(int* a, int* b)
    {
        s_number = Spin(s_number);
        return *a - *b;
    }

    // Nearly all of it is what the native code calls, by a delegate.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe long Callback(long ns)
    {
        int* items = stackalloc int[16];
        Comparison compare = Slowly;
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end)
        {
            for (int i = 0; i < 16; i++) items[i] = (i * 7919) & 0xFF;
            SortByDelegate(items, 16, sizeof(int), compare);
        }
        GC.KeepAlive(compare);
        return ThreadClock.ThreadNs - start;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Throwing(long ns)
    {
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end)
            for (int i = 0; i < 20; i++)
            {
                try
                {
                    throw new InvalidOperationException();
                }
                catch (InvalidOperationException)
                {
                    s_number++;
                }
            }
        return ThreadClock.ThreadNs - start;
    }

    // Its thread runs the collections too, of the workstation GC.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Allocating(long ns)
    {
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end)
            for (int i = 0; i < 1000; i++) s_sink = new byte[40];
        return ThreadClock.ThreadNs - start;
    }

    // Much of what it makes lives on for a while, so that collections mark and move it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Garbage(long ns)
    {
        var kept = new object[20_000];
        uint at = 1;
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end)
            for (int i = 0; i < 1000; i++)
            {
                at = at * 1664525 + 1013904223;
                kept[(at >> 8) % kept.Length] = new object[] { new byte[100], kept.Length };
            }
        GC.KeepAlive(kept);
        return ThreadClock.ThreadNs - start;
    }

    // Called once: its loop is replaced by optimized code while it runs.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Replaced(long ns)
    {
        uint x = 1;
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end)
            for (int i = 0; i < 20_000; i++) x = x * 1664525 + 1013904223;
        s_number = (int)x;
        return ThreadClock.ThreadNs - start;
    }

    // 74 % of the CPU time is the garbage collector's, whatever threads it has: nothing else runs meanwhile.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Collecting(long ns)
    {
        const double Collector = 0.74;
        var live = new object[400_000];
        for (int i = 0; i < live.Length; i++) live[i] = new byte[24];
        long begin = ThreadClock.ProcessNs, end = begin + ns, collected = 0;
        while (ThreadClock.ProcessNs < end)
        {
            long before = ThreadClock.ProcessNs;
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true);
            collected += ThreadClock.ProcessNs - before;
            long until = begin + (long)(collected / Collector);
            while (ThreadClock.ProcessNs < until) s_number += Spin(3);
        }
        GC.KeepAlive(live);
        Count("Garbage Collector", collected);
        return ThreadClock.ProcessNs - begin;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Kernel(long ns)
    {
        using FileStream zero = new("/dev/zero", FileMode.Open, FileAccess.Read, FileShare.ReadWrite, 0);
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end)
            for (int i = 0; i < 20; i++) s_number += zero.Read(s_bytes);
        return ThreadClock.ThreadNs - start;
    }

    // Threads that live for 20 ms of CPU time.
    static void ShortThreads(long ns)
    {
        for (long used = 0; used < ns; used += 20_000_000)
        {
            var thread = new Thread(() => Count(nameof(ShortThread), ShortThread(20_000_000)));
            thread.Start();
            thread.Join();
        }
    }

    // 200 threads a second, each of 2 ms of CPU time.
    static void Churn(long ns)
    {
        var threads = new List<Thread>();
        for (long begun = 0; begun < ns; begun += 2_000_000)
        {
            var thread = new Thread(() => Count(nameof(ShortThread), ShortThread(2_000_000)));
            thread.Start();
            threads.Add(thread);
            Thread.Sleep(5);
        }
        foreach (Thread thread in threads) thread.Join();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long ShortThread(long ns)
    {
        long end = Until(ns, out long start);
        while (ThreadClock.ThreadNs < end) s_number = Spin(s_number);
        return ThreadClock.ThreadNs - start;
    }
}
