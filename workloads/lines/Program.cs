// SPDX-License-Identifier: Apache-2.0
// Allocates, throws and computes on lines that its source names, for as long as it is told.
using System.Globalization;

namespace Clrscope.Workloads.Lines;

static class Program
{
    const string Help = """
        usage: lines [--seconds N] [--turns N] [--kinds LIST] [--rounds N]

          --seconds N   go on for N seconds after the line that starts it (default 5)
          --turns N     and until each place has had N turns, however long that takes (default 0)
          --kinds LIST  of: sites (default), burns, backs, keeps
          --rounds N    of each place before the next one's turn (default 200)

        Prints {"ready":PID}, waits for a line, and prints {"turns":N}, how often each place had its turn, at its end; then waits for another line.
        """;

    static int Main(string[] args)
    {
        double seconds = 5;
        int rounds = 200, leastTurns = 0;
        string kinds = "sites";
        for (int i = 0; i < args.Length; i++)
        {
            if (args[i] is "--seconds" && i + 1 < args.Length) seconds = double.Parse(args[++i], CultureInfo.InvariantCulture);
            else if (args[i] is "--turns" && i + 1 < args.Length) leastTurns = int.Parse(args[++i], CultureInfo.InvariantCulture);
            else if (args[i] is "--rounds" && i + 1 < args.Length) rounds = int.Parse(args[++i], CultureInfo.InvariantCulture);
            else if (args[i] is "--kinds" && i + 1 < args.Length) kinds = args[++i];
            else
            {
                Console.WriteLine(Help);
                return args[i] is "--help" ? 0 : 2;
            }
        }
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        Console.In.ReadLine();
        long end = Environment.TickCount64 + (long)(seconds * 1000);
        int turns = 0;
        for (; turns < leastTurns || Environment.TickCount64 < end; turns++)
        {
            if (kinds.Contains("sites")) AllSites(rounds);
            if (kinds.Contains("keeps")) Keeps.Fill(rounds);
            if (kinds.Contains("backs")) Backs.Calls(rounds);
            if (kinds.Contains("burns"))
            {
                Burns.Steps(rounds * 2000);
                Burns.Calls(rounds * 2000);
            }
        }
        Console.WriteLine($"{{\"turns\":{turns}}}");
        Console.In.ReadLine();
        return 0;
    }

    static void AllSites(int rounds)
    {
        Sites.Plain(rounds);
        Sites.Wide(rounds);
        Sites.Inlined(rounds);
        Sites.Locals(rounds);
        Sites.Iterated(rounds);
        Sites.Async(rounds / 10);  // each waits for other threads, on a busy machine for milliseconds
        Sites.Generics(rounds);
        Sites.Blocks(rounds);
        Sites.Initialised(rounds);
        Sites.Boxed(rounds);
        Sites.Long(rounds * 10);
        Sites.Virtual(rounds);
        Sites.Caught(rounds);
    }
}
