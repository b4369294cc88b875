// SPDX-License-Identifier: Apache-2.0
// Types of exceptions with names that a compiler would not allow, made while the program runs, and deeply nested generics.
using System.Reflection;
using System.Reflection.Emit;

namespace Clrscope.Workloads.Throws;

sealed class Deep<T> : Exception
{
    public Deep(string? message) : base(message)
    {
    }
}

static class HostileTypes
{
    const int LongestName = 1000;  // the runtime allows 1023 bytes
    const int DeepestGeneric = 60;

    // What a name may contain; each gets a number of its own besides.
    static readonly string[] s_oddities =
    [
        "Plain", "With space", "With\nnew line", "With\r\n\ttab", "With \"double\" and 'single' quotes", "With;semicolon;and:colon",
        "With\\backslash", "With/slash/../..", "<script>alert(1)</script>", "&amp; %s %n {0} ${x}", "Ünïcödé", "例外の型", "🔥💥",
        "\u202eright to left\u202c", "e\u0301 combining", "With\u0001\u001b[31mcontrol\u007f", "With,comma", "With[brackets]", "With`1",
        "With+plus", "With*star&and", "..", "-rf", "=1+1", "\ufeffmark", "Namespace.Of.Its.Own.Type", "\ud800alone", new('l', LongestName),
        new('長', LongestName / 3),
    ];

    public static Type[] Make(int count)
    {
        ModuleBuilder module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("hostile"), AssemblyBuilderAccess.Run)
            .DefineDynamicModule("hostile");
        ConstructorInfo parent = typeof(Exception).GetConstructor([typeof(string)])!;
        var types = new List<Type>();
        Type deep = typeof(int);
        for (int i = 0; i < count; i++)
        {
            if (i % 20 == 19 && i / 20 < DeepestGeneric)
            {
                types.Add(deep = typeof(Deep<>).MakeGenericType(deep));
                continue;
            }
            string number = $" {i}", name = s_oddities[i % s_oddities.Length];
            if (name.Length + number.Length > LongestName) name = name[..(LongestName - number.Length)];
            TypeBuilder type = module.DefineType(name + number, TypeAttributes.Public | TypeAttributes.Sealed, typeof(Exception));
            ILGenerator code = type.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, [typeof(string)]).GetILGenerator();
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Ldarg_1);
            code.Emit(OpCodes.Call, parent);
            code.Emit(OpCodes.Ret);
            types.Add(type.CreateType());
        }
        return [.. types];
    }
}
