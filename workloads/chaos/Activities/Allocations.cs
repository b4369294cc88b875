// SPDX-License-Identifier: Apache-2.0
// Half a gigabyte a second on each of two threads, in many types and sizes; some of it lives for a while.
using System.Diagnostics;

namespace Clrscope.Workloads.Chaos;

sealed class Node<T>(T value, Node<T>? next)
{
    public readonly T Value = value;
    public readonly Node<T>? Next = next;
}

sealed class Allocations() : Activity(threads: 2, pauseMilliseconds: 0)
{
    const double BytesPerSecond = 500e6;
    const int Kept = 64;
    [ThreadStatic] static object[]? t_kept;
    [ThreadStatic] static long t_rounds, t_start, t_startBytes;

    protected override ulong Compute(uint seed)
    {
        t_kept ??= new object[Kept];
        ulong x = Mix.Of(seed, 10), sum = 0;
        for (int i = 0; i < 300; i++)
        {
            x = Mix.Of(x, 1);
            object made = Make(x, i, ref sum);
            t_kept[x % Kept] = made;
        }
        return sum;
    }

    static object Make(ulong x, int i, ref ulong sum)
    {
        int length = (int)(x % 4000);
        sum = Mix.Add(sum, (ulong)length);
        switch (i % 12)
        {
            case 0: return Chain(x, ref sum);
            case 1: return new string((char)('a' + length % 26), 1 + length % 200);
            case 2: return new long[2 * length];
            case 3: return new object[length % 100];
            case 4: return new Node<string>(length.ToString(), null);
            case 5: return Enumerable.Range(0, length % 50).ToDictionary(n => n, n => (object)n);
            case 6: return new Node<(long, double, Guid)>((length, 1.5, default), null);
            case 7: return i == 7 && x % 16 == 0 ? new byte[100_000 + length] : new char[length];
            case 8: return GC.AllocateUninitializedArray<byte>(16 * length);
            case 9: return x % 8 == 0 ? GC.AllocateArray<byte>(length, pinned: true) : new byte[length];
            default:
                var bytes = new byte[length];
                for (int n = 0; n < length; n += 64) bytes[n] = (byte)(n ^ length);
                for (int n = 0; n < length; n += 64) sum = Mix.Add(sum, bytes[n]);
                return bytes;
        }
    }

    static Node<ulong> Chain(ulong x, ref ulong sum)
    {
        Node<ulong>? list = null;
        for (int i = 0; i < 20; i++) list = new Node<ulong>(Mix.Of(x, 1 + i % 3), list);
        for (Node<ulong>? n = list; n != null; n = n.Next) sum = Mix.Add(sum, n.Value);
        return list!;
    }

    protected override void Between(Random random)
    {
        if (++t_rounds % 16 != 0) return;
        long bytes = GC.GetAllocatedBytesForCurrentThread(), now = Stopwatch.GetTimestamp();
        if (t_start == 0 || now - t_start > Stopwatch.Frequency) (t_start, t_startBytes) = (now, bytes);
        double ahead = (bytes - t_startBytes) / BytesPerSecond - Stopwatch.GetElapsedTime(t_start, now).TotalSeconds;
        if (ahead > 0.001) Thread.Sleep((int)(ahead * 1000));
    }
}
