// SPDX-License-Identifier: Apache-2.0
// Code that is made while the program runs and goes away again. Emitting, compiling and loading
// allocate too, outside the ledger; they happen once per many calls.
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Clrscope.Workloads;

static class DynamicSites
{
    const int CallsPerLoad = 50_000;  // of the plugin, before it is unloaded and loaded again
    static readonly int s_dynamic = Ledger.Register("dynamicClass.EmittedAllocate", typeof(byte[]));
    static readonly int s_expression = Ledger.Register("dynamicClass.lambda_method", typeof(int[]));
    static readonly int s_plugin = Ledger.Register("Plugin.Allocate", typeof(char[]));
    static readonly Func<int, object> s_emitted = Emit();
    static readonly Func<int, object> s_compiled = Compile();
    [ThreadStatic] static Func<int, object>? t_loaded;
    [ThreadStatic] static int t_calls;
    [ThreadStatic] static Func<object>? t_item;
    [ThreadStatic] static int t_items;

    public static object FromDynamicMethod(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(100, 500);
        ledger.Add(s_dynamic, Size.Array(1, length));
        return s_emitted(length);
    }

    public static object FromExpression(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(25, 125);
        ledger.Add(s_expression, Size.Array(4, length));
        return s_compiled(length);
    }

    public static object FromPlugin(ref Dice dice, Ledger ledger)
    {
        if (t_loaded == null || ++t_calls % CallsPerLoad == 0) t_loaded = Load();
        int length = dice.Between(50, 250);
        ledger.Add(s_plugin, Size.Array(2, length));
        return t_loaded(length);
    }

    // An object of the plugin's own type.
    public static object MakeItem()
    {
        if (t_item == null || ++t_items % CallsPerLoad == 0) t_item = LoadMaker();
        return t_item();
    }

    static Func<int, object> Emit()
    {
        var method = new DynamicMethod("EmittedAllocate", typeof(object), [typeof(int)]);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Newarr, typeof(byte));
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Func<int, object>>();
    }

    static Func<int, object> Compile()
    {
        ParameterExpression length = Expression.Parameter(typeof(int), "length");
        Expression array = Expression.NewArrayBounds(typeof(int), length);
        return Expression.Lambda<Func<int, object>>(array, length).Compile();
    }

    // This assembly once more, in a context that can be collected; the former one is let go.
    static Func<int, object> Load() => LoadPlugin(nameof(Plugin.Allocate)).CreateDelegate<Func<int, object>>();
    static Func<object> LoadMaker() => LoadPlugin(nameof(Plugin.MakeItem)).CreateDelegate<Func<object>>();

    static MethodInfo LoadPlugin(string name)
    {
        var context = new AssemblyLoadContext("plugin", isCollectible: true);
        Assembly copy = context.LoadFromAssemblyPath(typeof(Plugin).Assembly.Location);
        MethodInfo method = copy.GetType(typeof(Plugin).FullName!)!.GetMethod(name)!;
        context.Unload();  // takes effect once nothing refers to it any more
        return method;
    }
}

public sealed class PluginItem
{
    public long A, B, C, D, E, F;  // 64 bytes with header and type
}

public static class Plugin
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Allocate(int length) => new char[length];

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeItem() => new PluginItem();
}
