// SPDX-License-Identifier: Apache-2.0
// Threads that wait in known ways for known times, and say how long each did what.
//   waits [--seconds N] [--short-ms N] [--collections N] [--start-on-stdin] [--hold-on-stdin]
// --collections: a thread runs on while another collects garbage N times, and stands still for `gc`. `pauses` is what the runtime says of them: the
//   thread still runs in each until it has come to its stop, and waits for a processor at its end.
// Prints {"ready":PID}, and when all is done {"seconds":…,"states":{…}} with seconds by state. `running` is CPU time, every other one how long a
//   thread stood still: neither ran nor waited for a processor. `file` is reading a pipe by its name, `pool` what all threads of the pool together
//   wait for a task, so that nothing else gets one. `sleep_elapsed` and so on: all the time of these threads, whatever they did.
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Waits;

static class Program
{
    static double s_seconds = 3;
    static int s_shortMs, s_collections;
    static volatile bool s_collected;
    static object? s_live;
    static readonly Dictionary<string, double> s_states = [];

    static int Main(string[] arguments)
    {
        bool start = false, hold = false;
        for (int i = 0; i < arguments.Length; ++i)
        {
            switch (arguments[i])
            {
                case "--seconds": s_seconds = double.Parse(arguments[++i]); break;
                case "--short-ms": s_shortMs = int.Parse(arguments[++i]); break;
                case "--collections": s_collections = int.Parse(arguments[++i]); break;
                case "--start-on-stdin": start = true; break;
                case "--hold-on-stdin": hold = true; break;
                default:
                    Console.Error.WriteLine($"waits: {arguments[i]}?");
                    return 2;
            }
        }
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        if (start) Console.ReadLine();
        if (s_collections > 0) RunCollections();
        else Run();
        string states = string.Join(",", s_states.OrderBy(s => s.Key).Select(s => FormattableString.Invariant($"\"{s.Key}\":{s.Value:F6}")));
        Console.WriteLine($"{{\"seconds\":{s_seconds},\"states\":{{{states}}}}}");
        if (hold) Console.ReadLine();
        return 0;
    }

    static void Run()
    {
        object gate = new();
        using ManualResetEventSlim held = new(), over = new();
        using ManualResetEvent signal = new(false);
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new TcpClient();
        client.Connect((IPEndPoint)listener.LocalEndpoint);
        using TcpClient server = listener.AcceptTcpClient();
        string pipe = Path.Combine(Path.GetTempPath(), $"waits-{Environment.ProcessId}");
        if (mkfifo(pipe, 0x180) != 0) throw new IOException(pipe);
        using var file = new FileStream(pipe, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite, 0);
        File.Delete(pipe);
        var answer = new TaskCompletionSource<int>();
        int workers = Environment.ProcessorCount;
        ThreadPool.SetMinThreads(workers, 1);
        ThreadPool.SetMaxThreads(workers, 1);
        Thread[] threads =
        [
            new(() => Timed("sleep", SleepFor)),
            new(() => Timed("lock", () => WaitForLock(gate, held))),
            new(() => Timed("wait", () => WaitForSignal(signal))),
            new(() => Timed("io", () => ReadSocket(client.GetStream()))),
            new(() => WaitForFile(file)),
            new(Burn),
        ];
        Thread holder = new(() =>
        {
            lock (gate)
            {
                held.Set();
                over.Wait();
            }
        }) { Name = "holder" };
        holder.Start();
        held.Wait();
        foreach (Thread thread in threads) thread.Start();
        using var blocked = new CountdownEvent(workers);
        for (int i = 0; i < workers; ++i)
            ThreadPool.UnsafeQueueUserWorkItem(_ =>
            {
                BlockPool(answer.Task);
                blocked.Signal();
            }, null);
        Thread.Sleep(TimeSpan.FromSeconds(s_seconds));
        over.Set();
        signal.Set();
        server.GetStream().WriteByte(1);
        file.WriteByte(1);
        answer.SetResult(1);
        blocked.Wait();
        foreach (Thread thread in threads) thread.Join();
        holder.Join();
    }

    static void RunCollections()
    {
        object[] live = new object[2_000_000];
        for (int i = 0; i < live.Length; ++i) live[i] = new object[] { i };
        s_live = live;
        GC.Collect();
        Thread spinner = new(() => Timed("gc", SpinThroughCollections));
        spinner.Start();
        Thread.Sleep(300);  // long enough that who looks for new threads has found it
        TimeSpan before = GC.GetTotalPauseDuration();
        for (int i = 0; i < s_collections; ++i)
        {
            Thread.Sleep(20);
            GC.Collect();
        }
        double pauses = (GC.GetTotalPauseDuration() - before).TotalSeconds;
        s_collected = true;
        spinner.Join();
        s_states["pauses"] = pauses;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SpinThroughCollections()
    {
        ulong x = 1;
        while (!s_collected)
            for (int i = 0; i < 1000; ++i) x = x * 6364136223846793005 + 1442695040888963407;
        if (x == 42) Console.WriteLine(s_live);
    }

    static void Timed(string state, Action wait)
    {
        long entered = Stopwatch.GetTimestamp();
        Clocks begin = Clocks.Read();
        wait();
        Clocks end = Clocks.Read();
        double still = end.Now - begin.Now - (end.Running - begin.Running) - (end.Runnable - begin.Runnable);
        double elapsed = Stopwatch.GetElapsedTime(entered).TotalSeconds;
        lock (s_states)
        {
            s_states[state] = s_states.GetValueOrDefault(state) + still;
            s_states[state + "_elapsed"] = s_states.GetValueOrDefault(state + "_elapsed") + elapsed;
        }
    }

    // In many short ones if they are asked for.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SleepFor()
    {
        if (s_shortMs == 0)
        {
            Thread.Sleep(TimeSpan.FromSeconds(s_seconds));
            return;
        }
        long begin = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begin).TotalSeconds < s_seconds) Thread.Sleep(s_shortMs);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WaitForLock(object gate, ManualResetEventSlim held)
    {
        lock (gate) held.Reset();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WaitForSignal(ManualResetEvent signal) => signal.WaitOne();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReadSocket(NetworkStream stream) => stream.ReadByte();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WaitForFile(FileStream file) => Timed("file", () => file.ReadByte());

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void BlockPool(Task<int> task) => Timed("pool", () => task.Wait());

    [DllImport("libc")]
    static extern unsafe int clock_gettime(int clock, long* time);

    // Of the calling thread.
    static unsafe double CpuSeconds()
    {
        const int ThreadCpu = 3;
        long* time = stackalloc long[2];
        return clock_gettime(ThreadCpu, time) == 0 ? time[0] + time[1] / 1e9 : throw new InvalidOperationException();
    }

    // Of the calling thread, in seconds and all of one moment.
    readonly record struct Clocks(double Now, double Running, double Runnable)
    {
        const double OneMoment = 0.001;

        // Others may have the processor between two of them: then they are read again.
        public static Clocks Read()
        {
            while (true)
            {
                long begin = Stopwatch.GetTimestamp();
                var clocks = new Clocks(begin / (double)Stopwatch.Frequency, CpuSeconds(), ReadySeconds());
                if (Stopwatch.GetElapsedTime(begin).TotalSeconds < OneMoment) return clocks;
            }
        }

        // proc_pid_schedstat(5): nanoseconds that it ran, that it waited for a processor, and how often it ran.
        static double ReadySeconds() => double.Parse(File.ReadAllText("/proc/thread-self/schedstat").Split(' ')[1]) / 1e9;
    }

    [DllImport("libc")]
    static extern int mkfifo([MarshalAs(UnmanagedType.LPUTF8Str)] string path, uint mode);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Burn()
    {
        long begin = Stopwatch.GetTimestamp();
        double used = CpuSeconds();
        ulong x = 1;
        while (Stopwatch.GetElapsedTime(begin).TotalSeconds < s_seconds)
            for (int i = 0; i < 1000; ++i) x = x * 6364136223846793005 + 1442695040888963407;
        if (x == 42) Console.WriteLine();
        used = CpuSeconds() - used;
        lock (s_states) s_states["running"] = used;
    }
}
