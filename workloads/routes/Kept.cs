// SPDX-License-Identifier: Apache-2.0
// What /keep never forgets: a leak.
using System.Collections.Concurrent;

namespace Clrscope.Workloads.Routes;

static class Kept
{
    static readonly ConcurrentQueue<byte[]> s_kept = new();

    public static void Add(byte[] array) => s_kept.Enqueue(array);

    public static long Objects => s_kept.Count;
    public static long Bytes => s_kept.Sum(a => (24 + (long)a.Length + 7) & ~7L);
}
