// SPDX-License-Identifier: Apache-2.0
// Begins regions without collections, which the runtime counts as collections even where it finds room enough and runs
// none, allocates in them and between them, and tells what it allocated and what the runtime counted.
namespace Clrscope.Workloads.Collections;

static class Regions
{
    const int Count = 30, Inside = 20 << 20, Between = 120 << 20, Room = 64 << 20;

    static byte[]? s_last;

    public static string Run()
    {
        long allocated = GC.GetTotalAllocatedBytes(true);
        int begun = 0;
        for (int i = 0; i < Count; i++)
        {
            if (GC.TryStartNoGCRegion(Room)) begun++;
            Allocate(Inside);
            if (System.Runtime.GCSettings.LatencyMode == System.Runtime.GCLatencyMode.NoGCRegion) GC.EndNoGCRegion();
            Allocate(Between);
        }
        // What was allocated since the last collection is told by the next one.
        allocated = GC.GetTotalAllocatedBytes(true) - allocated;
        GC.Collect();
        return $"{{\"regions\":{begun},\"allocated\":{allocated},\"collections\":[{GC.CollectionCount(0)},{GC.CollectionCount(1)},{GC.CollectionCount(2)}]}}";
    }

    static void Allocate(int bytes)
    {
        for (int done = 0; done < bytes; done += 1024) s_last = new byte[1000];
    }
}
