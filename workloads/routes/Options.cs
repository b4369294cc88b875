// SPDX-License-Identifier: Apache-2.0
// What the command line asks for.
using System.Globalization;

namespace Clrscope.Workloads.Routes;

sealed class Options
{
    public const string Help =
        """
        usage: routes [--url URL] [--background BYTES_PER_S] [--holds BYTES_PER_S] [--activities] [--areas]
                      [--error-pages]

          --url URL       where to listen (default http://127.0.0.1:0, a free port)
          --background R  allocate R bytes per second outside of requests: a third each by a thread, by a
                          timer and by a loop of tasks (default 0)
          --holds R       a thread allocates R bytes per second, and keeps them (default 0)
          --activities    run jobs, each in an activity "job" of the source "Clrscope.Jobs"
          --areas         a conventional route of areas before the other one
          --error-pages   requests that throw run again for /error, others that fail for /status/{code}

        Prints {"ready":PID,"url":URL}. GET /ledger answers with what was done since the start or the last
        GET /reset. At SIGTERM or the end of its input the service stops and prints that as one line.
        """;

    public string Url = "http://127.0.0.1:0";
    public double Background, Holds;
    public bool Activities, Areas, ErrorPages, ShowHelp;

    public static Options Parse(string[] args)
    {
        var o = new Options();
        for (int i = 0; i < args.Length; i++)
        {
            string Value() =>
                ++i < args.Length ? args[i] : throw new ArgumentException($"{args[i - 1]} needs a value");
            switch (args[i])
            {
                case "--url": o.Url = Value(); break;
                case "--background": o.Background = Number(Value()); break;
                case "--holds": o.Holds = Number(Value()); break;
                case "--activities": o.Activities = true; break;
                case "--areas": o.Areas = true; break;
                case "--error-pages": o.ErrorPages = true; break;
                case "--help" or "-h": o.ShowHelp = true; break;
                default: throw new ArgumentException($"unknown option {args[i]}");
            }
        }
        return o;
    }

    static double Number(string text) =>
        double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double n) && n >= 0
            ? n
            : throw new ArgumentException($"'{text}' is not a number");
}
