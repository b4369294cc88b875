// SPDX-License-Identifier: Apache-2.0
// Burns CPU time in known methods and then tells how much: the truth that CPU profiles are held to.
using System.Text.Json;

namespace Clrscope.Workloads.Burns;

static class Program
{
    static int Main(string[] args)
    {
        Options options;
        try
        {
            options = Options.Parse(args);
        }
        catch (Exception e) when (e is ArgumentException or FormatException)
        {
            Console.Error.WriteLine($"burns: {e.Message}\n\n{Options.Help}");
            return 2;
        }
        if (options.ShowHelp)
        {
            Console.WriteLine(Options.Help);
            return 0;
        }
        using OwnSignals? signals = options.OwnSigprof ? new OwnSignals() : null;
        using var idle = new IdleThreads(options.IdleThreads);
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        if (options.Steady > 0)
        {
            new Steady().Run(options.Steady);
            return 0;
        }
        if (options.StartOnStdin) Console.In.ReadLine();
        long start = ThreadClock.ProcessNs;
        foreach (string kind in options.Kinds) Kinds.Run(kind, options.Seconds);
        long process = ThreadClock.ProcessNs - start;
        var methods = string.Join(",", Kinds.Truth.Select(t => $"{JsonEncodedText.Encode(t.Key)}\":{t.Value}".Insert(0, "\"")));
        Console.WriteLine($"{{\"process_ns\":{process},\"sigprof\":{signals?.Count ?? 0},\"methods\":{{{methods}}}}}");
        if (options.HoldOnStdin) Console.In.ReadLine();
        return 0;
    }
}
