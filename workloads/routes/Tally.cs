// SPDX-License-Identifier: Apache-2.0
// What a request or a job has done, or what was done outside of them. Any thread may add to it.
using System.Text.Json;

namespace Clrscope.Workloads.Routes;

sealed class Tally(Ledger ledger)
{
    readonly long[] _objects = new long[Site.Most];
    public Ledger Ledger => ledger;
    long _exceptions, _collections, _contentions, _waitNanoseconds, _blockedNanoseconds;

    // One call of the site's method.
    public void Add(Site site)
    {
        Interlocked.Add(ref _objects[site.Index], site.Objects);
        Ledger now = Ledger.Current;
        if (now != ledger && this != ledger.Earlier) now.Earlier.Add(site);
    }

    public void AddException() => Interlocked.Increment(ref _exceptions);
    public void AddCollection() => Interlocked.Increment(ref _collections);

    public void AddWait(long waited, long blocked)
    {
        Interlocked.Increment(ref _contentions);
        Interlocked.Add(ref _waitNanoseconds, waited);
        Interlocked.Add(ref _blockedNanoseconds, blocked);
    }

    public void Add(Tally other)
    {
        for (int i = 0; i < Site.Most; i++)
            if (other._objects[i] != 0) Interlocked.Add(ref _objects[i], other._objects[i]);
        Interlocked.Add(ref _exceptions, other._exceptions);
        Interlocked.Add(ref _collections, other._collections);
        Interlocked.Add(ref _contentions, other._contentions);
        Interlocked.Add(ref _waitNanoseconds, other._waitNanoseconds);
        Interlocked.Add(ref _blockedNanoseconds, other._blockedNanoseconds);
    }

    // As members of the object that is open.
    public void Write(Utf8JsonWriter json)
    {
        json.WriteNumber("exceptions", _exceptions);
        json.WriteNumber("collections", _collections);
        json.WriteNumber("contentions", _contentions);
        json.WriteNumber("wait_ns", _waitNanoseconds);
        json.WriteNumber("blocked_ns", _blockedNanoseconds);
        json.WriteNumber("objects", _objects.Sum());
        json.WriteNumber("bytes", Site.All.Sum(s => _objects[s.Index] * s.ObjectBytes));
        json.WriteStartArray("marks");
        foreach (Site site in Site.All)
        {
            long objects = _objects[site.Index];
            if (objects == 0) continue;
            json.WriteStartObject();
            json.WriteString("method", site.Method);
            json.WriteNumber("objects", objects);
            json.WriteNumber("bytes", objects * site.ObjectBytes);
            json.WriteEndObject();
        }
        json.WriteEndArray();
    }
}
