// SPDX-License-Identifier: Apache-2.0
// Throws exceptions in known ways and then tells which: the truth that profiles of exceptions are held to.
using System.Diagnostics;

namespace Clrscope.Workloads.Throws;

static class Program
{
    static int Main(string[] args)
    {
        Options options;
        try
        {
            options = Options.Parse(args);
        }
        catch (ArgumentException e)
        {
            Console.Error.WriteLine($"throws: {e.Message}\n\n{Options.Help}");
            return 2;
        }
        if (options.ShowHelp)
        {
            Console.WriteLine(Options.Help);
            return 0;
        }

        Message.Secret = options.Messages;
        Type[] hostile = options.Mode == "hostile" ? HostileTypes.Make(options.Types) : [];
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        if (options.StartOnStdin) Console.In.ReadLine();

        if (options.FirstChance) FirstChance.Start();
        double cpu = CpuSeconds();
        long start = Stopwatch.GetTimestamp();
        switch (options.Mode)
        {
            case "storm": Storm.Run(options); break;
            case "hostile": Hostile.Run(options, hostile); break;
            default: Kinds.Run(options); break;
        }
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        cpu = CpuSeconds() - cpu;
        if (options.FirstChance) FirstChance.Stop();

        Report.Write(options, seconds, cpu);
        if (options.HoldOnStdin) Console.In.ReadLine();
        return 0;
    }

    static double CpuSeconds()
    {
        using Process self = Process.GetCurrentProcess();
        return self.TotalProcessorTime.TotalSeconds;
    }
}
