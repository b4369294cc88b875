// SPDX-License-Identifier: Apache-2.0
// Who allocated how much: one table of sites for the program, one set of counters per thread.
namespace Clrscope.Workloads;

enum Heap { SOH, LOH, POH }

// One method that allocates one type on one heap. `Method` is the C# name of the method whose code
// holds the allocation.
readonly record struct SiteEntry(string Method, Type Type, Heap Heap);

sealed class Ledger
{
    const int Most = 256;
    static readonly List<SiteEntry> s_entries = [];

    public readonly long[] Objects = new long[Most];
    public readonly long[] Bytes = new long[Most];       // as the GC rounds them
    public readonly long[] ExactBytes = new long[Most];  // as GCSampledObjectAllocation has them
    public long TotalBytes;

    public static IReadOnlyList<SiteEntry> Entries => s_entries;

    // Returns the index that Add takes.
    public static int Register(string method, Type type, Heap heap = Heap.SOH)
    {
        lock (s_entries)
        {
            string ns = method.StartsWith("dynamicClass.") ? "" : "Clrscope.Workloads.";
            s_entries.Add(new SiteEntry(ns + method, type, heap));
            return s_entries.Count - 1;
        }
    }

    // Allocates nothing.
    public void Add(int entry, long bytes)
    {
        Objects[entry]++;
        Bytes[entry] += bytes;
        TotalBytes += bytes;
    }

    // The fields of an object take up `fields` bytes.
    public void AddObject(int entry, long fields) => AddExact(entry, Size.Object(fields));
    public void AddArray(int entry, long elementSize, long length, long bounds = 0) =>
        AddExact(entry, 24 + bounds + elementSize * length);
    public void AddString(int entry, long length) => AddExact(entry, 22 + 2 * length);

    void AddExact(int entry, long bytes)
    {
        ExactBytes[entry] += bytes;
        Add(entry, Size.Align(bytes));
    }

    public int Identity(int x) => x;  // something for a delegate to call

    public void Clear()
    {
        Array.Clear(ExactBytes);
        Array.Clear(Objects);
        Array.Clear(Bytes);
        TotalBytes = 0;
    }
}

// Sizes of objects as a 64-bit runtime lays them out, in bytes: a header word, the method table and
// the fields, at least 24, rounded up to 8.
static class Size
{
    public static long Align(long bytes) => (bytes + 7) & ~7L;
    public static long Object(long fields) => Math.Max(24, Align(16 + fields));
    public static long Array(long elementSize, long length) => Align(24 + elementSize * length);
    public static long String(long length) => Align(22 + 2 * length);
    // Two references and two code pointers, then the invocation list and its count.
    public static readonly long Delegate = Object(48);
}
