// SPDX-License-Identifier: Apache-2.0
// What the runtime's event of an exception says of its type, and how large that event is.
using System.Text.RegularExpressions;

namespace Clrscope.Workloads.Throws;

static class EventType
{
    // Of a larger payload no event is written, only counted.
    // Source: measured; .NET 8, 9 and 10
    public const int LargestPayload = 64 * 1024;

    // The name of a nested type is without its namespace and the types around it.
    public static string NameOf(Type type)
    {
        if (type.IsArray) return $"{NameOf(type.GetElementType()!)}[{new string(',', type.GetArrayRank() - 1)}]";
        string name = Plain(type.IsNested || type.Namespace is null ? type.Name : $"{type.Namespace}.{type.Name}");
        Type[] arguments = type.GetGenericArguments();
        return arguments.Length == 0 ? name : $"{name}[{string.Join(',', arguments.Select(NameOf))}]";
    }

    // Two texts, each with a zero at its end; the address, the result, flags and the number of the runtime.
    public static long PayloadOf(Type type, string? message) =>
        2L * (NameOf(type).Length + 1) + 2L * ((message ?? "NULL").Length + 1) + 8 + 4 + 2 + 2;

    // Reflection writes a backslash before what has a meaning in names of types.
    static string Plain(string name) => Regex.Replace(name, @"\\([\\,\[\]&*+])", "$1");
}
