// SPDX-License-Identifier: Apache-2.0
// The same piece of work again and again, and how often it was done for how much CPU time whenever a line comes: for who compares what a piece
// takes with a profiler and without.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Burns;

sealed class Steady
{
    const int Words = 64, Numbers = 600;

    long _pieces;
    volatile bool _over;

    public void Run(int threads)
    {
        var workers = new List<Thread>();
        for (int i = 0; i < threads; i++)
        {
            var thread = new Thread(Work);
            thread.Start();
            workers.Add(thread);
        }
        while (Console.In.ReadLine() is not null)
            Console.WriteLine($"{{\"pieces\":{Interlocked.Read(ref _pieces)},\"cpu_ns\":{ThreadClock.ProcessNs}}}");
        _over = true;
        foreach (Thread worker in workers) worker.Join();
    }

    void Work()
    {
        var kept = new Queue<Dictionary<string, int>>();
        var random = new Random(1);
        int seed = 1, sum = 0;
        while (!_over)
        {
            sum += Sorted(random, Numbers);
            kept.Enqueue(Counted(seed++));
            if (kept.Count > 2_000) sum += kept.Dequeue().Count;
            sum += Deep(30, seed);
            Interlocked.Increment(ref _pieces);
        }
        if (sum == 42) Console.WriteLine();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Sorted(Random random, int n)
    {
        int[] numbers = new int[n];
        for (int i = 0; i < n; i++) numbers[i] = random.Next();
        Array.Sort(numbers, (a, b) => a.CompareTo(b));
        return numbers[n / 2];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Dictionary<string, int> Counted(int seed)
    {
        var counts = new Dictionary<string, int>();
        for (int i = 0; i < Words; i++)
        {
            string word = "word" + (seed * 31 + i * 7) % 48;
            counts[word] = counts.GetValueOrDefault(word) + 1;
        }
        return counts;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deep(int depth, int x) => depth == 0 ? Enumerable.Range(x & 15, 20).Where(n => n % 3 != 0).Sum() : Deep(depth - 1, x + 1) ^ depth;
}
