// SPDX-License-Identifier: Apache-2.0
// What is never forgotten: leaks.
using System.Collections.Concurrent;

namespace Clrscope.Workloads.Routes;

sealed class Kept
{
    public static readonly Kept ByKeep = new(), ByHold = new(), InBackground = new();

    readonly ConcurrentQueue<byte[]> _kept = new();

    public void Add(byte[] array) => _kept.Enqueue(array);

    public long Objects => _kept.Count;
    public long Bytes => _kept.Sum(a => (24 + (long)a.Length + 7) & ~7L);
}
