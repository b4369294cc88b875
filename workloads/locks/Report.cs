// SPDX-License-Identifier: Apache-2.0
// The counts as one line of JSON.
using System.Text.Json;

namespace Clrscope.Workloads.Locks;

static class Report
{
    // waits, wait_ns  by the stopwatch, around the call that waits
    // blocked_ns      of that, what each stood still for certain; 0 where nobody knows
    // contentions     how many of the waits the runtime takes for contention, and writes an event of their begin
    // contention_stops, contention_ns  how many of these, and how long, it writes an event of the end of, too
    // blocks          how many of them a thread stands still in
    // failed          how many of them ended by their time limit
    // owner           who has what is waited for
    // holding         the method that who has what is waited for is in meanwhile; null: it sleeps
    // hang            a wait that has not ended: in none of the figures above
    public static void Write(Options options, List<Kind> kinds, Hang? hang, long handovers, double seconds, double cpuSeconds)
    {
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteBoolean("done", true);
            json.WriteNumber("pid", Environment.ProcessId);
            json.WriteString("runtime", Environment.Version.ToString());
            json.WriteString("mode", options.Mode);
            json.WriteNumber("rounds", options.Rounds);
            json.WriteNumber("hold_ms", options.HoldMs);
            json.WriteNumber("seconds", Math.Round(seconds, 3));
            json.WriteNumber("cpu_seconds", Math.Round(cpuSeconds, 3));
            if (options.Mode == "ping-pong") json.WriteNumber("handovers", handovers);
            json.WriteString("holding", options.Busy ? Kind.FillMethod : null);
            json.WriteNumber("waits", kinds.Sum(Waits));
            json.WriteNumber("contentions", kinds.Where(k => k.Contends).Sum(Waits));
            json.WriteNumber("contention_stops", kinds.Where(k => k.Stops).Sum(Waits));
            json.WriteNumber("contention_ns", kinds.Where(k => k.Stops).Sum(Nanoseconds));
            json.WriteStartArray("kinds");
            foreach (Kind kind in kinds) WriteKind(json, kind);
            json.WriteEndArray();
            if (hang is not null)
            {
                json.WriteStartObject("hang");
                json.WriteString("method", Hang.Method);
                json.WriteString("thread", hang.WaiterName);
                json.WriteNumber("os_thread_id", hang.WaiterOsThread);
                json.WriteString("owner", hang.HolderName);
                json.WriteNumber("owner_os_thread_id", hang.HolderOsThread);
                json.WriteNumber("waited_ns", hang.WaitedNanoseconds);
                json.WriteEndObject();
            }
            json.WriteEndObject();
        }
        Console.WriteLine(System.Text.Encoding.UTF8.GetString(buffer.ToArray()));
    }

    static void WriteKind(Utf8JsonWriter json, Kind kind)
    {
        json.WriteStartObject();
        json.WriteString("kind", kind.Name);
        json.WriteString("method", kind.Method);
        json.WriteNumber("waits", Waits(kind));
        json.WriteNumber("wait_ns", Nanoseconds(kind));
        json.WriteNumber("blocked_ns", kind.BlockedNanoseconds);
        json.WriteNumber("contentions", kind.Contends ? Waits(kind) : 0);
        json.WriteNumber("contention_stops", kind.Stops ? Waits(kind) : 0);
        json.WriteNumber("blocks", kind.Blocks ? Waits(kind) : 0);
        json.WriteNumber("failed", kind.Fails ? Waits(kind) : 0);
        json.WriteString("owner", kind.HolderName);
        json.WriteNumber("owner_os_thread_id", kind.HolderOsThread);
        json.WriteStartArray("waiters");
        foreach (Waiter waiter in kind.Waiters)
        {
            json.WriteStartObject();
            json.WriteString("waiter", waiter.Name);
            json.WriteString("thread", waiter.ThreadName);
            json.WriteNumber("os_thread_id", waiter.OsThread);
            json.WriteNumber("waits", waiter.Waits);
            json.WriteNumber("wait_ns", waiter.WaitNanoseconds);
            json.WriteEndObject();
        }
        json.WriteEndArray();
        json.WriteEndObject();
    }

    static long Waits(Kind kind) => kind.Waiters.Sum(w => w.Waits);
    static long Nanoseconds(Kind kind) => kind.Waiters.Sum(w => w.WaitNanoseconds);
}
