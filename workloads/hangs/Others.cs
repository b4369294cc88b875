// SPDX-License-Identifier: Apache-2.0
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Hangs;

static class Others
{
    static bool stop;
    static long turns;

    public static void Spin(Dictionary<string, int> threads) =>
        Program.Run("spinner", threads, ready => { ready(); SpinHard(); });

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SpinHard()
    {
        while (!Volatile.Read(ref stop)) turns++;
    }

    /// <summary>One sleeps with a lock; three wait for it, and a fourth for one that the first of these holds.</summary>
    public static void OwnerSleeps(Dictionary<string, int> threads)
    {
        var door = new Account(1);
        var second = new Account(2);
        Program.Run("sleepy-owner", threads, ready => SleepWith(door, ready));
        var all = new List<Thread>();
        all.Add(Program.Run("waiter-0", threads, ready => { lock (second) { ready(); WaitFor(door); } }));
        for (int i = 1; i < 3; i++) all.Add(Program.Run($"waiter-{i}", threads, ready => { ready(); WaitFor(door); }));
        all.Add(Program.Run("chained", threads, ready => { ready(); WaitFor(second); }));
        Program.WaitUntilBlocked([.. all]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SleepWith(Account door, Action ready)
    {
        lock (door)
        {
            ready();
            Thread.Sleep(Timeout.Infinite);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WaitFor(Account account)
    {
        lock (account) Console.WriteLine(account.Number);
    }

    public static void LockOwnerSleeps(Dictionary<string, int> threads)
    {
#if NET9_0_OR_GREATER
        Lock door = new();
        Program.Run("sleepy-owner", threads, ready => { lock (door) { ready(); Thread.Sleep(Timeout.Infinite); } });
        Thread waiter = Program.Run("waiter-0", threads, ready => { ready(); Take(door); });
        Program.WaitUntilBlocked(waiter);
#else
        throw new PlatformNotSupportedException("System.Threading.Lock came with .NET 9");
#endif
    }

#if NET9_0_OR_GREATER
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Take(Lock door)
    {
        lock (door) Console.WriteLine("never");
    }
#endif

    /// <summary>Waits for a pulse while another thread holds what it waits on: no lock is asked for.</summary>
    public static void WaitsForPulse(Dictionary<string, int> threads)
    {
        var gate = new Account(1);
        Thread one = Program.Run("pulse-waiter", threads, ready => { lock (gate) { ready(); Monitor.Wait(gate); } });
        Program.WaitUntilBlocked(one);
        Program.Run("sleepy-owner", threads, ready => SleepWith(gate, ready));
    }

    public static void Fine(Dictionary<string, int> threads)
    {
        Program.Run("sleeper", threads, ready => { ready(); Thread.Sleep(Timeout.Infinite); });
        Task.Run(() => { }).Wait();
    }
}
