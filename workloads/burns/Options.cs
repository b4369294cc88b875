// SPDX-License-Identifier: Apache-2.0
// What the command line asks for.
using System.Globalization;

namespace Clrscope.Workloads.Burns;

sealed class Options
{
    public const string Help =
        """
        usage: burns [--seconds S] [--kinds NAME,...] [--start-on-stdin] [--hold-on-stdin]

          --seconds S       of CPU time for each kind (default 1)
          --kinds NAMES     of loops,recursion,generics,delegates,dynamic,async,native,back,callback,exceptions,allocations,
                            garbage,osr,kernel,threads (default all), or churn (200 threads a second), collect (74 % in the garbage collector),
                            fork (children that use CPU time, too), unloaded (methods of which one takes another's place)
          --own-sigprof     take SIGPROF for every 10 ms of CPU time, and tell how many came
          --idle-threads N  that wait meanwhile
          --steady N        in place of all that: N threads do the same piece of work again and again until the input ends, and each line of it is
                            answered with {"pieces":…,"cpu_ns":…} so far
          --start-on-stdin  begin with the first line of the input
          --hold-on-stdin   wait for a line after the report

        Prints {"ready":PID}, burns CPU time in one way after the other, and prints how much by each method, on one line.
        """;

    public double Seconds = 1;
    public string[] Kinds = Workloads.Burns.Kinds.Names;
    public bool StartOnStdin, HoldOnStdin, OwnSigprof, ShowHelp;
    public int IdleThreads, Steady;

    public static Options Parse(string[] args)
    {
        var o = new Options();
        for (int i = 0; i < args.Length; i++)
        {
            string Value() => ++i < args.Length ? args[i] : throw new ArgumentException($"{args[i - 1]} needs a value");
            switch (args[i])
            {
                case "--seconds": o.Seconds = double.Parse(Value(), CultureInfo.InvariantCulture); break;
                case "--kinds": o.Kinds = Value().Split(','); break;
                case "--start-on-stdin": o.StartOnStdin = true; break;
                case "--hold-on-stdin": o.HoldOnStdin = true; break;
                case "--own-sigprof": o.OwnSigprof = true; break;
                case "--idle-threads": o.IdleThreads = int.Parse(Value(), CultureInfo.InvariantCulture); break;
                case "--steady": o.Steady = int.Parse(Value(), CultureInfo.InvariantCulture); break;
                case "--help" or "-h": o.ShowHelp = true; break;
                default: throw new ArgumentException($"unknown option {args[i]}");
            }
        }
        foreach (string kind in o.Kinds)
            if (!Workloads.Burns.Kinds.Names.Contains(kind) && !Workloads.Burns.Kinds.OtherNames.Contains(kind)) throw new ArgumentException($"unknown kind {kind}");
        return o;
    }
}
