// SPDX-License-Identifier: Apache-2.0
// Hangs in a known way and says so: the truth that `clrscope stacks` is held to. One line of JSON when it hangs, then a
// heartbeat: a line with a growing number for each line on standard input, and its end with the input's.
using System.Runtime.CompilerServices;
using System.Text.Json;

namespace Clrscope.Workloads.Hangs;

static class Program
{
    const string Help = "usage: hangs deadlock|deadlock3|lock-deadlock|constructor|generic-constructor|writers|readers|join|mutexes|semaphores|" +
        "semaphore-and-lock|healthy|stuck-finalizer|starved|spin|owner-sleeps|lock-owner-sleeps|wait|fine";

    static long beats;
    static int onTheirWay;

    static int Main(string[] args)
    {
        if (args.Length != 1)
        {
            Console.Error.WriteLine(Help);
            return 2;
        }
        var threads = new Dictionary<string, int>();
        switch (args[0])
        {
            case "deadlock": Deadlocks.Monitors(2, threads); break;
            case "deadlock3": Deadlocks.Monitors(3, threads); break;
            case "lock-deadlock": Deadlocks.Locks(threads); break;
            case "constructor": Rings.Constructor(threads); break;
            case "generic-constructor": Rings.GenericConstructor(threads); break;
            case "writers": Rings.Writers(threads); break;
            case "readers": Rings.Readers(threads); break;
            case "join": Rings.Join(threads); break;
            case "mutexes": Rings.Mutexes(threads); break;
            case "semaphores": Rings.Semaphores(threads); break;
            case "semaphore-and-lock": Rings.SemaphoreAndLock(threads); break;
            case "healthy": Rings.Healthy(threads); break;
            case "stuck-finalizer": Rings.StuckFinalizer(); break;
            case "starved": Pool.Starve(threads); break;
            case "spin": Others.Spin(threads); break;
            case "owner-sleeps": Others.OwnerSleeps(threads); break;
            case "lock-owner-sleeps": Others.LockOwnerSleeps(threads); break;
            case "wait": Others.WaitsForPulse(threads); break;
            case "fine": Others.Fine(threads); break;
            default:
                Console.Error.WriteLine(Help);
                return 2;
        }
        new Thread(() => { while (true) { Interlocked.Increment(ref beats); Thread.Sleep(1); } }) { IsBackground = true, Name = "heartbeat" }.Start();
        Console.WriteLine(JsonSerializer.Serialize(new { ready = Environment.ProcessId, mode = args[0], threads, min = Pool.Min, workers = Pool.Workers, queued = Pool.Queued, unfinalized = Rings.Unfinalized }));
        while (Console.In.ReadLine() != null) Console.WriteLine(Interlocked.Read(ref beats));
        return 0;
    }

    /// <summary>Starts a thread with a name and waits until it has run what comes before its hang.</summary>
    public static Thread Run(string name, Dictionary<string, int> threads, Action<Action> body)
    {
        using var ready = new ManualResetEventSlim();
        var thread = new Thread(() => body(ready.Set)) { IsBackground = true, Name = name };
        thread.Start();
        ready.Wait();
        lock (threads) threads[name] = thread.ManagedThreadId;
        return thread;
    }

    /// <summary>By a thread that has waited for the others, before its hang.</summary>
    public static void GoOn() => Interlocked.Increment(ref onTheirWay);

    /// <summary>As <see cref="WaitUntilBlocked"/>, where threads have waited for each other before: that is not their hang.</summary>
    public static void WaitUntilBlockedAfterGoOn(params Thread[] threads)
    {
        while (Volatile.Read(ref onTheirWay) != threads.Length) Thread.Sleep(1);
        WaitUntilBlocked(threads);
    }

    public static void WaitUntilBlocked(params Thread[] threads)
    {
        foreach (Thread thread in threads)
            while ((thread.ThreadState & ThreadState.WaitSleepJoin) == 0) Thread.Sleep(1);
        Thread.Sleep(50);
    }
}
