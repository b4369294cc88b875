// SPDX-License-Identifier: Apache-2.0
// Objects of a type each that live in a known generation: in 0, 1 and 2, pinned ones that a collection
// leaves where they are, and on the large and the pinned object heap; made among collections of all kinds.
using System.Runtime.InteropServices;
using System.Text;

namespace Clrscope.Workloads.Collections;

struct Elder { public long Value; }
struct Middle { public long Value; }
struct Stuck { public long Value; }
struct Fresh { public long Value; }
struct Large { public long Value; }
struct Pinned { public long Value; }

static class Generations
{
    const int Count = 15_000, LargeCount = 300, PinnedCount = 4_000;
    const int Length = 128, LargeLength = 12_500, PinnedLength = 512;  // 1 KB, 100 KB, 4 KB
    static readonly Array[] s_elder = new Array[Count], s_middle = new Array[Count], s_stuck = new Array[Count / 3],
        s_fresh = new Array[Count], s_large = new Array[LargeCount], s_pinned = new Array[PinnedCount];
    static readonly GCHandle[] s_handles = new GCHandle[Count / 3];
    static readonly (string Name, Array[] All)[] s_sets =
    [
        ("Elder", s_elder), ("Middle", s_middle), ("Stuck", s_stuck), ("Fresh", s_fresh), ("Large", s_large), ("Pinned", s_pinned),
    ];

    public static void Make()
    {
        for (int i = 0; i < Count; i++)
        {
            s_elder[i] = new Elder[Length];
            if (i < LargeCount) s_large[i] = new Large[LargeLength];
            if (i < PinnedCount) s_pinned[i] = GC.AllocateArray<Pinned>(PinnedLength, pinned: true);
            GC.KeepAlive(new byte[1000]);
            switch (i % 1000)
            {
                case 100: GC.Collect(0); break;
                case 300: GC.Collect(1); break;
                case 500: GC.Collect(2, GCCollectionMode.Forced, blocking: false); break;
                case 700: GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true); break;
            }
        }
        GC.Collect();
        GC.Collect();
        for (int i = 0; i < s_stuck.Length; i++)
        {
            s_stuck[i] = new Stuck[Length];
            s_handles[i] = GCHandle.Alloc(s_stuck[i], GCHandleType.Pinned);
            for (int n = 0; n < 3; n++) GC.KeepAlive(new byte[1000]);
        }
        for (int i = 0; i < Count; i++) s_middle[i] = new Middle[Length];
        GC.Collect(0, GCCollectionMode.Forced, blocking: true);
        for (int i = 0; i < Count / 10; i++) s_fresh[i] = new Fresh[Length];
        // A background collection that still runs ends meanwhile.
        for (int quiet = 0, last = -1; quiet < 10;)
        {
            Thread.Sleep(50);
            int now = GC.CollectionCount(0) + GC.CollectionCount(2);
            quiet = now == last ? quiet + 1 : 0;
            last = now;
        }
    }

    // {"generations":{"Elder":[in 0, in 1, in 2], …}}; the runtime counts LOH and POH to generation 2.
    public static void Describe(StringBuilder o)
    {
        o.Append("{\"generations\":{");
        for (int set = 0; set < s_sets.Length; set++)
        {
            int n0 = 0, n1 = 0, n2 = 0;
            foreach (Array a in s_sets[set].All)
            {
                if (a is null) continue;
                switch (GC.GetGeneration(a))
                {
                    case 0: n0++; break;
                    case 1: n1++; break;
                    default: n2++; break;
                }
            }
            o.Append(set == 0 ? "\"" : ",\"").Append(s_sets[set].Name).Append("\":[");
            o.Append(n0).Append(',').Append(n1).Append(',').Append(n2).Append(']');
        }
        o.Append("},\"collections\":[").Append(GC.CollectionCount(0)).Append(',').Append(GC.CollectionCount(1)).Append(',');
        o.Append(GC.CollectionCount(2)).Append("]}");
    }

    public static void Release()
    {
        foreach (GCHandle handle in s_handles) handle.Free();
        foreach (var (_, all) in s_sets) GC.KeepAlive(all);
    }
}
