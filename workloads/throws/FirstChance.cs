// SPDX-License-Identifier: Apache-2.0
// Counts what AppDomain.FirstChanceException tells, independently of the ledger.
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;

namespace Clrscope.Workloads.Throws;

static class FirstChance
{
    static readonly ConcurrentDictionary<Type, StrongBox<long>> s_counts = new();

    public static long Of(Type type) => s_counts.TryGetValue(type, out StrongBox<long>? count) ? count.Value : 0;
    public static IEnumerable<Type> Types => s_counts.Keys;

    public static void Start() => AppDomain.CurrentDomain.FirstChanceException += OnException;
    public static void Stop() => AppDomain.CurrentDomain.FirstChanceException -= OnException;

    static void OnException(object? sender, FirstChanceExceptionEventArgs e) =>
        Interlocked.Increment(ref s_counts.GetOrAdd(e.Exception.GetType(), _ => new StrongBox<long>()).Value);
}
