// SPDX-License-Identifier: Apache-2.0
// Threads that do one kind of thing over and over. What a round computes follows from its seed; before anything
// else happens, each of the seeds is computed once, and later rounds are held to that.
namespace Clrscope.Workloads.Chaos;

abstract class Activity(int threads, int pauseMilliseconds)
{
    const int Seeds = 8;
    static volatile bool s_stop;
    static readonly ManualResetEventSlim s_all = new();
    static int s_born;
    readonly ulong[] _known = new ulong[Seeds];
    readonly List<Thread> _running = [];

    public static bool Stop
    {
        get => s_stop;
        set => s_stop = value;
    }

    public string Name => GetType().Name;

    protected abstract ulong Compute(uint seed);

    // Whether its threads may be sent signals at any time; else they block all that may be blocked.
    protected virtual bool TakesSignals => true;

    // What is of no interest to the result, between rounds; the pause is at random and so long on average.
    protected virtual void Between(Random random)
    {
        if (pauseMilliseconds > 0) Thread.Sleep(random.Next(2 * pauseMilliseconds + 1));
    }

    public void WarmUp()
    {
        for (uint seed = 0; seed < Seeds; seed++) _known[seed] = Compute(seed);
    }

    // None does anything before all threads are there.
    public static void Start(Activity[] activities, int seed)
    {
        foreach (Activity activity in activities) activity.Start(ref seed);
        while (Volatile.Read(ref s_born) < activities.Sum(a => a._running.Count)) Thread.Sleep(1);
        s_all.Set();
    }

    void Start(ref int seed)
    {
        for (int i = 0; i < threads; i++)
        {
            var random = new Random(++seed);
            var thread = new Thread(() => Run(random)) { Name = Name, IsBackground = true };
            _running.Add(thread);
            thread.Start();
        }
    }

    // How many of its threads have not ended by `deadline`.
    public int Join(DateTime deadline) =>
        _running.Count(t => !t.Join(TimeSpan.FromMilliseconds(Math.Max(0, (deadline - DateTime.UtcNow).TotalMilliseconds))));

    void Run(Random random)
    {
        if (!TakesSignals) Native.chaos_refuse_signals();
        Holder.Make();
        Interlocked.Increment(ref s_born);
        s_all.Wait();
        if (TakesSignals) Native.chaos_join_signals(1);
        while (!s_stop)
        {
            uint seed = (uint)random.Next(Seeds);
            try
            {
                ulong answer = Compute(seed);
                Tally.Check(answer == _known[seed], $"{Name}({seed}): {answer:x} instead of {_known[seed]:x}");
                Between(random);
            }
            catch (Exception e)
            {
                Tally.Check(false, $"{Name}({seed}): {e}");
            }
        }
        if (TakesSignals) Native.chaos_join_signals(0);
    }
}
