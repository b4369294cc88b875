// SPDX-License-Identifier: Apache-2.0
// The counts as one line of JSON.
using System.Text.Json;

namespace Clrscope.Workloads;

static class Report
{
    // objects, bytes          what the ledger knows of
    // total_allocated_bytes   what the runtime says of the whole process meanwhile
    // threads_allocated_bytes what the runtime says of the allocating threads
    public static void Write(Options options, Worker[] workers, double seconds, long totalAllocated,
                             int[] collections)
    {
        var rows = Ledger.Entries
            .Select((entry, i) => (Entry: entry, Objects: workers.Sum(w => w.Ledger.Objects[i]),
                                   Bytes: workers.Sum(w => w.Ledger.Bytes[i]),
                                   Exact: workers.Sum(w => w.Ledger.ExactBytes[i])))
            .Where(row => row.Objects > 0)
            .OrderByDescending(row => row.Bytes)
            .ToList();
        using var buffer = new MemoryStream();
        var relaxed = new JsonWriterOptions
        {
            Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        };
        using (var json = new Utf8JsonWriter(buffer, relaxed))
        {
            json.WriteStartObject();
            json.WriteBoolean("done", true);
            json.WriteNumber("pid", Environment.ProcessId);
            json.WriteString("runtime", Environment.Version.ToString());
            json.WriteString("mode", options.Mode);
            json.WriteNumber("threads", options.Threads);
            json.WriteNumber("seed", options.Seed);
            json.WriteNumber("seconds", Math.Round(seconds, 3));
            json.WriteNumber("objects", rows.Sum(r => r.Objects));
            json.WriteNumber("bytes", rows.Sum(r => r.Bytes));
            json.WriteNumber("total_allocated_bytes", totalAllocated);
            json.WriteNumber("threads_allocated_bytes", workers.Sum(w => w.ThreadBytes));
            if (options.Mode == "check")
            {
                json.WriteString("checksum", CheckSites.Checksum.ToString("x16"));
                json.WriteNumber("same", CheckSites.Same);
                json.WriteNumber("different", CheckSites.Different);
            }
            json.WriteStartArray("collections");
            foreach (int count in collections) json.WriteNumberValue(count);
            json.WriteEndArray();
            json.WriteStartArray("types");
            foreach (var type in rows.GroupBy(r => r.Entry.Type)
                         .OrderByDescending(g => g.Sum(r => r.Bytes)))
            {
                json.WriteStartObject();
                WriteType(json, type.Key);
                json.WriteNumber("objects", type.Sum(r => r.Objects));
                json.WriteNumber("bytes", type.Sum(r => r.Bytes));
                json.WriteNumber("exact_bytes", type.Sum(r => r.Exact));
                json.WriteEndObject();
            }
            json.WriteEndArray();
            json.WriteStartArray("sites");
            foreach (var row in rows)
            {
                json.WriteStartObject();
                json.WriteString("site", row.Entry.Method);
                WriteType(json, row.Entry.Type);
                json.WriteString("heap", row.Entry.Heap.ToString());
                json.WriteNumber("objects", row.Objects);
                json.WriteNumber("bytes", row.Bytes);
                json.WriteNumber("exact_bytes", row.Exact);
                json.WriteEndObject();
            }
            json.WriteEndArray();
            json.WriteStartArray("by_thread");
            foreach (Worker worker in workers) WriteThread(json, worker);
            json.WriteEndArray();
            json.WriteEndObject();
        }
        Console.WriteLine(System.Text.Encoding.UTF8.GetString(buffer.ToArray()));
    }

    // What one thread allocated of each type.
    static void WriteThread(Utf8JsonWriter json, Worker worker)
    {
        json.WriteStartObject();
        json.WriteNumber("thread", worker.ThreadId);
        json.WriteString("name", worker.Name);
        json.WriteNumber("allocated_bytes", worker.ThreadBytes);
        json.WriteStartArray("types");
        var types = Ledger.Entries
            .Select((entry, i) => (entry.Type, Objects: worker.Ledger.Objects[i],
                                   Bytes: worker.Ledger.Bytes[i]))
            .GroupBy(row => row.Type);
        foreach (var type in types)
        {
            json.WriteStartObject();
            WriteType(json, type.Key);
            json.WriteNumber("objects", type.Sum(r => r.Objects));
            json.WriteNumber("bytes", type.Sum(r => r.Bytes));
            json.WriteEndObject();
        }
        json.WriteEndArray();
        json.WriteEndObject();
    }

    static void WriteType(Utf8JsonWriter json, Type type)
    {
        json.WriteString("type", CSharpName.Of(type));
        json.WriteString("clr_type", type.ToString());
    }
}
