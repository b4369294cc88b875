// SPDX-License-Identifier: Apache-2.0
// What was done since the start or the last reset. A request belongs to the ledger that was there when it began.
using System.Collections.Concurrent;
using System.Diagnostics;

namespace Clrscope.Workloads.Routes;

// The route's template as it stands in the source; null where none matched.
readonly record struct RowKey(string? Route, string Method, int Status);

sealed class Ledger
{
    static volatile Ledger s_current = new();
    static long s_inFlight, s_pending;

    readonly long _start = Stopwatch.GetTimestamp();
    readonly long _allocatedBefore = GC.GetTotalAllocatedBytes();
    readonly ConcurrentDictionary<RowKey, Row> _rows = new();
    readonly ConcurrentDictionary<OperationKey, Row> _operations = new();

    public readonly Tally Outside;  // of requests and jobs
    public readonly Tally Earlier;  // by requests and jobs that began before the reset
    public readonly Row Jobs;
    long _listened;  // jobs of which somebody wants the activity

    Ledger()
    {
        Outside = new Tally(this);
        Earlier = new Tally(this);
        Jobs = new Row(this);
    }

    public static Ledger Current => s_current;
    public static void Reset() => s_current = new Ledger();

    // Of all ledgers: requests that are not yet in one, those that only ask for the ledger aside; and what
    // goes on after a response. A client has its answer before the ledger has the request.
    public static long InFlight => Interlocked.Read(ref s_inFlight);
    public static long Pending => Interlocked.Read(ref s_pending);

    public double Seconds => Stopwatch.GetElapsedTime(_start).TotalSeconds;
    // By the whole program, as the runtime counts: all but what lies in buffers of threads.
    public long AllocatedBytes => GC.GetTotalAllocatedBytes() - _allocatedBefore;
    public long Listened => Interlocked.Read(ref _listened);
    // Copied by the dictionary itself: OrderBy() asks for its size first, and fails when it has grown meanwhile.
    public IReadOnlyList<KeyValuePair<RowKey, Row>> Rows =>
        [.. _rows.ToArray().OrderBy(r => r.Key.Route, StringComparer.Ordinal).ThenBy(r => r.Key.Method, StringComparer.Ordinal).ThenBy(r => r.Key.Status)];

    public IReadOnlyList<KeyValuePair<OperationKey, Row>> Operations =>
        [.. _operations.ToArray().OrderBy(o => o.Key.Route, StringComparer.Ordinal).ThenBy(o => o.Key.Operation, StringComparer.Ordinal)];

    public static void BeginRequest() => Interlocked.Increment(ref s_inFlight);
    public static void EndRequest() => Interlocked.Decrement(ref s_inFlight);
    public static void BeginPending() => Interlocked.Increment(ref s_pending);
    public static void EndPending() => Interlocked.Decrement(ref s_pending);

    public Row RowOf(RowKey key) => _rows.GetOrAdd(key, static (_, ledger) => new Row(ledger), this);
    public Row OperationOf(OperationKey key) => _operations.GetOrAdd(key, static (_, ledger) => new Row(ledger), this);
    public void AddListened() => Interlocked.Increment(ref _listened);
}
