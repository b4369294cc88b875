// SPDX-License-Identifier: Apache-2.0
// Async methods that allocate after an await, and know who awaits them.
//   awaits [--seconds N] [--threads N] [--kinds A,B] [--compact MS] [--start-on-stdin] [--hold-on-stdin]
// --threads: so many chains of each kind at once. --compact: a compacting collection every so many ms.
// Prints {"ready":PID}, and when all is done {"seconds":…,"rounds":…,"kinds":[{"kind":…,"type":…,"leaf":…,"callers":[…]}]}:
// arrays of `type` are allocated by `leaf` alone, awaited by `callers`, nearest first; below those is Program.Repeat.
using System.Diagnostics;

namespace Clrscope.Workloads.Awaits;

static class Program
{
    record Kind(string Name, string Type, string[] Callers, Func<int, Task> Run);

    static Kind Of<TChain, TMark>() where TChain : IChain => new(typeof(TChain).Name, typeof(TMark).Name, TChain.Callers, TChain.Run);

    static readonly Kind[] s_kinds =
    [
        Of<PlainTask, M0>(), Of<TaskOfT, M1>(), Of<ValueTasks, M2>(), Of<Pooled, M3>(), Of<Unconfigured, M4>(), Of<InContext, M5>(),
        Of<Started, M6>(), Of<All, M7>(), Of<Lambda, M8>(), Of<Local, M9>(), Of<Generic, M10>(), Of<Iterated, M11>(),
        Of<IteratorInside, M12>(), Of<Deep, M13>(), Of<Several, M14>(), Of<Timed, M15>(), Of<AsTask, M16>(),
    ];
    static double s_seconds = 3;
    static int s_threads = 2, s_compactMs;
    static long s_rounds;

    static int Main(string[] arguments)
    {
        bool start = false, hold = false;
        Kind[] kinds = s_kinds;
        for (int i = 0; i < arguments.Length; ++i)
        {
            switch (arguments[i])
            {
                case "--seconds": s_seconds = double.Parse(arguments[++i]); break;
                case "--threads": s_threads = int.Parse(arguments[++i]); break;
                case "--kinds": string[] names = arguments[++i].Split(','); kinds = [.. s_kinds.Where(k => names.Contains(k.Name))]; break;
                case "--compact": s_compactMs = int.Parse(arguments[++i]); break;
                case "--start-on-stdin": start = true; break;
                case "--hold-on-stdin": hold = true; break;
                default:
                    Console.Error.WriteLine($"awaits: {arguments[i]}?");
                    return 2;
            }
        }
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        if (start) Console.ReadLine();
        long end = Stopwatch.GetTimestamp() + (long)(s_seconds * Stopwatch.Frequency);
        var all = new List<Task>();
        for (int i = 0; i < s_threads; ++i)
            foreach (Kind kind in kinds) all.Add(Repeat(kind, end));
        if (s_compactMs > 0) Compact(end);
        Task.WaitAll([.. all]);
        string told = string.Join(",", kinds.Select(k =>
            $"{{\"kind\":\"{k.Name}\",\"type\":\"{k.Type}\",\"leaf\":\"{k.Name}.Leaf\",\"callers\":[{string.Join(",", k.Callers.Select(c => $"\"{c}\""))}]}}"));
        Console.WriteLine(FormattableString.Invariant($"{{\"seconds\":{s_seconds},\"rounds\":{s_rounds},\"kinds\":[{told}]}}"));
        if (hold) Console.ReadLine();
        return 0;
    }

    static async Task Repeat(Kind kind, long end)
    {
        await Task.Yield();
        while (Stopwatch.GetTimestamp() < end)
        {
            await kind.Run(20);
            Interlocked.Add(ref s_rounds, 20);
        }
    }

    static void Compact(long end)
    {
        while (Stopwatch.GetTimestamp() < end)
        {
            Thread.Sleep(s_compactMs);
            GC.Collect(2, GCCollectionMode.Forced, true, true);
        }
    }
}
