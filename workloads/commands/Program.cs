// SPDX-License-Identifier: Apache-2.0
// Handles the commands of the runtime's event source: code of the program on the thread that begins or ends a session. It does there what any
// thread of a program may do, and its ledger says whether that worked.
//   commands [null] [spin] [masks] [hold]     default: all but hold
// Prints {"ready":PID}. With hold the handler waits for a line on standard input, once. At the next line the program prints its ledger and ends
// with code 0.
using System.Text.Json;

namespace Clrscope.Workloads.Commands;

static class Program
{
    static readonly string[] s_acts = ["null", "spin", "masks", "hold"];

    static int Main(string[] args)
    {
        foreach (string arg in args)
        {
            if (s_acts.Contains(arg)) continue;
            Console.Error.WriteLine($"commands: unknown act '{arg}'");
            return 2;
        }
        var ledger = new Ledger { SignalsOfMain = SignalMask.OfThisThread(), SignalsOfChild = SignalMask.OfAChild() };
        Collector.Start();
        using var handler = new Handler(ledger, args.Length == 0 ? s_acts[..^1] : args);

        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        if (args.Contains("hold"))
        {
            Console.In.ReadLine();
            handler.LetGo();
        }
        Console.In.ReadLine();
        lock (ledger)
        {
            var options = new JsonSerializerOptions { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };
            Console.WriteLine(JsonSerializer.Serialize(ledger, options));
        }
        return 0;
    }
}
