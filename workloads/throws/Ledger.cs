// SPDX-License-Identifier: Apache-2.0
// What was thrown, by kind, throwing method, type and marks. Whoever throws enters it right before.
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

// What the runtime says of an exception, with the values of the event's flags.
[Flags]
enum Marks
{
    None = 0,
    Inner = 1,   // it has an inner exception
    Nested = 2,  // thrown while another one is handled
}

readonly record struct Site(string Kind, string Method, Type Type, Marks Marks, string Thread);

sealed class Counts
{
    public long Throws;       // a new exception, or `throw e;`
    public long Rethrows;     // the same one again, by ExceptionDispatchInfo: each await that it passes is one
    public long ByStatement;  // the same one again, by `throw;`
    public long ByNative;     // the same one again, by the runtime, after it has gone through native code
    public long TooLarge;     // of the throws those of which the event would be too large
}

static class Ledger
{
    static readonly ConcurrentDictionary<Site, Counts> s_rows = new();

    // Kinds run one after the other, and none leaves threads behind.
    public static volatile string Kind = "";

    public static IEnumerable<KeyValuePair<Site, Counts>> Rows =>
        s_rows.OrderBy(r => r.Key.Kind, StringComparer.Ordinal).ThenBy(r => r.Key.Method, StringComparer.Ordinal)
            .ThenBy(r => r.Key.Type.ToString(), StringComparer.Ordinal).ThenBy(r => r.Key.Marks);

    // The file that calls is named like its class.
    public static void Throw(Type type, Marks marks = Marks.None, [CallerMemberName] string method = "",
                             [CallerFilePath] string file = "") =>
        Interlocked.Increment(ref Row(type, marks, method, file).Throws);

    public static void Rethrow(Type type, Marks marks = Marks.None, int count = 1, [CallerMemberName] string method = "",
                               [CallerFilePath] string file = "") =>
        Interlocked.Add(ref Row(type, marks, method, file).Rethrows, count);

    public static void ThrowStatement(Type type, [CallerMemberName] string method = "", [CallerFilePath] string file = "") =>
        Interlocked.Increment(ref Row(type, Marks.None, method, file).ByStatement);

    public static void ThroughNative(Type type, [CallerMemberName] string method = "", [CallerFilePath] string file = "") =>
        Interlocked.Increment(ref Row(type, Marks.None, method, file).ByNative);

    public static void TooLarge(Type type, [CallerMemberName] string method = "", [CallerFilePath] string file = "") =>
        Interlocked.Increment(ref Row(type, Marks.None, method, file).TooLarge);

    // For the storm, which counts by itself.
    public static void Add(Type type, long throws, string method, [CallerFilePath] string file = "")
    {
        if (throws > 0) Interlocked.Add(ref Row(type, Marks.None, method, file).Throws, throws);
    }

    static Counts Row(Type type, Marks marks, string method, string file)
    {
        string name = method.StartsWith("dynamicClass.", StringComparison.Ordinal)
            ? method
            : $"{typeof(Ledger).Namespace}.{Path.GetFileNameWithoutExtension(file)}.{method}";
        return s_rows.GetOrAdd(new Site(Kind, name, type, marks, Thread.CurrentThread.Name ?? ""), _ => new Counts());
    }
}
