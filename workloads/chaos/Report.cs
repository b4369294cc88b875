// SPDX-License-Identifier: Apache-2.0
// What happened, as one line of JSON.
using System.Text;
using System.Text.Json;

namespace Clrscope.Workloads.Chaos;

static class Report
{
    // stuck               activities of which a thread did not end
    // *_ms                the longest pauses of the heartbeats; excess: of the managed one beyond the native one's
    public static string Make(string endedBy, double seconds, long allocated, IEnumerable<string> stuck)
    {
        HeartbeatPage beats = Heartbeats.Now;
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteBoolean("done", true);
            json.WriteNumber("pid", Environment.ProcessId);
            json.WriteString("runtime", Environment.Version.ToString());
            json.WriteBoolean("server_gc", System.Runtime.GCSettings.IsServerGC);
            json.WriteString("latency_mode", System.Runtime.GCSettings.LatencyMode.ToString());
            json.WriteString("ended_by", endedBy);
            json.WriteNumber("seconds", Math.Round(seconds, 3));
            json.WriteNumber("allocated_bytes", allocated);
            json.WriteNumber("same", Tally.Same);
            json.WriteNumber("different", Tally.Different);
            WriteTexts(json, "differences", Tally.Differences);
            WriteTexts(json, "stuck", stuck);
            json.WriteNumber("native_gap_ms", beats.NativeLongest / 1e6);
            json.WriteNumber("managed_gap_ms", beats.ManagedLongest / 1e6);
            json.WriteNumber("excess_ms", beats.ManagedExcess / 1e6);
            json.WriteStartObject("events");
            foreach ((string kind, long count) in Tally.Events) json.WriteNumber(kind, count);
            for (int i = 0; i <= 2; i++) json.WriteNumber($"collections of gen {i}", GC.CollectionCount(i));
            json.WriteEndObject();
            json.WriteEndObject();
        }
        return Encoding.UTF8.GetString(buffer.ToArray());
    }

    // For whoever asks when the program could not tell it any more.
    public static void Save(string folder, string report)
    {
        string part = Path.Combine(folder, "report.new");
        File.WriteAllText(part, report);
        File.Move(part, Path.Combine(folder, "report"), overwrite: true);
    }

    static void WriteTexts(Utf8JsonWriter json, string name, IEnumerable<string> texts)
    {
        json.WriteStartArray(name);
        foreach (string text in texts) json.WriteStringValue(text);
        json.WriteEndArray();
    }
}
