// SPDX-License-Identifier: Apache-2.0
// Names of types as C# people write them, with their namespaces.
namespace Clrscope.Workloads;

static class CSharpName
{
    static readonly Dictionary<Type, string> s_aliases = new()
    {
        [typeof(bool)] = "bool", [typeof(byte)] = "byte", [typeof(sbyte)] = "sbyte",
        [typeof(char)] = "char", [typeof(short)] = "short", [typeof(ushort)] = "ushort",
        [typeof(int)] = "int", [typeof(uint)] = "uint", [typeof(long)] = "long",
        [typeof(ulong)] = "ulong", [typeof(float)] = "float", [typeof(double)] = "double",
        [typeof(decimal)] = "decimal", [typeof(string)] = "string", [typeof(object)] = "object",
    };

    public static string Of(Type type)
    {
        if (s_aliases.TryGetValue(type, out string? alias)) return alias;
        if (type.IsArray)
        {
            // int[][,] is an array of int[,]: the ranks are written from the outside in.
            string ranks = "";
            for (; type.IsArray; type = type.GetElementType()!)
                ranks += "[" + new string(',', type.GetArrayRank() - 1) + "]";
            return Of(type) + ranks;
        }
        string prefix = type.Namespace is null ? "" : type.Namespace + ".";
        Type[] arguments = type.GetGenericArguments();
        int used = 0;
        var parts = new List<string>();
        var chain = new Stack<Type>();
        for (Type? t = type; t is not null; t = t.DeclaringType) chain.Push(t);
        foreach (Type t in chain)
        {
            string name = t.Name;
            int tick = name.IndexOf('`');
            if (tick >= 0)
            {
                int count = int.Parse(name.AsSpan(tick + 1));
                name = name[..tick] + "<" + string.Join(", ", arguments.Skip(used).Take(count).Select(Of)) + ">";
                used += count;
            }
            parts.Add(name);
        }
        return prefix + string.Join('.', parts);
    }
}
