// SPDX-License-Identifier: Apache-2.0
// Keeps the garbage collector busy in known ways, then tells what the runtime itself counted.
//   gc [--mode soh|loh|poh|induced|pinned|generations|heaps|regions] [--seconds N] [--threads N] [--live MB]
//      [--collections N] [--start-on-stdin] [--hold-on-stdin]
// --collections: nothing but N calls of GC.Collect(0), as fast as they go.
// Prints {"ready":PID}; at the end, when nothing allocates any more, one line of JSON:
//   collections: GC.CollectionCount of each generation; induced: calls of GC.Collect;
//   out_of_memory: allocations that threw OutOfMemoryException and were left out;
//   infos: GC.GetGCMemoryInfo of each kind of GC
// --mode heaps: see Heaps.cs; tells what it allocated by its own count.
// --mode regions: see Regions.cs; tells what it allocated, and GC.CollectionCount of each generation.
// --mode generations: see Generations.cs; tells how many objects of each type are in which generation.
using System.Globalization;
using System.Text;

namespace Clrscope.Workloads.Collections;

static class Program
{
    static string s_mode = "soh";
    static double s_seconds = 3;
    static int s_threads = 1, s_liveMb = 20, s_induced, s_collections, s_outOfMemory;
    static bool s_startOnStdin, s_holdOnStdin;

    static int Main(string[] args)
    {
        for (int i = 0; i < args.Length; i++)
        {
            switch (args[i])
            {
                case "--mode" when i + 1 < args.Length: s_mode = args[++i]; break;
                case "--seconds" when i + 1 < args.Length: s_seconds = double.Parse(args[++i], CultureInfo.InvariantCulture); break;
                case "--threads" when i + 1 < args.Length: s_threads = int.Parse(args[++i]); break;
                case "--live" when i + 1 < args.Length: s_liveMb = int.Parse(args[++i]); break;
                case "--collections" when i + 1 < args.Length: s_collections = int.Parse(args[++i]); break;
                case "--start-on-stdin": s_startOnStdin = true; break;
                case "--hold-on-stdin": s_holdOnStdin = true; break;
                default:
                    Console.Error.WriteLine($"gc: unknown argument '{args[i]}'");
                    return 2;
            }
        }
        // What the report needs is made before: it must not collect anything itself.
        var text = new StringBuilder(16384);
        Describe(text);
        text.Clear();
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        if (s_startOnStdin) Console.In.ReadLine();
        if (s_mode is "heaps" or "regions")
        {
            Console.WriteLine(s_mode == "heaps" ? Heaps.Run() : Regions.Run());
            if (s_holdOnStdin) Console.In.ReadLine();
            return 0;
        }
        if (s_mode == "generations")
        {
            Generations.Make();
            Generations.Describe(text);
            Console.WriteLine(text.ToString());
            if (s_holdOnStdin) Console.In.ReadLine();
            Generations.Release();
            return 0;
        }

        var threads = new Thread[s_threads];
        for (int i = 0; i < threads.Length; i++)
        {
            int seed = i + 1;
            threads[i] = new Thread(() => Work(seed));
            threads[i].Start();
        }
        foreach (Thread thread in threads) thread.Join();
        Settle();
        Describe(text);
        Console.WriteLine(text.ToString());
        if (s_holdOnStdin) Console.In.ReadLine();
        return 0;
    }

    static void Work(int seed)
    {
        if (s_collections > 0)
        {
            for (int i = 0; i < s_collections; i++, s_induced++)
            {
                GC.KeepAlive(new byte[1000]);
                GC.Collect(0);
            }
            return;
        }
        var random = new Random(seed);
        long end = Environment.TickCount64 + (long)(s_seconds * 1000);
        object?[] live = new object?[Math.Max(1, s_liveMb * (s_mode is "soh" or "induced" ? 2000 : 4))];
        var handles = new Queue<System.Runtime.InteropServices.GCHandle>();
        int round = 0;
        while (Environment.TickCount64 < end)
        {
            for (int i = 0; i < 100; i++)
            {
                object made;
                try
                {
                    made = Allocate(random);
                }
                catch (OutOfMemoryException)
                {
                    // Below a DOTNET_GCHeapHardLimit of 200 MB .NET 10 throws in about 1 run of 100 with --mode loh and a
                    // generation 0 of 56 MB, though 46 MB are alive. The default size of generation 0 follows the L3 cache.
                    Interlocked.Increment(ref s_outOfMemory);
                    continue;
                }
                if (random.Next(20) == 0) live[random.Next(live.Length)] = made;
                if (s_mode == "pinned" && random.Next(50) == 0)
                {
                    handles.Enqueue(System.Runtime.InteropServices.GCHandle.Alloc(made, System.Runtime.InteropServices.GCHandleType.Pinned));
                    if (handles.Count > 300) handles.Dequeue().Free();
                }
            }
            round++;
            if (s_mode == "induced" && round % 500 == 0) Induce(round / 500);
        }
        GC.KeepAlive(live);
        while (handles.Count > 0) handles.Dequeue().Free();
    }

    static object Allocate(Random random) => s_mode switch
    {
        "loh" => random.Next(10) == 0 ? new byte[90_000 + random.Next(400_000)] : new byte[100 + random.Next(2000)],
        "poh" => random.Next(10) == 0 ? GC.AllocateArray<byte>(1000 + random.Next(60_000), pinned: true) : new byte[100 + random.Next(2000)],
        "pinned" => new byte[500 + random.Next(4000)],
        _ => new byte[24 + random.Next(900)],
    };

    static void Induce(int n)
    {
        s_induced++;
        switch (n % 5)
        {
            case 0: GC.Collect(0); break;
            case 1: GC.Collect(1); break;
            case 2: GC.Collect(2, GCCollectionMode.Forced, blocking: true); break;
            case 3: GC.Collect(2, GCCollectionMode.Optimized, blocking: false); break;
            case 4: GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true); break;
        }
    }

    // A background collection that still runs would change what is told.
    static void Settle()
    {
        for (int quiet = 0, last = -1; quiet < 10;)
        {
            Thread.Sleep(50);
            int now = GC.CollectionCount(0) + GC.CollectionCount(2);
            quiet = now == last ? quiet + 1 : 0;
            last = now;
        }
    }

    static void Describe(StringBuilder o)
    {
        o.Append($"{{\"collections\":[{GC.CollectionCount(0)},{GC.CollectionCount(1)},{GC.CollectionCount(2)}],\"induced\":{s_induced},");
        o.Append($"\"out_of_memory\":{s_outOfMemory},\"server\":{(System.Runtime.GCSettings.IsServerGC ? "true" : "false")},\"infos\":{{");
        bool first = true;
        foreach (GCKind kind in new[] { GCKind.Any, GCKind.Ephemeral, GCKind.FullBlocking, GCKind.Background })
        {
            GCMemoryInfo m = GC.GetGCMemoryInfo(kind);
            o.Append(first ? "" : ",").Append($"\"{kind}\":{{\"index\":{m.Index},\"generation\":{m.Generation},");
            o.Append($"\"concurrent\":{(m.Concurrent ? "true" : "false")},\"compacted\":{(m.Compacted ? "true" : "false")},");
            o.Append($"\"heap_bytes\":{m.HeapSizeBytes},\"fragmented_bytes\":{m.FragmentedBytes},\"promoted_bytes\":{m.PromotedBytes},");
            o.Append($"\"pinned\":{m.PinnedObjectsCount},\"committed_bytes\":{m.TotalCommittedBytes},\"pauses_ms\":[");
            o.Append(string.Create(CultureInfo.InvariantCulture, $"{m.PauseDurations[0].TotalMilliseconds},{m.PauseDurations[1].TotalMilliseconds}"));
            o.Append("],\"generations\":[");
            for (int g = 0; g < m.GenerationInfo.Length; g++)
            {
                GCGenerationInfo i = m.GenerationInfo[g];
                o.Append(g == 0 ? "" : ",").Append($"{{\"before\":{i.SizeBeforeBytes},\"after\":{i.SizeAfterBytes},\"free_after\":{i.FragmentationAfterBytes}}}");
            }
            o.Append("]}");
            first = false;
        }
        o.Append("}}");
    }
}
