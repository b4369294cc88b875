// SPDX-License-Identifier: Apache-2.0
// Two threads that hand a lock to each other. Whoever has it waits until the other one stands still, lets go, and asks for it
// again once the other one has it: each handover is one contended wait.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Locks;

sealed class PingPong(Action enter, Action exit)
{
    readonly Thread[] _threads = new Thread[2];
    volatile int _owner = -1;
    volatile bool _end;
    long _handovers;

    // Returns the number of handovers.
    public static long Run(Options options)
    {
        object gate = new();
        PingPong game = new(() => Monitor.Enter(gate), () => Monitor.Exit(gate));
#if NET9_0_OR_GREATER
        Lock other = new();
        if (options.Kinds[0] == "lock") game = new(other.Enter, other.Exit);
#endif
        return game.Play(options);
    }

    long Play(Options options)
    {
        long start = Stopwatch.GetTimestamp();
        for (int i = 0; i < 2; i++)
        {
            int player = i;
            _threads[i] = new Thread(() => Play(player, options, start)) { Name = i == 0 ? "ping" : "pong" };
        }
        foreach (Thread thread in _threads) thread.Start();
        while (_threads.Any(t => t.IsAlive)) Thread.Sleep(10);
        return _handovers;
    }

    void Play(int player, Options options, long start)
    {
        Thread other = _threads[1 - player];
        if (player == 1)
            while (_owner != 0) Thread.Sleep(1);
        while (!_end)
        {
            WaitForTurn();
            if (_owner == 1 - player) _handovers++;  // under the lock
            _owner = player;
            if (_handovers >= options.Count || Stopwatch.GetElapsedTime(start).TotalSeconds >= options.Seconds) _end = true;
            for (int i = 0; !_end && (other.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0; i++) Pause(i);
            exit();
            for (int i = 0; !_end && _owner == player; i++) Pause(i);
        }
    }

    // The other one may need this processor.
    static void Pause(int times)
    {
        if (times < 100) Thread.SpinWait(20);
        else Thread.Yield();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    void WaitForTurn() => enter();
}
