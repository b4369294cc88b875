// SPDX-License-Identifier: Apache-2.0
using System.IO.Pipes;
using System.Runtime.CompilerServices;
using Microsoft.Win32.SafeHandles;

namespace Clrscope.Workloads.Hangs;

/// <summary>Threads that wait for each other by other means than locks that the runtime knows the owner of.</summary>
static class Rings
{
    /// <summary>Two threads: each takes what is its own, waits for the other, and takes the other's.</summary>
    static void TwoThreads(Dictionary<string, int> threads, Action takeA, Action takeB, Action wantB, Action wantA)
    {
        var go = new ManualResetEventSlim();
        Thread a = Program.Run("ring-a", threads, ready => { takeA(); ready(); go.Wait(); Program.GoOn(); wantB(); });
        Thread b = Program.Run("ring-b", threads, ready => { takeB(); ready(); go.Wait(); Program.GoOn(); wantA(); });
        go.Set();
        Program.WaitUntilBlockedAfterGoOn(a, b);
    }

    // A method that waits is not inlined: what it waits for is then on its own frame, not on that of its caller.
    [MethodImpl(MethodImplOptions.NoInlining)] static void Enter(object gate) => Monitor.Enter(gate);
    [MethodImpl(MethodImplOptions.NoInlining)] static void Read(ReaderWriterLockSlim l) => l.EnterReadLock();
    [MethodImpl(MethodImplOptions.NoInlining)] static void Write(ReaderWriterLockSlim l) => l.EnterWriteLock();
    [MethodImpl(MethodImplOptions.NoInlining)] static void Take(Mutex m) => m.WaitOne();
    [MethodImpl(MethodImplOptions.NoInlining)] static void Take(SemaphoreSlim s) => s.Wait();

    public static void Writers(Dictionary<string, int> threads)
    {
        ReaderWriterLockSlim a = new(), b = new();
        TwoThreads(threads, () => Write(a), () => Write(b), () => Write(b), () => Read(a));
    }

    /// <summary>The one who wants to write waits for one who reads, and for another reader who is in no ring.</summary>
    public static void Readers(Dictionary<string, int> threads)
    {
        var shelf = new ReaderWriterLockSlim();
        var gate = new object();
        Program.Run("reader", threads, ready => { Read(shelf); ready(); Thread.Sleep(Timeout.Infinite); });
        TwoThreads(threads, () => Read(shelf), () => Enter(gate), () => Enter(gate), () => Write(shelf));
    }

    public static void Mutexes(Dictionary<string, int> threads)
    {
        Mutex a = new(), b = new();
        TwoThreads(threads, () => Take(a), () => Take(b), () => Take(b), () => Take(a));
    }

    public static void Semaphores(Dictionary<string, int> threads)
    {
        SemaphoreSlim a = new(1, 1), b = new(1, 1);
        TwoThreads(threads, () => Take(a), () => Take(b), () => Take(b), () => Take(a));
    }

    public static void SemaphoreAndLock(Dictionary<string, int> threads)
    {
        var one = new SemaphoreSlim(1);
        var gate = new object();
        TwoThreads(threads, () => Take(one), () => Enter(gate), () => Enter(gate), () => Take(one));
    }

    /// <summary>Waits for the end of a thread that waits for a lock which the first one holds.</summary>
    public static void Join(Dictionary<string, int> threads)
    {
        var gate = new object();
        Thread? second = null;
        var held = new ManualResetEventSlim();
        Thread first = Program.Run("ring-a", threads, ready =>
        {
            Enter(gate);
            held.Set();
            ready();
            while (Volatile.Read(ref second) == null) Thread.Sleep(1);
            Program.GoOn();
            second!.Join();
        });
        held.Wait();
        Thread other = Program.Run("ring-b", threads, ready => { ready(); Program.GoOn(); Enter(gate); });
        Volatile.Write(ref second, other);
        Program.WaitUntilBlockedAfterGoOn(first, other);
    }

    static readonly object constructorGate = new();
    static readonly ManualResetEventSlim gateHeld = new(), inConstructor = new();

    /// <summary>One runs the static constructor and wants the lock, one has the lock and wants the class; more want the class.</summary>
    public static void Constructor(Dictionary<string, int> threads) => Constructor(threads, UseConfig);

    public static void GenericConstructor(Dictionary<string, int> threads) => Constructor(threads, UseGeneric);

    static void Constructor(Dictionary<string, int> threads, Action use)
    {
        var all = new List<Thread>
        {
            Program.Run("ring-a", threads, ready => { lock (constructorGate) { gateHeld.Set(); ready(); inConstructor.Wait(); use(); } }),
            Program.Run("ring-b", threads, ready => { ready(); gateHeld.Wait(); use(); }),
        };
        inConstructor.Wait();
        for (int i = 0; i < 2; i++) all.Add(Program.Run($"bystander-{i}", threads, ready => { ready(); use(); }));
        // Whether a thread waits within the runtime, its state does not say.
        Thread.Sleep(1000);
    }

    [MethodImpl(MethodImplOptions.NoInlining)] static void UseConfig() => Console.WriteLine(Config.Value);
    // Shared by all reference types: the class that is wanted is known to the runtime only.
    [MethodImpl(MethodImplOptions.NoInlining)] static void UseGeneric() => Console.WriteLine(Config<string>.Value);

    static class Config
    {
        public static readonly int Value;
        static Config()
        {
            inConstructor.Set();
            lock (constructorGate) Value = 42;
        }
    }

    static class Config<T>
    {
        public static readonly int Value;
        static Config()
        {
            inConstructor.Set();
            lock (constructorGate) Value = 42;
        }
    }

    public const int Unfinalized = 5000;
    static AnonymousPipeServerStream? pipe;

    /// <summary>Nothing is wrong: consumers wait for work, a lock is held over a task for a moment, finalizers take some time.</summary>
    public static void Healthy(Dictionary<string, int> threads)
    {
        for (int i = 0; i < 2; i++)
        {
            var work = new SemaphoreSlim(0, 1);
            Program.Run($"consumer-{i}", threads, ready => { ready(); while (true) Take(work); });
        }
        var signal = new AutoResetEvent(false);
        Program.Run("signalled", threads, ready => { ready(); while (true) signal.WaitOne(); });
        var gate = new object();
        for (int i = 0; i < 2; i++)
            Program.Run($"caller-{i}", threads, ready => { ready(); while (true) lock (gate) Task.Delay(300).Wait(); });
        Program.Run("collector", threads, ready => { ready(); while (true) { DropSlow(); GC.Collect(0); Thread.Sleep(500); } });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DropSlow()
    {
        for (int i = 0; i < 3; i++) _ = new Slow();
    }

    sealed class Slow
    {
        ~Slow() => Thread.Sleep(100);
    }

    /// <summary>The finalizer's thread writes into a pipe that is full, by frames of the framework's alone.</summary>
    public static void StuckFinalizer()
    {
        pipe = new AnonymousPipeServerStream(PipeDirection.Out);
        // How much there is room for differs; who writes more stands still.
        long written = 0;
        new Thread(() => { while (true) { pipe.Write(new byte[4096]); Interlocked.Add(ref written, 4096); } }) { IsBackground = true, Name = "writer" }.Start();
        for (long before = -1; before != Interlocked.Read(ref written); Thread.Sleep(200)) before = Interlocked.Read(ref written);
        Forget();
        GC.Collect();
        Thread.Sleep(500);
        for (int i = 0; i < Unfinalized; i++) Drop();
        GC.Collect();
        Thread.Sleep(100);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Forget()
    {
        var stream = new FileStream(new SafeFileHandle(pipe!.SafePipeHandle.DangerousGetHandle(), false), FileAccess.Write, 4096);
        stream.Write(new byte[2000]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)] static void Drop() => _ = new WithFinalizer();

    sealed class WithFinalizer
    {
        ~WithFinalizer() { }
    }
}
