// SPDX-License-Identifier: Apache-2.0
// A consumer of a queue: each message in an activity of its own, with a call within it.
using System.Diagnostics;
using System.Threading.Channels;

namespace Clrscope.Workloads.Routes;

static class Queue
{
    public const string Name = "consume (Clrscope.Queue)";
    static readonly ActivitySource s_source = new("Clrscope.Queue");
    static readonly Channel<(Ledger Ledger, int Ms)> s_messages = Channel.CreateUnbounded<(Ledger, int)>();

    public static void Start() => _ = Task.Run(Loop);

    public static void Add(int ms)
    {
        Ledger.BeginPending();
        s_messages.Writer.TryWrite((Ledger.Current, ms));
    }

    static async Task Loop()
    {
        await foreach ((Ledger ledger, int ms) in s_messages.Reader.ReadAllAsync())
        {
            var tally = new Tally(ledger);
            long start = Stopwatch.GetTimestamp();
            using (Activity? activity = s_source.StartActivity("consume", ActivityKind.Consumer))
            {
                Markers.Consumed(tally);
                await Operations.Get(tally, null, $"/called/{ms}");
            }
            ledger.OperationOf(new OperationKey(null, Name)).Add(tally, (long)Stopwatch.GetElapsedTime(start).TotalNanoseconds);
            Ledger.EndPending();
        }
    }
}
