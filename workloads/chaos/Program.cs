// SPDX-License-Identifier: Apache-2.0
// Does everything at once that a profiler inside a process could stumble over, and knows what should come out.
using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Chaos;

static class Program
{
    static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);  // until each thread has ended

    static int Main(string[] args)
    {
        Options options;
        try
        {
            options = Options.Parse(args);
        }
        catch (ArgumentException e)
        {
            Console.Error.WriteLine($"chaos: {e.Message}\n\n{Options.Help}");
            return 2;
        }
        using var stop = new Stop(options);
        if (options.Term == "system") Native.chaos_leave_term_to_system();
        Holder.Make();
        Holder.MakeOfFinalizer();
        if (!options.ClosedDoor) Libraries.OpenDoor();
        Heartbeats.Start(Path.Combine(options.Folder, "beats"));
        Activity[] all =
            [new Allocations(), new Assemblies(), new Lambdas(), new Libraries(options.Folder), new Forks(byTerm: options.Term == "system"), new Threads(),
             new Fibers(), new Exceptions(), new Signals(managed: options.ClosedDoor), new Collections()];
        Activity[] activities = [.. all.Where(a => !options.Without.Contains(a.Name))];
        foreach (Activity activity in activities) activity.WarmUp();

        using var output = new StreamWriter(Console.OpenStandardOutput()) { AutoFlush = true };
        output.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        string endedBy = stop.Await();
        long before = GC.GetTotalAllocatedBytes(), start = Stopwatch.GetTimestamp();
        if (endedBy == "input")  // it asks to begin
        {
            Activity.Start(activities, options.Seed * 1000);
            do
            {
                endedBy = stop.Await(seconds: 0.5);
                Report.Save(options.Folder, Report.Make("", Seconds(), Allocated(), []));
            } while (endedBy == "time" && Seconds() < options.Seconds);
        }
        (double seconds, long allocated) = (Seconds(), Allocated());
        Activity.Stop = true;
        DateTime deadline = DateTime.UtcNow + s_patience;
        List<string> stuck = [.. activities.Where(a => a.Join(deadline) != 0).Select(a => a.Name)];
        output.WriteLine(Report.Make(endedBy, seconds, allocated, stuck));
        if (endedBy == "input") stop.Await();
        return 0;

        double Seconds() => Stopwatch.GetElapsedTime(start).TotalSeconds;
        long Allocated() => GC.GetTotalAllocatedBytes() - before;
    }
}
