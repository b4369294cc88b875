// SPDX-License-Identifier: Apache-2.0
// A thread that has something and others that wait for it. None of what they do besides waits in a way that the runtime
// has events for: they look again and again, and sleep in between.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Locks;

// One who waits, and for how long it did.
sealed class Waiter
{
    public string Name = "";
    public string ThreadName = "";
    public int OsThread;  // of the last wait: threads of the pool take turns
    public long Waits, WaitNanoseconds;
    public Thread? Thread;           // that waits at the moment
    public volatile int Begun, Ended;  // rounds
}

abstract class Kind
{
    public const string FillMethod = "Clrscope.Workloads.Locks.Kind.Fill";

    protected const int Patience = 60_000;  // ms; then something is wrong

    int _rounds;
    volatile int _round;
    volatile byte[]? _filled;

    public string Name = "";
    public Waiter[] Waiters = [];
    public int HolderOsThread;
    public long BlockedNanoseconds;  // of all waiters: from when each of them stands still until what they wait for is given
    public string HolderName => $"hold-{Name}";

    // The method that waits, and how.
    public abstract string Method { get; }
    public virtual bool Contends => false;  // the runtime takes it for contention: event 81 at its begin
    public virtual bool Stops => Contends;  // and 91 at its end
    public virtual bool Blocks => true;     // a thread stands still: events 301 and 302 since .NET 9
    public virtual bool Fails => false;     // by its time limit

    // By the holder, before anybody waits and after all do.
    protected virtual void Take(int round) { }
    protected abstract void Give(int round);

    // By the waiters; returns ticks of the stopwatch.
    protected abstract long Wait(int index);

    // Until so many have waited to the end.
    protected void AwaitEnd(int round, int count)
    {
        while (Waiters.Count(w => w.Ended >= round) < count) Thread.Sleep(1);
    }

    public void Run(Options options, int rounds)
    {
        _rounds = rounds;
        HoldMs = options.HoldMs;
        Waiters = new Waiter[options.Waiters];
        for (int i = 0; i < Waiters.Length; i++) Waiters[i] = new Waiter { Name = $"wait-{Name}-{i}" };
        var holder = new Thread(() => Hold(options)) { Name = HolderName };
        holder.Start();
        for (int i = 0; i < Waiters.Length; i++) StartWaiter(i);
        AwaitEnd(rounds, Waiters.Length);
        while (holder.IsAlive) Thread.Sleep(1);
    }

    protected int HoldMs { get; private set; }

    protected virtual void StartWaiter(int index) =>
        new Thread(() =>
        {
            for (int round = 1; round <= _rounds; round++) WaitOnce(index, round);
        }) { Name = Waiters[index].Name }.Start();

    protected int Rounds => _rounds;

    protected void AwaitRound(int round)
    {
        while (_round < round) Thread.Sleep(1);
    }

    protected void WaitOnce(int index, int round)
    {
        AwaitRound(round);
        Begin(index, round);
        long ticks = Wait(index);
        End(index, round, ticks);
    }

    protected void Begin(int index, int round)
    {
        Waiters[index].OsThread = Os.ThreadId();
        Waiters[index].Thread = Thread.CurrentThread;
        Waiters[index].ThreadName = Thread.CurrentThread.Name ?? "";
        Waiters[index].Begun = round;
    }

    protected void End(int index, int round, long ticks)
    {
        Waiters[index].Waits++;
        Waiters[index].WaitNanoseconds += (long)(ticks * (1e9 / Stopwatch.Frequency));
        Waiters[index].Ended = round;
    }

    void Hold(Options options)
    {
        HolderOsThread = Os.ThreadId();
        for (int round = 1; round <= _rounds; round++)
        {
            long start = Stopwatch.GetTimestamp();
            Take(round);
            _round = round;
            (long standing, long used) = AwaitStandstill(round);
            if (options.Busy) Fill();
            else Thread.Sleep(options.HoldMs);
            // One that the runtime had stopped on its way looks as if it waited; it uses the processor before it does.
            if (Blocks && !Fails && used == CpuNanoseconds())
                BlockedNanoseconds += Waiters.Length * (long)Stopwatch.GetElapsedTime(standing).TotalNanoseconds;
            Give(round);
            AwaitEnd(round, Waiters.Length);
            double ahead = options.Seconds / _rounds / options.Kinds.Length - Stopwatch.GetElapsedTime(start).TotalSeconds;
            if (ahead > 0) Thread.Sleep(TimeSpan.FromSeconds(ahead));
        }
    }

    // Since when all of them wait, and what they had used of the processor until then. Who spins and sleeps by turns before it
    // waits looks as if it stood: but it uses the processor, or waits for one.
    (long Since, long Used) AwaitStandstill(int round)
    {
        const int quietMs = 20;
        while (true)
        {
            while (!AllStand(round)) Thread.Sleep(1);
            long since = Stopwatch.GetTimestamp();
            if (!Blocks) return (since, 0);
            long used = CpuNanoseconds();
            if (!AllSleep()) continue;
            Thread.Sleep(quietMs);
            if (AllSleep() && used == CpuNanoseconds()) return (since, used);
        }
    }

    // Loops, as a lambda is an object: an allocation of the owner's before Fill() could be what is sampled of it.
    bool AllStand(int round)
    {
        foreach (Waiter w in Waiters)
            if (w.Begun < round || (Blocks && !Stands(w, round))) return false;
        return true;
    }

    bool AllSleep()
    {
        foreach (Waiter w in Waiters)
            if (w.Ended < _round && !Os.Sleeps(w.OsThread)) return false;
        return true;
    }

    // Of those that wait: who has given up looks each millisecond whether the next round has begun.
    long CpuNanoseconds()
    {
        long sum = 0;
        foreach (Waiter w in Waiters)
            if (w.Ended < _round) sum += Os.CpuNanoseconds(w.OsThread);
        return sum;
    }

    // A megabyte each millisecond: whoever samples allocations sees it at once.
    [MethodImpl(MethodImplOptions.NoInlining)]
    void Fill()
    {
        for (long start = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(start).TotalMilliseconds < HoldMs; Thread.Sleep(1))
            for (int i = 0; i < 100; i++) _filled = new byte[10_000];
    }

    // One that waits for no more than HoldMs may have stopped already.
    bool Stands(Waiter waiter, int round) =>
        waiter.Ended >= round || (waiter.Thread!.ThreadState & System.Threading.ThreadState.WaitSleepJoin) != 0;
}
