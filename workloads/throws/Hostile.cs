// SPDX-License-Identifier: Apache-2.0
// Throws each of the hostile types, with messages of all lengths and none at all.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

static class Hostile
{
    // In characters, of which each takes two bytes in the runtime's event.
    static readonly int[] s_lengths = [0, 1, 20, 300, 5_000, 32_000, 64 * 1024, -1];

    public static void Run(Options options, Type[] types)
    {
        Ledger.Kind = "hostile";
        string?[] messages = [.. s_lengths.Select(l => l < 0 ? null : Text(l))];
        long start = Stopwatch.GetTimestamp();
        long thrown = 0, all = (long)options.Rounds * types.Length;
        for (int round = 0; round < options.Rounds; round++)
        {
            for (int i = 0; i < types.Length; i++)
            {
                string? message = messages[(i + round) % messages.Length];
                var error = (Exception)Activator.CreateInstance(types[i], message)!;
                try
                {
                    Throw(error, tooLarge: EventType.PayloadOf(types[i], message) > EventType.LargestPayload);
                }
                catch (Exception e) when (e == error)
                {
                }
                double ahead = options.Seconds * ++thrown / all - Stopwatch.GetElapsedTime(start).TotalSeconds;
                if (ahead > 0.001) Thread.Sleep(TimeSpan.FromSeconds(ahead));
            }
        }
    }

    static string Text(int length) => string.Concat(Enumerable.Repeat("secret \"line\"\n\u0001é例🔥;", length / 10 + 1))[..length];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(Exception error, bool tooLarge)
    {
        Ledger.Throw(error.GetType());
        if (tooLarge) Ledger.TooLarge(error.GetType());
        throw error;
    }
}
