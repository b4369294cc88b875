// SPDX-License-Identifier: Apache-2.0
namespace Clrscope.Workloads.Chaos;

sealed class Options
{
    public const string Help =
        "usage: chaos --folder FOLDER [--seed N] [--seconds N] [--term runtime|system|report] [--without ACTIVITY,...]\n" +
        "             [--closed-door]\n" +
        "Says {\"ready\":PID}, begins at the first line of its input, and ends at the second, or after --seconds (600); then says what\n" +
        "it did, and ends after one more line. SIGTERM is left to the runtime or to the system (no handler at all), or ends it\n" +
        "with a report and 0. In a child by fork the runtime's handlers ask for the end of the parent: children are sent SIGTERM\n" +
        "by --term system alone. --closed-door: constructors of libraries do not call managed code.\n" +
        "FOLDER, which must be there, is for its copies of a library and the page of the heartbeats (beats).";

    public string Folder = "";
    public int Seed = 1;
    public double Seconds = 600;
    public string Term = "runtime";
    public bool ClosedDoor;
    public string[] Without = [];

    public static Options Parse(string[] args)
    {
        var options = new Options();
        for (int i = 0; i < args.Length; i++)
        {
            string Value() => i + 1 < args.Length ? args[++i] : throw new ArgumentException($"{args[i]} wants a value");
            switch (args[i])
            {
                case "--folder": options.Folder = Value(); break;
                case "--seed": options.Seed = int.Parse(Value()); break;
                case "--seconds": options.Seconds = double.Parse(Value()); break;
                case "--term": options.Term = Value(); break;
                case "--closed-door": options.ClosedDoor = true; break;
                case "--without": options.Without = Value().Split(','); break;
                default: throw new ArgumentException($"there is no option {args[i]}");
            }
        }
        if (options.Term is not ("runtime" or "system" or "report")) throw new ArgumentException($"--term {options.Term}");
        if (options.Folder == "") throw new ArgumentException("--folder is missing");
        return options;
    }
}
