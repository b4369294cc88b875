// SPDX-License-Identifier: Apache-2.0
// A thread that collects all the time: each generation, blocking and in the background, sweeping and
// compacting, the large object heap too.
using System.Runtime;

namespace Clrscope.Workloads;

static class Collector
{
    public static volatile bool Stop;

    public static Thread Start()
    {
        var thread = new Thread(Run) { Name = "collector" };
        thread.Start();
        return thread;
    }

    static void Run()
    {
        for (int i = 0; !Stop; i++)
        {
            switch (i % 6)
            {
                case 0: GC.Collect(0); break;
                case 1: GC.Collect(1, GCCollectionMode.Forced, blocking: true, compacting: true); break;
                case 2: GC.Collect(2, GCCollectionMode.Forced, blocking: false); break;
                case 3:
                    GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
                    GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
                    break;
                case 4: GC.Collect(0, GCCollectionMode.Forced, blocking: true); break;
                case 5: GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true); break;
            }
            Thread.Sleep(1);
        }
    }
}
