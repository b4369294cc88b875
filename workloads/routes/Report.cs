// SPDX-License-Identifier: Apache-2.0
// The ledger as one line of JSON.
using System.Text;
using System.Text.Json;

namespace Clrscope.Workloads.Routes;

static class Report
{
    // in_flight, pending   what is still to come into the ledger: requests, and work that goes on after their responses
    // total_allocated_bytes  of the whole program as the runtime counts, some KB for each thread aside
    // requests, errors     of all routes but those that are for the ledger itself (`control`)
    // bucket_growth        of durations: pairs [i, count], from growth^i nanoseconds to growth^(i+1)
    // sites                the methods that allocate: how many byte[] at each call, and the bytes of one
    // routes               by route, method and status. `route` is null where none matched (404, 405); `errors` have a status from
    //                      500 on or an exception; `cancelled` were left by their clients, which is none
    //   marks              what was allocated by these methods in these requests, to the byte
    //   exceptions         how many were thrown in the route's own code; awaits above it throw one again
    //   contentions        at /lock: waits for the lock
    //   wait_ns            by the stopwatch, around the call that waits
    //   blocked_ns         of that, what each stood still for certain
    // operations           calls within requests, by route; of `route` null: of the queue's consumer, and its calls
    // listeners            whether somebody listens to the activities
    // outside              by no request: in the background, and after a response
    // earlier              by requests and jobs that began before the reset, after it
    // jobs                 of --activities; `listened` had an activity, since somebody listened to their source
    // kept_objects, kept_bytes  what /keep keeps alive, since the start of the program
    // held_bytes, background_held_bytes  the same of /hold, and of --holds
    public static string Write(Ledger ledger)
    {
        // First: what comes in meanwhile must not seem to be there.
        long inFlight = Ledger.InFlight, pending = Ledger.Pending;
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
        {
            var rows = ledger.Rows;
            json.WriteStartObject();
            json.WriteNumber("pid", Environment.ProcessId);
            json.WriteString("runtime", Environment.Version.ToString());
            json.WriteNumber("seconds", Math.Round(ledger.Seconds, 6));
            json.WriteNumber("in_flight", inFlight);
            json.WriteNumber("pending", pending);
            json.WriteNumber("total_allocated_bytes", ledger.AllocatedBytes);
            json.WriteNumber("requests", rows.Where(r => !ControlEndpoints.IsRoute(r.Key.Route)).Sum(r => r.Value.Count));
            json.WriteNumber("errors", rows.Where(r => !ControlEndpoints.IsRoute(r.Key.Route)).Sum(r => r.Value.Errors));
            json.WriteNumber("bucket_growth", Row.Growth);
            WriteSites(json);
            json.WriteStartArray("routes");
            foreach (var (key, row) in rows)
            {
                json.WriteStartObject();
                json.WriteString("route", key.Route);
                json.WriteString("method", key.Method);
                json.WriteNumber("status", key.Status);
                json.WriteBoolean("control", ControlEndpoints.IsRoute(key.Route));
                row.Write(json);
                json.WriteEndObject();
            }
            json.WriteEndArray();
            json.WriteStartArray("operations");
            foreach (var (key, row) in ledger.Operations)
            {
                json.WriteStartObject();
                json.WriteString("route", key.Route);
                json.WriteString("operation", key.Operation);
                row.Write(json);
                json.WriteEndObject();
            }
            json.WriteEndArray();
            json.WriteBoolean("listeners", Operations.HaveListeners);
            json.WriteStartObject("outside");
            ledger.Outside.Write(json);
            json.WriteEndObject();
            json.WriteStartObject("earlier");
            ledger.Earlier.Write(json);
            json.WriteEndObject();
            json.WriteStartObject("jobs");
            json.WriteNumber("listened", ledger.Listened);
            ledger.Jobs.Write(json);
            json.WriteEndObject();
            json.WriteNumber("kept_objects", Kept.ByKeep.Objects);
            json.WriteNumber("kept_bytes", Kept.ByKeep.Bytes);
            json.WriteNumber("held_bytes", Kept.ByHold.Bytes);
            json.WriteNumber("background_held_bytes", Kept.InBackground.Bytes);
            json.WriteEndObject();
        }
        return Encoding.UTF8.GetString(buffer.ToArray());
    }

    static void WriteSites(Utf8JsonWriter json)
    {
        json.WriteStartArray("sites");
        foreach (Site site in Site.All)
        {
            json.WriteStartObject();
            json.WriteString("method", site.Method);
            json.WriteNumber("objects", site.Objects);
            json.WriteNumber("object_bytes", site.ObjectBytes);
            json.WriteEndObject();
        }
        json.WriteEndArray();
    }
}
