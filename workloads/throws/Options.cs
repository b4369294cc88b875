// SPDX-License-Identifier: Apache-2.0
// What the command line asks for.
using System.Globalization;

namespace Clrscope.Workloads.Throws;

sealed class Options
{
    public const string Help =
        """
        usage: throws [--kinds KIND,...] [--rounds N] [--seconds N] [--threads N] [--levels N] [--messages]
               throws --storm RATE [--seconds N] [--count N] [--threads N] [--share F] [--depth N]
                      [--burst-ms N --pause-ms N] [--messages]
               throws --hostile [--types N] [--rounds N] [--seconds N]
               and with each: [--without-first-chance] [--start-on-stdin] [--hold-on-stdin]

          --kinds           what to throw, see Kinds.cs (default: all of it)
          --rounds N        how often each kind, or each hostile type, is thrown (default 10, 1)
          --seconds N       the rounds are spread over so many seconds (default 0: as fast as they go);
                            the storm lasts so long (default 10)
          --threads N       of the kind `plain` (default 4) and of the storm (default 1)
          --levels N        awaits that an exception of an async method passes (default 5)
          --messages        the messages are secret-1, secret-2 ...
          --storm RATE      so many exceptions per second of all threads together, 0: as many as they can
          --count N         the storm ends earlier, after N exceptions
          --share F         of the storm that are of the second, rare type (default 0)
          --depth N         frames between the storm's throw and its catch (default 5)
          --burst-ms N      the storm goes on for so long, then pauses for --pause-ms, and so on
          --hostile         very many types with odd and long names, messages of up to 128 KB
          --types N         how many of them (default 1000)
          --without-first-chance  do not count by AppDomain.FirstChanceException, which costs time
          --start-on-stdin  after {"ready":PID} wait for a line; counting starts there
          --hold-on-stdin   after the counts are printed wait for a line (or the end) before exiting

        Prints {"ready":PID}, then one line of JSON: exceptions by kind, by type and by throwing method.
        """;

    public string Mode = "kinds";
    public string[] Kinds = [];
    public int Rounds, Threads, Levels = 5, Types = 1000, Depth = 5;
    public double Seconds = -1, Rate, Share, BurstMs, PauseMs;
    public long Count = long.MaxValue;
    public bool Messages, FirstChance = true, StartOnStdin, HoldOnStdin, ShowHelp;

    public static Options Parse(string[] args)
    {
        var o = new Options();
        for (int i = 0; i < args.Length; i++)
        {
            string Value() =>
                ++i < args.Length ? args[i] : throw new ArgumentException($"{args[i - 1]} needs a value");
            switch (args[i])
            {
                case "--kinds": o.Kinds = Value().Split(','); break;
                case "--rounds": o.Rounds = (int)Number(Value()); break;
                case "--seconds": o.Seconds = Number(Value()); break;
                case "--threads": o.Threads = (int)Number(Value()); break;
                case "--levels": o.Levels = (int)Number(Value()); break;
                case "--messages": o.Messages = true; break;
                case "--storm": (o.Mode, o.Rate) = ("storm", Number(Value())); break;
                case "--count": o.Count = (long)Number(Value()); break;
                case "--share": o.Share = Number(Value()); break;
                case "--depth": o.Depth = (int)Number(Value()); break;
                case "--burst-ms": o.BurstMs = Number(Value()); break;
                case "--pause-ms": o.PauseMs = Number(Value()); break;
                case "--hostile": o.Mode = "hostile"; break;
                case "--types": o.Types = (int)Number(Value()); break;
                case "--without-first-chance": o.FirstChance = false; break;
                case "--start-on-stdin": o.StartOnStdin = true; break;
                case "--hold-on-stdin": o.HoldOnStdin = true; break;
                case "--help" or "-h": o.ShowHelp = true; break;
                default: throw new ArgumentException($"unknown option {args[i]}");
            }
        }
        if (o.Share > 1) throw new ArgumentException("--share is a number from 0 to 1");
        if (o.Rounds == 0) o.Rounds = o.Mode == "hostile" ? 1 : 10;
        if (o.Threads == 0) o.Threads = o.Mode == "storm" ? 1 : 4;
        if (o.Seconds < 0) o.Seconds = o.Mode == "storm" ? 10 : 0;
        if (o.Kinds.Length == 0) o.Kinds = [.. Throws.Kinds.All.Select(k => k.Name)];
        foreach (string kind in o.Kinds) _ = Throws.Kinds.Of(kind);
        return o;
    }

    static double Number(string text) =>
        double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double n) && n >= 0
            ? n
            : throw new ArgumentException($"'{text}' is not a number");
}
