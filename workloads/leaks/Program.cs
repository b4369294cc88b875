// SPDX-License-Identifier: Apache-2.0
// Leaks and caches of which the answer is known, each at a site and with a type of its own.
//   leaks --hoard BYTES [--pauses N] [--start-on-stdin]     keeps so much, calls GC.Collect(0) N times, tells their pauses
//   leaks [--run NAME,NAME…] [--seconds N] [--garbage BYTES_PER_S] [--gc-every MS] [--slow BYTES] [--grows S] [--start-on-stdin]
// Leaks:   list, handlers, timers, slow (one object a second)
// Others:  refreshed (thrown away as a whole), lru (the oldest goes), stabilising (grows, then stops), loaded (at the start)
// Outside of the GC's heap: native (4 MiB a second that malloc gives, each page written)
// Prints {"ready":PID}; at the end one line of JSON: what each site made and what of it lives.
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Clrscope.Workloads.Leaks;

struct Words
{
    public long A, B, C, D, E, F, G, H;  // 64 bytes
}
struct Item { public Words W; }
struct Subscriber { public Words W; }
struct TimerState { public Words W; }
struct Slow { public Words W; }
struct Entry { public Words W; }
struct Page { public Words W; }
struct Node { public Words W; }
struct Table { public Words W; }

abstract class Site(string name)
{
    public readonly string Name = name;
    public long Made;
    public abstract long Live { get; }
    // Makes what is due after `seconds`.
    public abstract void Step(double seconds);
    protected long Due(double perSecond, double seconds) => (long)(perSecond * seconds) - Made;
}

sealed class StaticList() : Site("list")
{
    static readonly List<Item[]> s_all = [];
    public override long Live => s_all.Count;
    public override void Step(double seconds)
    {
        for (long n = Due(2000, seconds); n > 0; n--, Made++) Add();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Add() => s_all.Add(new Item[15]);
}

sealed class Handlers() : Site("handlers")
{
    static event Action? Changed;
    public static void Raise() => Changed?.Invoke();
    static long s_count;
    public override long Live => s_count;
    public override void Step(double seconds)
    {
        for (long n = Due(150, seconds); n > 0; n--, Made++) Subscribe();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Subscribe()
    {
        var state = new Subscriber[100];
        Changed += () => GC.KeepAlive(state);
        s_count++;
    }
}

sealed class Timers() : Site("timers")
{
    static long s_count;
    public override long Live => s_count;
    public override void Step(double seconds)
    {
        for (long n = Due(400, seconds); n > 0; n--, Made++) StartOne();
    }
    // A timer that nobody holds goes; one that its own callback holds lives until it is disposed.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StartOne()
    {
        var state = new TimerState[60];
        Timer? timer = null;
        timer = new Timer(_ => { GC.KeepAlive(state); GC.KeepAlive(timer); }, null, TimeSpan.FromHours(1), TimeSpan.FromHours(1));
        s_count++;
    }
}

sealed class SlowLeak(int bytes) : Site("slow")
{
    static readonly List<Slow[]> s_all = [];
    public override long Live => s_all.Count;
    public override void Step(double seconds)
    {
        for (long n = Due(1, seconds); n > 0; n--, Made++) Add(bytes / 64);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Add(int length) => s_all.Add(new Slow[length]);
}

sealed class Refreshed() : Site("refreshed")
{
    const int Entries = 6000;
    const double Period = 3;
    static Dictionary<int, Entry[]> s_cache = [];
    int _generation = -1;
    public override long Live => s_cache.Count;
    public override void Step(double seconds)
    {
        int generation = (int)(seconds / Period);
        if (generation == _generation) return;
        _generation = generation;
        var fresh = new Dictionary<int, Entry[]>();
        for (int i = 0; i < Entries; i++, Made++) Load(fresh, i);
        s_cache = fresh;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Load(Dictionary<int, Entry[]> cache, int key) => cache[key] = new Entry[15];
}

sealed class Lru() : Site("lru")
{
    const int Pages = 3000;
    static readonly Queue<Page[]> s_pages = [];
    public override long Live => s_pages.Count;
    public override void Step(double seconds)
    {
        for (long n = Due(1000, seconds); n > 0; n--, Made++) Read();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Read()
    {
        if (s_pages.Count == Pages) s_pages.Dequeue();
        s_pages.Enqueue(new Page[30]);
    }
}

sealed class Stabilising(double grows) : Site("stabilising")
{
    static readonly List<Node[]> s_nodes = [];
    public override long Live => s_nodes.Count;
    public override void Step(double seconds)
    {
        for (long n = Due(2000, Math.Min(seconds, grows)); n > 0; n--, Made++) Add();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Add() => s_nodes.Add(new Node[15]);
}

sealed class Loaded() : Site("loaded")
{
    static readonly List<Table[]> s_tables = [];
    public override long Live => s_tables.Count;
    public override void Step(double seconds)
    {
        for (; Made < 5000; Made++) Add();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Add() => s_tables.Add(new Table[30]);
}

sealed class Native() : Site("native")
{
    const int Bytes = 1 << 20;
    public override long Live => Made;
    public override void Step(double seconds)
    {
        for (long n = Due(4, seconds); n > 0; n--, Made++) Allocate();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void Allocate() => NativeMemory.Fill(NativeMemory.Alloc(Bytes), Bytes, 1);
}

static class Program
{
    static object? s_last;

    static int Main(string[] args)
    {
        string run = "list,handlers,timers,slow,refreshed,lru,stabilising,loaded";
        double seconds = 30, garbage = 50e6, grows = 5;
        int gcEvery = 400, slow = 400_000;
        bool startOnStdin = false;
        double hoard = 0;
        int pauses = 0;
        for (int i = 0; i < args.Length; i++)
        {
            double Number() => double.Parse(args[++i], CultureInfo.InvariantCulture);
            switch (args[i])
            {
                case "--run": run = args[++i]; break;
                case "--seconds": seconds = Number(); break;
                case "--garbage": garbage = Number(); break;
                case "--gc-every": gcEvery = (int)Number(); break;
                case "--slow": slow = (int)Number(); break;
                case "--hoard": hoard = Number(); break;
                case "--pauses": pauses = (int)Number(); break;
                case "--grows": grows = Number(); break;
                case "--start-on-stdin": startOnStdin = true; break;
                default: Console.Error.WriteLine($"leaks: unknown argument '{args[i]}'"); return 2;
            }
        }
        var sites = new List<Site>();
        foreach (string name in run.Split(','))
            sites.Add(name switch
            {
                "list" => new StaticList(),
                "handlers" => new Handlers(),
                "timers" => new Timers(),
                "slow" => new SlowLeak(slow),
                "refreshed" => new Refreshed(),
                "lru" => new Lru(),
                "stabilising" => new Stabilising(grows),
                "loaded" => new Loaded(),
                "native" => new Native(),
                _ => throw new ArgumentException(name),
            });
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        if (startOnStdin) Console.In.ReadLine();

        if (hoard > 0) return Hoard(hoard, pauses);

        long start = Stopwatch.GetTimestamp();
        double Now() => Stopwatch.GetElapsedTime(start).TotalSeconds;
        var waster = new Thread(() => Waste(garbage, seconds, Now));
        if (garbage > 0) waster.Start();
        double collect = 0;
        while (Now() < seconds)
        {
            foreach (Site site in sites) site.Step(Now());
            if (gcEvery > 0 && Now() >= collect)
            {
                GC.Collect();
                collect = Now() + gcEvery / 1000.0;
            }
            Thread.Sleep(5);
        }
        if (garbage > 0) waster.Join();
        var text = new StringBuilder("{");
        foreach (Site site in sites)
            text.Append(text.Length > 1 ? "," : "").Append($"\"{site.Name}\":{{\"made\":{site.Made},\"live\":{site.Live}}}");
        Console.WriteLine(text.Append('}'));
        Handlers.Raise();
        GC.KeepAlive(sites);
        return 0;
    }

    // Arrays of 2 KB: a fiftieth of them is sampled.
    static int Hoard(double bytes, int pauses)
    {
        var all = new object[(int)(bytes / 2048)];
        for (int i = 0; i < all.Length; i++) all[i] = new byte[2024];
        GC.Collect();
        GC.Collect();
        Console.WriteLine("{\"hoarded\":true}");
        Console.In.ReadLine();
        var microseconds = new double[pauses];
        for (int i = 0; i < pauses; i++)
        {
            for (int k = 0; k < 1000; k++) s_last = new byte[1000];
            GC.Collect(0);
            microseconds[i] = GC.GetGCMemoryInfo(GCKind.Ephemeral).PauseDurations[0].TotalMicroseconds;
        }
        Array.Sort(microseconds);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{{\"pause_us_p25\":{microseconds[pauses / 4]},\"pause_us_p50\":{microseconds[pauses / 2]}}}"));
        Console.In.ReadLine();
        GC.KeepAlive(all);
        return 0;
    }

    static void Waste(double bytesPerSecond, double seconds, Func<double> now)
    {
        double made = 0;
        while (now() < seconds)
        {
            for (int i = 0; i < 1000; i++) s_last = new byte[1000];
            made += 1024 * 1000;
            double ahead = made / bytesPerSecond - now();
            if (ahead > 0.002) Thread.Sleep((int)(1000 * ahead) + 1);
        }
    }
}
