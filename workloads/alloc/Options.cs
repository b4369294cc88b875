// SPDX-License-Identifier: Apache-2.0
// What the command line asks for.
using System.Globalization;

namespace Clrscope.Workloads;

sealed class Options
{
    public const string Help =
        """
        usage: alloc [--mode MODE] [--seconds N] [--bytes N] [--rate BYTES_PER_S|max] [--threads N]
                     [--seed N] [--lean] [--collect] [--whole] [--start-on-stdin] [--stop-on-stdin] [--hold-on-stdin]
                     [--system COMMAND]

          --mode            mix (default), periodic, lohpoh, deep, generic, async, dynamic,
                            types, nested, funclets, stackalloc, interop, osr, values, check, keep,
                            grow (keeps some from the first to the last of 10 GB), stress
          --seconds N       stop after N seconds (default 10)
          --bytes N         stop earlier, once each thread has allocated N/threads bytes
          --rate R          bytes per second of all threads together (default 50000000), or max
          --threads N       allocating threads (default 1)
          --seed N          of the choice of sites and sizes (default 1)
          --lean            each thread calls a site of its own twenty times as often, and stays
                            until the program ends
          --collect         one more thread collects all the time, in every way there is
          --whole           count from the start of the program, the warm-up too
          --start-on-stdin  after {"ready":PID} wait for a line; counting starts there
          --stop-on-stdin   stop at the next line (or the end) of the input
          --hold-on-stdin   after the counts are printed wait for a line (or the end) before exiting
          --system COMMAND  first let the C library run this, as native code does that starts programs

        Prints {"ready":PID}, then one line of JSON: objects and bytes per type, per call site, and
        per type of each thread.
        """;

    public string Mode = "mix";
    public double Seconds = 10;
    public long Bytes = long.MaxValue;
    public double Rate = 50e6;
    public int Threads = 1;
    public int Seed = 1;
    public bool Lean, Collect, Whole, StartOnStdin, StopOnStdin, HoldOnStdin, ShowHelp;
    public string? SystemCommand;

    public static Options Parse(string[] args)
    {
        var o = new Options();
        for (int i = 0; i < args.Length; i++)
        {
            string Value() =>
                ++i < args.Length ? args[i] : throw new ArgumentException($"{args[i - 1]} needs a value");
            switch (args[i])
            {
                case "--mode": o.Mode = Value(); break;
                case "--seconds": o.Seconds = Number(Value()); break;
                case "--bytes": o.Bytes = (long)Number(Value()); break;
                case "--rate":
                    string rate = Value();
                    o.Rate = rate == "max" ? double.PositiveInfinity : Number(rate);
                    break;
                case "--threads": o.Threads = (int)Number(Value()); break;
                case "--seed": o.Seed = (int)Number(Value()); break;
                case "--lean": o.Lean = true; break;
                case "--collect": o.Collect = true; break;
                case "--whole": o.Whole = true; break;
                case "--start-on-stdin": o.StartOnStdin = true; break;
                case "--stop-on-stdin": o.StopOnStdin = true; break;
                case "--hold-on-stdin": o.HoldOnStdin = true; break;
                case "--system": o.SystemCommand = Value(); break;
                case "--help" or "-h": o.ShowHelp = true; break;
                default: throw new ArgumentException($"unknown option {args[i]}");
            }
        }
        if (o.Threads < 1 || o.Rate <= 0) throw new ArgumentException("--threads and --rate must be positive");
        _ = Modes.SitesOf(o.Mode);
        return o;
    }

    static double Number(string text) =>
        double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double n) && n >= 0
            ? n
            : throw new ArgumentException($"'{text}' is not a number");
}
