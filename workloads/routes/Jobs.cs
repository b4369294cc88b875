// SPDX-License-Identifier: Apache-2.0
// Jobs that no request asked for, each in an activity of its own.
using System.Diagnostics;

namespace Clrscope.Workloads.Routes;

static class Jobs
{
    static readonly ActivitySource s_source = new("Clrscope.Jobs");

    public static void Start() => _ = Task.Run(Loop);

    static async Task Loop()
    {
        for (;; await Task.Delay(5)) await Run();
    }

    static async Task Run()
    {
        Ledger ledger = Ledger.Current;
        var tally = new Tally(ledger);
        long start = Stopwatch.GetTimestamp();
        using (Activity? activity = s_source.StartActivity("job"))
        {
            if (activity is not null) ledger.AddListened();
            Markers.JobBefore(tally);
            await Task.Yield();
            Markers.JobAfter(tally);
        }
        ledger.Jobs.Add(tally, (long)Stopwatch.GetElapsedTime(start).TotalNanoseconds);
    }
}
