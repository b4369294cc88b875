// SPDX-License-Identifier: Apache-2.0
// The counts as one line of JSON.
using System.Text.Json;

namespace Clrscope.Workloads.Throws;

static class Report
{
    // throws                      exceptions thrown for the first time
    // rethrows                    thrown again by ExceptionDispatchInfo, by each await among others
    // rethrows_by_throw_statement thrown again by `throw;`: .NET 9 and later write no event
    // rethrows_by_native_code     gone through native code: .NET 8 writes no event
    // events_too_large            their events would be larger than events may be: none are written
    // events                      how many events this runtime writes of all that
    // first_chance                what AppDomain.FirstChanceException told, counted independently: all of `events` and of
    //                             `events_too_large`, and `throw;` by each runtime
    // marks                       flags of the event: 1 has an inner exception, 2 thrown while another one was handled
    public static void Write(Options options, double seconds, double cpuSeconds)
    {
        List<KeyValuePair<Site, Counts>> rows = [.. Ledger.Rows];
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteBoolean("done", true);
            json.WriteNumber("pid", Environment.ProcessId);
            json.WriteString("runtime", Environment.Version.ToString());
            json.WriteString("mode", options.Mode);
            json.WriteNumber("rounds", options.Rounds);
            json.WriteNumber("threads", options.Threads);
            json.WriteNumber("levels", options.Levels);
            json.WriteNumber("seconds", Math.Round(seconds, 3));
            json.WriteNumber("cpu_seconds", Math.Round(cpuSeconds, 3));
            json.WriteNumber("messages", Message.Count);
            WriteCounts(json, rows);
            if (options.FirstChance) json.WriteNumber("first_chance", FirstChance.Types.Sum(FirstChance.Of));
            json.WriteStartArray("types");
            foreach (var type in rows.GroupBy(r => r.Key.Type))
            {
                json.WriteStartObject();
                WriteType(json, type.Key);
                WriteCounts(json, type);
                if (options.FirstChance) json.WriteNumber("first_chance", FirstChance.Of(type.Key));
                json.WriteEndObject();
            }
            // What was not expected at all.
            foreach (Type type in FirstChance.Types.Where(t => rows.All(r => r.Key.Type != t)))
            {
                json.WriteStartObject();
                WriteType(json, type);
                WriteCounts(json, []);
                json.WriteNumber("first_chance", FirstChance.Of(type));
                json.WriteEndObject();
            }
            json.WriteEndArray();
            WriteGroups(json, "kinds", "kind", rows.GroupBy(r => r.Key.Kind));
            WriteGroups(json, "threads_by_name", "thread",
                        rows.Where(r => r.Key.Kind is "plain" or "storm").GroupBy(r => r.Key.Thread));
            if (options.Mode != "hostile") WriteSites(json, rows);
            json.WriteEndObject();
        }
        Console.WriteLine(System.Text.Encoding.UTF8.GetString(buffer.ToArray()));
    }

    static void WriteGroups(Utf8JsonWriter json, string name, string member,
                            IEnumerable<IGrouping<string, KeyValuePair<Site, Counts>>> groups)
    {
        json.WriteStartArray(name);
        foreach (var group in groups)
        {
            json.WriteStartObject();
            json.WriteString(member, group.Key);
            WriteCounts(json, group);
            json.WriteEndObject();
        }
        json.WriteEndArray();
    }

    static void WriteSites(Utf8JsonWriter json, List<KeyValuePair<Site, Counts>> rows)
    {
        json.WriteStartArray("sites");
        foreach (var site in rows.GroupBy(r => (r.Key.Kind, r.Key.Method, r.Key.Type, r.Key.Marks)))
        {
            json.WriteStartObject();
            json.WriteString("kind", site.Key.Kind);
            json.WriteString("site", site.Key.Method);
            WriteType(json, site.Key.Type);
            json.WriteNumber("marks", (int)site.Key.Marks);
            WriteCounts(json, site);
            json.WriteEndObject();
        }
        json.WriteEndArray();
    }

    static void WriteType(Utf8JsonWriter json, Type type)
    {
        json.WriteString("clr_type", type.ToString());
        json.WriteString("event_type", EventType.NameOf(type));
    }

    static void WriteCounts(Utf8JsonWriter json, IEnumerable<KeyValuePair<Site, Counts>> rows)
    {
        long throws = 0, rethrows = 0, byStatement = 0, byNative = 0, tooLarge = 0;
        foreach ((_, Counts counts) in rows)
        {
            throws += counts.Throws;
            rethrows += counts.Rethrows;
            byStatement += counts.ByStatement;
            byNative += counts.ByNative;
            tooLarge += counts.TooLarge;
        }
        json.WriteNumber("throws", throws);
        json.WriteNumber("rethrows", rethrows);
        json.WriteNumber("rethrows_by_throw_statement", byStatement);
        json.WriteNumber("rethrows_by_native_code", byNative);
        json.WriteNumber("events_too_large", tooLarge);
        json.WriteNumber("events", throws + rethrows + (Environment.Version.Major < 9 ? byStatement : byNative) - tooLarge);
    }
}
