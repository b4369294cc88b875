// SPDX-License-Identifier: Apache-2.0
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Hangs;

sealed class Account(int number)
{
    public int Number { get; } = number;
}

static class Deadlocks
{
    /// <summary>A ring: each thread holds its own account and waits for the next one's.</summary>
    public static void Monitors(int count, Dictionary<string, int> threads)
    {
        Account[] accounts = [.. Enumerable.Range(0, count).Select(i => new Account(i))];
        var go = new ManualResetEventSlim();
        var all = new List<Thread>();
        for (int i = 0; i < count; i++)
        {
            Account mine = accounts[i], next = accounts[(i + 1) % count];
            all.Add(Program.Run($"transfer-worker-{(char)('a' + i)}", threads, ready => Transfer(mine, next, ready, go)));
        }
        go.Set();
        Program.WaitUntilBlockedAfterGoOn([.. all]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Transfer(Account from, Account to, Action ready, ManualResetEventSlim go)
    {
        lock (from)
        {
            ready();
            go.Wait();
            Program.GoOn();
            Enter(to);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Enter(Account account)
    {
        lock (account) Console.WriteLine(account.Number);
    }

    /// <summary>The same by System.Threading.Lock, where there is one.</summary>
    public static void Locks(Dictionary<string, int> threads)
    {
#if NET9_0_OR_GREATER
        Lock a = new(), b = new();
        var go = new ManualResetEventSlim();
        Thread one = Program.Run("lock-worker-a", threads, ready => TakeBoth(a, b, ready, go));
        Thread two = Program.Run("lock-worker-b", threads, ready => TakeBoth(b, a, ready, go));
        go.Set();
        Program.WaitUntilBlockedAfterGoOn(one, two);
#else
        throw new PlatformNotSupportedException("System.Threading.Lock came with .NET 9");
#endif
    }

#if NET9_0_OR_GREATER
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void TakeBoth(Lock first, Lock second, Action ready, ManualResetEventSlim go)
    {
        lock (first)
        {
            ready();
            go.Wait();
            Program.GoOn();
            TakeSecond(second);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void TakeSecond(Lock second)
    {
        lock (second) Console.WriteLine("never");
    }
#endif
}
