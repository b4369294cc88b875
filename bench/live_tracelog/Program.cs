// SPDX-License-Identifier: Apache-2.0
// What a live profiler on TraceLog costs: one real-time session for each PID, allocations with their stacks counted by type and
// stack, methods named. Prints "ready", then at the end of standard input one line of JSON.
//   live_tracelog PID...
using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Etlx;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

long samples = 0, frames = 0, named = 0;
var sessions = new List<EventPipeSession>();
var threads = new List<Thread>();
foreach (string pid in args)
{
    var client = new DiagnosticsClient(int.Parse(pid));
    // As clrscope asks: AllocationSampled, GCs, code as it is loaded, and a rundown.
    var providers = new[]
    {
        new EventPipeProvider("Microsoft-Windows-DotNETRuntime", EventLevel.Informational, 0x80000000039),
    };
    EventPipeSession session = client.StartEventPipeSession(providers, requestRundown: false, circularBufferMB: 256);
    sessions.Add(session);
    TraceLogEventSource source = TraceLog.CreateFromEventPipeSession(
        session, TraceLog.EventPipeRundownConfiguration.Enable(client));
    var counts = new Dictionary<(string, CallStackIndex), long>();
    source.Clr.AllocationSampling += e =>
    {
        Interlocked.Increment(ref samples);
        counts[(e.TypeName, e.CallStackIndex())] = counts.GetValueOrDefault((e.TypeName, e.CallStackIndex())) + 1;
        for (TraceCallStack s = e.CallStack(); s != null; s = s.Caller)
        {
            Interlocked.Increment(ref frames);
            if (s.CodeAddress.FullMethodName.Length > 0) Interlocked.Increment(ref named);
        }
    };
    var thread = new Thread(() => source.Process());
    thread.Start();
    threads.Add(thread);
}
Console.WriteLine("ready");
while (Console.ReadLine() != null) { }
foreach (EventPipeSession s in sessions) s.Stop();
foreach (Thread t in threads) t.Join();
Console.WriteLine($"{{\"samples\":{samples},\"frames\":{frames},\"named\":{named}}}");
