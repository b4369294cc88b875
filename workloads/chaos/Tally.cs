// SPDX-License-Identifier: Apache-2.0
// How often each kind of thing was done, and whether it came out as it should.
using System.Collections.Concurrent;

namespace Clrscope.Workloads.Chaos;

static class Tally
{
    const int MostTexts = 20;
    static readonly ConcurrentDictionary<string, StrongBox> s_events = new();
    static readonly ConcurrentQueue<string> s_differences = new();
    static long s_same, s_different;

    sealed class StrongBox
    {
        public long Value;
    }

    public static long Same => s_same;
    public static long Different => s_different;
    public static IEnumerable<string> Differences => s_differences;
    public static IEnumerable<KeyValuePair<string, long>> Events =>
        s_events.Select(e => KeyValuePair.Create(e.Key, e.Value.Value)).OrderBy(e => e.Key, StringComparer.Ordinal);

    public static void Count(string kind, long count = 1) =>
        Interlocked.Add(ref s_events.GetOrAdd(kind, _ => new StrongBox()).Value, count);

    public static void Check(bool good, string what)
    {
        if (good)
        {
            Interlocked.Increment(ref s_same);
            return;
        }
        if (Interlocked.Increment(ref s_different) <= MostTexts) s_differences.Enqueue(what);
    }
}
