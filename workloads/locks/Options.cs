// SPDX-License-Identifier: Apache-2.0
// What the command line asks for.
using System.Globalization;

namespace Clrscope.Workloads.Locks;

sealed class Options
{
    public const string Help =
        """
        usage: locks [--kinds KIND,...] [--rounds N] [--waiters N] [--hold-ms N] [--seconds N] [--busy] [--hang]
               locks --ping-pong [--kinds monitor|lock] [--seconds N] [--count N]
               and with each: [--start-on-stdin] [--hold-on-stdin]

          --kinds           what to wait for, see Kinds.cs (default: all that this runtime has)
          --rounds N        how often each waiter of a kind waits (default 3)
          --waiters N       how many wait at a time (default 3)
          --hold-ms N       how long they are kept waiting, once all of them wait (default 50)
          --seconds N       the rounds are spread over so many seconds (default 0: as fast as they go);
                            the ping-pong lasts so long (default 5)
          --busy            meanwhile who has it allocates, in Kind.Fill, rather than sleep
          --hang            one more thread waits for a lock from the beginning to the end of the input,
                            the counts being printed before
          --ping-pong       two threads hand a lock to each other, as fast as they can
          --count N         the ping-pong ends earlier, after N handovers
          --start-on-stdin  after {"ready":PID} wait for a line; counting starts there
          --hold-on-stdin   after the counts are printed wait for a line (or the end) before exiting

        Prints {"ready":PID}, then one line of JSON: waits and their durations by kind and by thread.
        """;

    public string Mode = "kinds";
    public string[] Kinds = [];
    public int Rounds = 3, Waiters = 3, HoldMs = 50;
    public double Seconds = -1;
    public long Count = long.MaxValue;
    public bool Busy, Hang, StartOnStdin, HoldOnStdin, ShowHelp;

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
                case "--waiters": o.Waiters = (int)Number(Value()); break;
                case "--hold-ms": o.HoldMs = (int)Number(Value()); break;
                case "--seconds": o.Seconds = Number(Value()); break;
                case "--busy": o.Busy = true; break;
                case "--hang": o.Hang = true; break;
                case "--ping-pong": o.Mode = "ping-pong"; break;
                case "--count": o.Count = (long)Number(Value()); break;
                case "--start-on-stdin": o.StartOnStdin = true; break;
                case "--hold-on-stdin": o.HoldOnStdin = true; break;
                case "--help" or "-h": o.ShowHelp = true; break;
                default: throw new ArgumentException($"unknown option {args[i]}");
            }
        }
        bool pingPong = o.Mode == "ping-pong";
        if (o.Waiters < 1) throw new ArgumentException("--waiters must be positive");
        if (o.Seconds < 0) o.Seconds = pingPong ? 5 : 0;
        if (o.Kinds.Length == 0) o.Kinds = pingPong ? ["monitor"] : [.. Locks.Kinds.All.Select(k => k.Name)];
        foreach (string kind in o.Kinds) _ = Locks.Kinds.Make(kind);
        if (pingPong && (o.Kinds.Length != 1 || o.Kinds[0] is not ("monitor" or "lock")))
            throw new ArgumentException("--ping-pong is of the kind monitor or of the kind lock");
        return o;
    }

    static double Number(string text) =>
        double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double n) && n >= 0
            ? n
            : throw new ArgumentException($"'{text}' is not a number");
}
