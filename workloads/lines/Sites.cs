// SPDX-License-Identifier: Apache-2.0
// Places that allocate. Comments say where: "=A01" is the line of the allocation, "<A01" the first line of its statement, where that is another one, and
// ">A01" the call of a small method, whose line counts when the compiler has put the method there. Tests read them.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Lines;

static class Sites
{
    public static object? Sink;
    static int s_number;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Plain(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            Sink = new A01();  // =A01
            s_number += i;
            Sink = (i & 1) == 0  // <A02 <A03
                ? new A02()    // =A02
                : new A03();   // =A03
            if (i % 3 != 0)
                Sink = new A04();  // =A04
            else
                Sink = new A05();  // =A05
        }
    }

    // The statement's first line is what a PDB knows of each of its parts.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Wide(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            Sink = Keep(          // <A06 <A07
                new A06(),        // =A06
                new A07());       // =A07
            var a = new A40       // =A40 <A08
            {
                Number = i,
                Inner = new A08(),  // =A08
            };
            Sink = a;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Keep(object a, object b) => s_number > int.MaxValue - 2 ? a : b;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static object Small() => new A09();  // =A09

    static object Smaller(int i) => i > 0 ? new A10() : new A11();  // =A10 =A11

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Inlined(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            Sink = Small();        // >A09
            s_number ^= i;
            Sink = Smaller(i & 1);  // >A10 >A11
            Sink = Property;       // >A12
        }
    }

    static object Property => new A12();  // =A12

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Locals(int rounds)
    {
        object Local(int i)
        {
            s_number += i;
            return new A13();  // =A13
        }
        Func<int, object> lambda = i =>
        {
            s_number -= i;
            return new A14();  // =A14
        };
        int captured = rounds;
        Func<object> closure = () =>
        {
            captured++;
            return new A15();  // =A15
        };
        for (int i = 0; i < rounds; i++)
        {
            Sink = Local(i);    // >A13
            Sink = lambda(i);   // >A14
            Sink = closure();   // >A15
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static IEnumerable<object> Iterate(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            yield return new A16();  // =A16
            s_number += i;
            yield return new A17();  // =A17
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Iterated(int rounds)
    {
        foreach (object o in Iterate(rounds))  // >A16 >A17
            Sink = o;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static async Task<object> AsyncParts(int i)
    {
        Sink = new A18();  // =A18
        await Task.Yield();
        Sink = new A19();  // =A19
        if (i % 2 == 0) await Task.Yield();
        return new A20();  // =A20
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Async(int rounds)
    {
        for (int i = 0; i < rounds; i++) Sink = AsyncParts(i).GetAwaiter().GetResult();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Generic<T>(T value)
    {
        s_number++;
        var holder = new Holder<T> { Value = value };  // =Holder<int> =Holder<string>
        return holder;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Generics(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            Sink = Generic(i);
            Sink = Generic("text");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Blocks(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            try
            {
                Sink = new A21();  // =A21
            }
            finally
            {
                s_number++;
                Sink = new A22();  // =A22
            }
            switch (i & 3)
            {
                case 0:
                    Sink = new A23();  // =A23
                    break;
                case 1:
                    Sink = new A24();  // =A24
                    break;
                default:
                    Sink = new A25();  // =A25
                    break;
            }
            Sink = (i % 3) switch  // <A26 <A27 <A28
            {
                0 => new A26(),           // =A26
                1 => new A27(),           // =A27
                _ => (object)new A28(),   // =A28
            };
            lock (typeof(Sites))
            {
                s_number--;
                Sink = new A29();  // =A29
            }
        }
    }

    sealed class Fields
    {
        readonly object _first = new A30();   // =A30
        readonly object _second = new A31();  // =A31
        readonly object _third;

        public Fields(int i)
        {
            s_number += i;
            _third = new A32();  // =A32
        }
        public object Any(int i) => (i % 3) switch { 0 => _first, 1 => _second, _ => _third };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Initialised(int rounds)
    {
        for (int i = 0; i < rounds; i++) Sink = new Fields(i).Any(i);  // >A30 >A31 >A32
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Boxed(int rounds)
    {
        Wide wide = default;
        for (int i = 0; i < rounds; i++)
        {
            wide.Number = i;
            Sink = wide;             // =Wide
            Sink = new A33[128];     // =A33[]
            var list = new List<A34>(128);
            s_number += list.Capacity;
            Sink = new string('x', 500);  // =string
        }
    }

    // One call that never ends before its time: replaced on the stack while it runs.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Long(int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            s_number += i;
            Sink = new A35();  // =A35
            if (s_number == int.MinValue)
                Sink = null;
            Sink = new A36();  // =A36
        }
    }

    interface IMaker { object Make(); }
    sealed class Maker : IMaker
    {
        public object Make()
        {
            s_number++;
            return new A37();  // =A37
        }
    }

    static readonly IMaker s_maker = new Maker();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Virtual(int rounds)
    {
        for (int i = 0; i < rounds; i++)
            Sink = s_maker.Make();  // >A37
    }

    // What a catch block allocates: the runtime's stack shows the throw.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Caught(int rounds)
    {
        for (int i = 0; i < rounds / 50; i++)
        {
            try
            {
                s_number++;
                throw new Told();    // =Told ?A38
            }
            catch (Told)
            {
                s_number--;
                for (int j = 0; j < 20; j++)
                    Sink = new A38();  // =A38
            }
        }
    }
}

sealed class Told : Exception;
