// SPDX-License-Identifier: Apache-2.0
// Waits in known ways and then tells how long: the truth that profiles of contention and of waits are held to.
using System.Diagnostics;

namespace Clrscope.Workloads.Locks;

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
            Console.Error.WriteLine($"locks: {e.Message}\n\n{Options.Help}");
            return 2;
        }
        if (options.ShowHelp)
        {
            Console.WriteLine(Options.Help);
            return 0;
        }

        ThreadPool.SetMinThreads(options.Waiters + 2, 1);
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        if (options.StartOnStdin) Console.In.ReadLine();

        Hang? hang = options.Hang ? Hang.Start() : null;
        double cpu = CpuSeconds();
        long start = Stopwatch.GetTimestamp();
        List<Kind> kinds = [];
        long handovers = 0;
        if (options.Mode == "ping-pong") handovers = PingPong.Run(options);
        else kinds = Kinds.Run(options);
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        cpu = CpuSeconds() - cpu;

        Report.Write(options, kinds, hang, handovers, seconds, cpu);
        if (options.HoldOnStdin || options.Hang) Console.In.ReadLine();
        hang?.End();
        return 0;
    }

    static double CpuSeconds()
    {
        using Process self = Process.GetCurrentProcess();
        return self.TotalProcessorTime.TotalSeconds;
    }
}
