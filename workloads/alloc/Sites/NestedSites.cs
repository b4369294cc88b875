// SPDX-License-Identifier: Apache-2.0
// Types whose owners the runtime's events leave out: nested in generic types, three deep, arrays of
// them, of one name in several owners, of one name with a type that nothing owns.
using System.Reflection;
using System.Runtime.CompilerServices;

// No namespace, and nothing else of that name.
sealed class Lonely { public sealed class Inmate { public int A; } }

// No namespace, and a nested type of that name elsewhere.
sealed class Borrowed { public int A; }

namespace Clrscope.Workloads
{
    sealed class Crate<T>
    {
        public sealed class Slot { public T? Value; }
        public struct Mark { public T? Value; public int Count; }
        public sealed class Shelf<TItem>
        {
            public sealed class Pin { public T? Value; public TItem? Item; }
            public sealed class Tag<TName> { public T? Value; public TItem? Item; public TName? Name; }
        }
    }

    static class Left
    {
        public sealed class Twin { public int A; }
        public sealed class Borrowed { public int A; }
    }

    static class Right { public sealed class Twin { public int A; } }

    static class NestedSites
    {
        static readonly int s_slotOfInt = Ledger.Register("NestedSites.SlotOfInt", typeof(Crate<int>.Slot));
        static readonly int s_slotOfText = Ledger.Register("NestedSites.SlotOfText", typeof(Crate<string>.Slot));
        static readonly int s_slots = Ledger.Register("NestedSites.Slots", typeof(Crate<int>.Slot[]));
        static readonly int s_jagged = Ledger.Register("NestedSites.Jagged", typeof(Crate<int>.Slot[][]));
        static readonly int s_grid = Ledger.Register("NestedSites.Grid", typeof(Crate<string>.Mark[,]));
        static readonly int s_mixed = Ledger.Register("NestedSites.Mixed", typeof(Crate<int>.Slot[][,]));
        static readonly int s_pin = Ledger.Register("NestedSites.Pin", typeof(Crate<int>.Shelf<string>.Pin));
        static readonly int s_tag = Ledger.Register("NestedSites.Tag", typeof(Crate<int>.Shelf<string>.Tag<long>));
        static readonly int s_tags = Ledger.Register("NestedSites.Tags", typeof(Crate<int>.Shelf<string>.Tag<Crate<byte>.Slot[]>[]));
        static readonly int s_argument = Ledger.Register("NestedSites.Argument", typeof(Cell<Crate<int>.Slot>));
        static readonly int s_both = Ledger.Register("NestedSites.Both", typeof(Crate<Crate<int>.Slot>.Slot));
        static readonly int s_left = Ledger.Register("NestedSites.LeftTwin", typeof(Left.Twin));
        static readonly int s_right = Ledger.Register("NestedSites.RightTwin", typeof(Right.Twin));
        static readonly int s_lent = Ledger.Register("NestedSites.Lent", typeof(Left.Borrowed));
        static readonly int s_borrowed = Ledger.Register("NestedSites.OfNobody", typeof(global::Borrowed));
        static readonly int s_lonely = Ledger.Register("NestedSites.Alone", typeof(global::Lonely));
        static readonly int s_inmate = Ledger.Register("NestedSites.Inmate", typeof(global::Lonely.Inmate));
        static readonly int s_table = Ledger.Register("NestedSites.Entries", typeof(Dictionary<Crate<int>.Mark, int>));
        static readonly int s_buckets = Ledger.Register("Dictionary<Crate<int>.Mark, int>.Initialize", typeof(int[]));
        static readonly int s_entries = Ledger.Register("Dictionary<Crate<int>.Mark, int>.Initialize",
            typeof(Dictionary<,>).GetNestedType("Entry", BindingFlags.NonPublic)!
                .MakeGenericType(typeof(Crate<int>.Mark), typeof(int)).MakeArrayType());

        public static (int Weight, Site Site)[] All =>
        [
            (1, SlotOfInt), (1, SlotOfText), (1, Slots), (1, Jagged), (1, Grid), (1, Mixed), (1, Pin),
            (1, Tag), (1, Tags), (1, Argument), (1, Both), (1, LeftTwin), (1, RightTwin), (1, Lent),
            (1, OfNobody), (1, Alone), (1, Inmate), (1, Entries),
        ];

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object SlotOfInt(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_slotOfInt, 4);
            return new Crate<int>.Slot();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object SlotOfText(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_slotOfText, 8);
            return new Crate<string>.Slot();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Slots(ref Dice dice, Ledger ledger)
        {
            ledger.AddArray(s_slots, 8, 3);
            return new Crate<int>.Slot[3];
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Jagged(ref Dice dice, Ledger ledger)
        {
            ledger.AddArray(s_jagged, 8, 3);
            return new Crate<int>.Slot[3][];
        }

        // Each dimension has its length and its lower bound, 4 bytes each.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Grid(ref Dice dice, Ledger ledger)
        {
            ledger.AddArray(s_grid, 16, 15, 16);
            return new Crate<string>.Mark[3, 5];
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Mixed(ref Dice dice, Ledger ledger)
        {
            ledger.AddArray(s_mixed, 8, 3);
            return new Crate<int>.Slot[3][,];
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Pin(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_pin, 16);
            return new Crate<int>.Shelf<string>.Pin();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Tag(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_tag, 24);
            return new Crate<int>.Shelf<string>.Tag<long>();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Tags(ref Dice dice, Ledger ledger)
        {
            ledger.AddArray(s_tags, 8, 2);
            return new Crate<int>.Shelf<string>.Tag<Crate<byte>.Slot[]>[2];
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Argument(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_argument, 8);
            return new Cell<Crate<int>.Slot>();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Both(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_both, 8);
            return new Crate<Crate<int>.Slot>.Slot();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object LeftTwin(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_left, 4);
            return new Left.Twin();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object RightTwin(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_right, 4);
            return new Right.Twin();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Lent(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_lent, 4);
            return new Left.Borrowed();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object OfNobody(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_borrowed, 4);
            return new global::Borrowed();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Alone(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_lonely, 0);
            return new global::Lonely();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Inmate(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_inmate, 4);
            return new global::Lonely.Inmate();
        }

        // Types of the framework over one of this program's. An entry has two numbers beside key and value.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Entries(ref Dice dice, Ledger ledger)
        {
            ledger.AddObject(s_table, 64);
            ledger.AddArray(s_buckets, 4, 3);
            ledger.AddArray(s_entries, 20, 3);
            return new Dictionary<Crate<int>.Mark, int>(3);
        }
    }
}
