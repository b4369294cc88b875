// SPDX-License-Identifier: Apache-2.0
// All requests of one route, method and status; or all jobs.
using System.Text.Json;

namespace Clrscope.Workloads.Routes;

sealed class Row(Ledger ledger)
{
    // Bucket i has the durations from Growth^i nanoseconds to Growth^(i+1); the last one all above, which are hours.
    public const double Growth = 1.01;
    const int Buckets = 3000;

    readonly long[] _durations = new long[Buckets];
    readonly Tally _done = new(ledger);
    long _count, _errors, _cancelled, _nanoseconds, _shortest = long.MaxValue, _longest;

    public long Count => Interlocked.Read(ref _count);
    public long Errors => Interlocked.Read(ref _errors);

    public void Add(Tally done, long nanoseconds, bool error = false, bool cancelled = false)
    {
        _done.Add(done);
        Interlocked.Increment(ref _durations[Math.Clamp((int)(Math.Log(Math.Max(nanoseconds, 1)) / Math.Log(Growth)), 0, Buckets - 1)]);
        Interlocked.Add(ref _nanoseconds, nanoseconds);
        for (long old; nanoseconds < (old = Interlocked.Read(ref _shortest));) Interlocked.CompareExchange(ref _shortest, nanoseconds, old);
        for (long old; nanoseconds > (old = Interlocked.Read(ref _longest));) Interlocked.CompareExchange(ref _longest, nanoseconds, old);
        if (error) Interlocked.Increment(ref _errors);
        if (cancelled) Interlocked.Increment(ref _cancelled);
        Interlocked.Increment(ref _count);
    }

    // As members of the object that is open.
    public void Write(Utf8JsonWriter json)
    {
        json.WriteNumber("count", _count);
        json.WriteNumber("errors", _errors);
        json.WriteNumber("cancelled", _cancelled);
        json.WriteNumber("duration_ns", _nanoseconds);
        json.WriteNumber("shortest_ns", _count == 0 ? 0 : _shortest);
        json.WriteNumber("longest_ns", _longest);
        json.WriteStartArray("durations");
        for (int i = 0; i < Buckets; i++)
        {
            if (_durations[i] == 0) continue;
            json.WriteStartArray();
            json.WriteNumberValue(i);
            json.WriteNumberValue(_durations[i]);
            json.WriteEndArray();
        }
        json.WriteEndArray();
        _done.Write(json);
    }
}
