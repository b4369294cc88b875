// SPDX-License-Identifier: Apache-2.0
// The kinds of exceptions by name, and their rounds.
using System.Diagnostics;

namespace Clrscope.Workloads.Throws;

static class Kinds
{
    public static readonly (string Name, Action<Options> Round)[] All =
    [
        ("plain", Plain.Round), ("nested", Nested.Round), ("inner", Inner.Round), ("rethrow", Rethrow.Round),
        ("throw-e", Rethrow.RoundOfSame), ("capture", Capture.Round), ("async", Async.Round),
        ("async-sync", Async.RoundOfSync), ("canceled", Async.RoundOfCanceled), ("filter", Filter.Round),
        ("finally", Finally.Round), ("initializer", Initializer.Round), ("hardware", Hardware.Round),
        ("runtime", ByRuntime.Round), ("library", ByRuntime.RoundOfLibrary), ("dynamic", Dynamic.Round),
        ("generic", Names.RoundOfGeneric), ("names", Names.Round), ("task", Tasks.Round), ("reflection", Reflection.Round),
        ("native", Reflection.RoundOfNative),
    ];

    public static (string Name, Action<Options> Round) Of(string kind)
    {
        foreach (var entry in All)
            if (entry.Name == kind) return entry;
        throw new ArgumentException($"unknown kind '{kind}': {string.Join(", ", All.Select(k => k.Name))}");
    }

    public static void Run(Options options)
    {
        long start = Stopwatch.GetTimestamp();
        for (int round = 1; round <= options.Rounds; round++)
        {
            foreach (string kind in options.Kinds)
            {
                Ledger.Kind = kind;
                Of(kind).Round(options);
            }
            double ahead = options.Seconds * round / options.Rounds - Stopwatch.GetElapsedTime(start).TotalSeconds;
            if (ahead > 0) Thread.Sleep(TimeSpan.FromSeconds(ahead));
        }
    }
}
