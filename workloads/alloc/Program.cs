// SPDX-License-Identifier: Apache-2.0
// Allocates in known ways and then tells what it allocated: the truth that estimates are held to.
using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Clrscope.Workloads;

static class Program
{
    // Hands on the environment that the system gave this process, not the one that Environment has.
    [DllImport("libc")]
    static extern int system([MarshalAs(UnmanagedType.LPUTF8Str)] string command);

    static int Main(string[] args)
    {
        Options options;
        try
        {
            options = Options.Parse(args);
        }
        catch (ArgumentException e)
        {
            Console.Error.WriteLine($"alloc: {e.Message}\n\n{Options.Help}");
            return 2;
        }
        if (options.ShowHelp)
        {
            Console.WriteLine(Options.Help);
            return 0;
        }

        if (options.SystemCommand != null && system(options.SystemCommand) != 0) return 3;
        var workers = new Worker[options.Threads];
        for (int i = 0; i < workers.Length; i++) workers[i] = new Worker(options, i);
        foreach (Worker worker in workers) worker.WarmUp();
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        if (options.StartOnStdin) Console.In.ReadLine();

        int[] collections = [GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2)];
        long before = GC.GetTotalAllocatedBytes(precise: true);
        long start = Stopwatch.GetTimestamp();
        foreach (Worker worker in workers) worker.Start();
        if (options.StopOnStdin)
        {
            Console.In.ReadLine();
            Worker.Stop = true;
        }
        Thread? collector = options.Collect ? Collector.Start() : null;
        foreach (Worker worker in workers) worker.Join();
        Collector.Stop = true;
        collector?.Join();
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        long after = GC.GetTotalAllocatedBytes(precise: true);
        for (int i = 0; i < collections.Length; i++)
            collections[i] = GC.CollectionCount(i) - collections[i];

        if (options.Mode is "keep" or "stress") GC.Collect();  // whatever lives has survived one of each generation
        Report.Write(options, workers, seconds, after - before, collections);
        if (options.HoldOnStdin) Console.In.ReadLine();
        return 0;
    }
}
