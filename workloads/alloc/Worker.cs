// SPDX-License-Identifier: Apache-2.0
// One thread that calls sites at random, at a given rate, until its time or its bytes are up.
using System.Diagnostics;

namespace Clrscope.Workloads;

// Small and without allocations: xorshift64*.
struct Dice(int seed)
{
    ulong _state = (ulong)seed * 0x9E3779B97F4A7C15UL + 1;

    public uint Next()
    {
        _state ^= _state >> 12;
        _state ^= _state << 25;
        _state ^= _state >> 27;
        return (uint)((_state * 0x2545F4914F6CDD1DUL) >> 32);
    }
    // low <= result < high
    public int Between(int low, int high) => low + (int)(Next() % (uint)(high - low));
}

static class Native
{
    [System.Runtime.InteropServices.DllImport("libc")]
    public static extern int gettid();
}

// Allocates and enters what it allocated into the ledger; the result is kept alive for a while.
delegate object Site(ref Dice dice, Ledger ledger);

sealed class Worker
{
    const int RingSlots = 4096;         // objects kept alive, so that some survive collections
    const int CallsBetweenClocks = 64;
    const double MostDebt = 0.05;       // s that a worker catches up after it stood still; a longer stall is lost

    readonly Options _options;
    readonly (int Weight, Site Site)[] _sites;
    readonly int _weights;
    readonly object?[] _ring = new object?[RingSlots];
    readonly Thread _thread;
    readonly ManualResetEventSlim _done = new();
    Dice _dice;

    public static volatile bool Stop;  // all of them
    public readonly Ledger Ledger = new();
    public int ThreadId;      // as the system counts
    public string Name => _thread.Name!;
    public long ThreadBytes;  // what the runtime says that this thread allocated

    public Worker(Options options, int index)
    {
        _options = options;
        _sites = Modes.SitesOf(options.Mode);
        if (options.Lean) _sites[index % _sites.Length].Weight *= 20;
        _weights = _sites.Sum(s => s.Weight);
        _dice = new Dice(options.Seed * 1000 + index + 1);
        _thread = new Thread(Run, 4 * 1024 * 1024) 
        {
            Name = $"alloc-{index}",
            IsBackground = options.Lean,
        };
    }

    // Compiles every site and fills static fields, so that neither is seen later.
    public void WarmUp()
    {
        ThreadId = Native.gettid();
        Dice dice = _dice;
        for (int i = 0; i < 3; i++)
            foreach ((_, Site site) in _sites) _ring[0] = site(ref dice, Ledger);
        _ring[0] = null;
        if (!_options.Whole) Ledger.Clear();
    }

    public void Start() => _thread.Start();
    public void Join()
    {
        if (_options.Lean) _done.Wait();
        else _thread.Join();
    }

    void Run()
    {
        ThreadId = Native.gettid();
        long bytes = _options.Bytes == long.MaxValue ? long.MaxValue : _options.Bytes / _options.Threads;
        double rate = _options.Rate / _options.Threads;
        long before = GC.GetAllocatedBytesForCurrentThread();
        long start = Stopwatch.GetTimestamp();
        double lost = 0;
        while (Ledger.TotalBytes < bytes)
        {
            for (int i = 0; i < CallsBetweenClocks && Ledger.TotalBytes < bytes; i++) AllocateOne();
            double elapsed = Stopwatch.GetElapsedTime(start).TotalSeconds;
            if (elapsed >= _options.Seconds || Stop) break;
            double ahead = Ledger.TotalBytes / rate - (elapsed - lost);
            if (ahead < -MostDebt) lost += -MostDebt - ahead;
            if (ahead > 0.002)
                Thread.Sleep((int)(1000 * Math.Min(ahead, _options.Seconds - elapsed)) + 1);
        }
        ThreadBytes = GC.GetAllocatedBytesForCurrentThread() - before;
        _done.Set();
        if (_options.Lean) Thread.Sleep(Timeout.Infinite);
    }

    void AllocateOne()
    {
        int pick = _dice.Between(0, _weights);
        int at = 0;
        while (pick >= _sites[at].Weight) pick -= _sites[at++].Weight;
        object made = _sites[at].Site(ref _dice, Ledger);
        _ring[_dice.Next() % RingSlots] = made;
    }
}
