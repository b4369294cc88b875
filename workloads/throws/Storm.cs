// SPDX-License-Identifier: Apache-2.0
// Throws at a given rate, or as fast as it goes, all the time or in bursts; a given share is of a second type.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class CommonError : Error;
sealed class RareError : Error;

sealed class Storm(Options options, int index)
{
    const double MostDebt = 0.05;  // s that it catches up after it stood still; a longer stall is lost
    readonly Random _random = new(index + 1);
    long _common, _rare;

    public static void Run(Options options)
    {
        Ledger.Kind = "storm";
        var storms = new Storm[options.Threads];
        var threads = new Thread[options.Threads];
        for (int i = 0; i < threads.Length; i++)
        {
            storms[i] = new Storm(options, i);
            threads[i] = new Thread(storms[i].Blow) { Name = $"storm-{i}" };
        }
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
    }

    void Blow()
    {
        double rate = options.Rate > 0 ? options.Rate / options.Threads : double.PositiveInfinity;
        long most = options.Count == long.MaxValue ? long.MaxValue : options.Count / options.Threads;
        double burst = options.BurstMs / 1000, period = burst + options.PauseMs / 1000;
        long start = Stopwatch.GetTimestamp();
        double lost = 0;
        while (_common + _rare < most)
        {
            double now = Stopwatch.GetElapsedTime(start).TotalSeconds, blown = now;
            if (now >= options.Seconds) break;
            if (burst > 0)
            {
                double whole = Math.Floor(now / period), rest = now - whole * period;
                if (rest >= burst)
                {
                    Sleep(Math.Min(period - rest, options.Seconds - now));
                    continue;
                }
                blown = whole * burst + rest;
            }
            double ahead = (_common + _rare) / rate - (blown - lost);
            if (ahead < -MostDebt) lost += -MostDebt - ahead;
            if (ahead > 0.001)
            {
                Sleep(Math.Min(ahead, options.Seconds - now));
                continue;
            }
            One(rare: _random.NextDouble() < options.Share);
        }
        Ledger.Add(typeof(CommonError), _common, nameof(ThrowCommon));
        Ledger.Add(typeof(RareError), _rare, nameof(ThrowRare));
    }

    static void Sleep(double seconds) => Thread.Sleep((int)(1000 * seconds) + 1);

    void One(bool rare)
    {
        try
        {
            Descend(options.Depth, rare);
        }
        catch (Error)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    int Descend(int depth, bool rare)
    {
        if (depth > 1) return Descend(depth - 1, rare) + 1;
        if (rare) ThrowRare();
        ThrowCommon();
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    void ThrowCommon()
    {
        _common++;
        throw new CommonError();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    void ThrowRare()
    {
        _rare++;
        throw new RareError();
    }
}
