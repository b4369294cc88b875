// SPDX-License-Identifier: Apache-2.0
// Assemblies that can be collected: emitted ones, and this one once more from its bytes. Their types are used,
// also as arguments of generic types, and dropped.
using System.Collections;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Clrscope.Workloads.Chaos;

sealed class Assemblies() : Activity(threads: 2, pauseMilliseconds: 20)
{
    const int Objects = 2000;
    static readonly byte[] s_image = File.ReadAllBytes(typeof(Plugin).Assembly.Location);
    static readonly List<WeakReference> s_gone = [];
    static int s_number;

    protected override ulong Compute(uint seed) => Mix.Add(Emitted(seed), LoadedAgain(seed));

    protected override void Between(Random random)
    {
        lock (s_gone) Tally.Count("assemblies unloaded", s_gone.RemoveAll(w => !w.IsAlive));
        base.Between(random);
    }

    static void Watch(object what)
    {
        lock (s_gone) s_gone.Add(new WeakReference(what));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Emitted(uint seed)
    {
        int number = Interlocked.Increment(ref s_number);
        AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName($"Emitted{number}"),
                                                                         AssemblyBuilderAccess.RunAndCollect);
        Type type = DefineItem(assembly.DefineDynamicModule("main"), $"Emitted{number}.Item");
        Watch(type.Assembly);
        Tally.Count("assemblies emitted");
        // Its own code makes its objects; their list is of a generic type over it.
        var make = type.GetMethod("Make")!.CreateDelegate<Func<int, object[]>>();
        var list = (IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(type))!;
        for (int i = 0; i < Objects / 100; i++)
            foreach (object item in make(100)) list.Add(item);
        var sum = type.GetMethod("Sum")!.CreateDelegate<Func<long, int, long>>();
        return Mix.Add((ulong)sum(seed, 1000), (ulong)list.Count);
    }

    // class Item { long a, b; static object[] Make(int n); static long Sum(long seed, int n); }
    static Type DefineItem(ModuleBuilder module, string name)
    {
        TypeBuilder type = module.DefineType(name, TypeAttributes.Public | TypeAttributes.Class);
        type.DefineField("a", typeof(long), FieldAttributes.Public);
        type.DefineField("b", typeof(long), FieldAttributes.Public);
        ConstructorBuilder constructor = type.DefineDefaultConstructor(MethodAttributes.Public);
        const MethodAttributes Static = MethodAttributes.Public | MethodAttributes.Static;

        ILGenerator il = type.DefineMethod("Make", Static, typeof(object[]), [typeof(int)]).GetILGenerator();
        LocalBuilder array = il.DeclareLocal(typeof(object[]));
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Newarr, typeof(object));
        il.Emit(OpCodes.Stloc, array);
        CountDown(il, argument: 0, () =>
        {
            il.Emit(OpCodes.Ldloc, array);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Newobj, constructor);
            il.Emit(OpCodes.Stelem_Ref);
        });
        il.Emit(OpCodes.Ldloc, array);
        il.Emit(OpCodes.Ret);

        il = type.DefineMethod("Sum", Static, typeof(long), [typeof(long), typeof(int)]).GetILGenerator();
        CountDown(il, argument: 1, () =>
        {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, 31);
            il.Emit(OpCodes.Conv_I8);
            il.Emit(OpCodes.Mul);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Conv_I8);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Starg_S, (byte)0);
        });
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ret);
        return type.CreateType();
    }

    // for (argument--; argument >= 0; argument--) body
    static void CountDown(ILGenerator il, byte argument, Action body)
    {
        Label again = il.DefineLabel(), end = il.DefineLabel();
        il.MarkLabel(again);
        il.Emit(OpCodes.Ldarg_S, argument);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Starg_S, argument);
        il.Emit(OpCodes.Ldarg_S, argument);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Blt, end);
        body();
        il.Emit(OpCodes.Br, again);
        il.MarkLabel(end);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong LoadedAgain(uint seed)
    {
        var context = new AssemblyLoadContext("plug-in", isCollectible: true);
        Watch(context);
        Assembly copy = context.LoadFromStream(new MemoryStream(s_image));
        Tally.Count("plug-ins loaded");
        var compute = copy.GetType(typeof(Plugin).FullName!)!.GetMethod(nameof(Plugin.Compute))!.CreateDelegate<Func<uint, ulong>>();
        ulong answer = compute(seed);
        context.Unload();  // takes effect once nothing refers to it any more
        return answer;
    }
}

// What the copies are used for.
public static class Plugin
{
    sealed class Item<T>
    {
        public T? Value;
        public long A, B;
    }

    struct Pair
    {
        public ulong X, Y;
    }

    static readonly List<object> s_kept = [];

    public static ulong Compute(uint seed)
    {
        ulong sum = Mix.Of(seed, 100);
        for (int i = 0; i < 1000; i++)
        {
            s_kept.Add(i % 2 == 0 ? new Item<Pair> { Value = new Pair { X = sum, Y = (ulong)i } } : new Item<string> { A = i });
            if (s_kept[^1] is Item<Pair> item) sum = Mix.Add(sum, item.Value.X + item.Value.Y);
        }
        var pairs = new Dictionary<string, Pair>();
        for (int i = 0; i < 100; i++) pairs[i.ToString()] = new Pair { X = sum, Y = (ulong)i };
        return Mix.Add(sum, pairs.Values.Aggregate(0ul, (a, p) => Mix.Add(a, p.Y)));
    }
}
