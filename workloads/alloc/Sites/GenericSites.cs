// SPDX-License-Identifier: Apache-2.0
// Generic types and methods, over references (shared code) and values (code of their own).
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

sealed class Repo<T>
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public T[] Load(int length) => new T[length];
}

static class Outer<TKey>
{
    public sealed class Inner<TValue>
    {
        public TKey? Key;
        public TValue? Value;
    }
}

static class GenericSites
{
    static readonly Repo<string> s_texts = new();
    static readonly Repo<int> s_numbers = new();
    static readonly int s_loadText = Ledger.Register("Repo<string>.Load", typeof(string[]));
    static readonly int s_loadNumber = Ledger.Register("Repo<int>.Load", typeof(int[]));
    static readonly int s_pairs =
        Ledger.Register("GenericSites.Make<KeyValuePair<int, string>>", typeof(KeyValuePair<int, string>[]));
    static readonly int s_inner = Ledger.Register("GenericSites.NestedInner", typeof(Outer<string>.Inner<int>));
    static readonly int s_jagged = Ledger.Register("GenericSites.Jagged", typeof(List<int[]>[]));

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object LoadText(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(1, 64);
        ledger.Add(s_loadText, Size.Array(8, length));
        return s_texts.Load(length);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object LoadNumber(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(1, 128);
        ledger.Add(s_loadNumber, Size.Array(4, length));
        return s_numbers.Load(length);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Pairs(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(1, 32);
        ledger.Add(s_pairs, Size.Array(16, length));
        return Make<KeyValuePair<int, string>>(length);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Make<T>(int length) => new T[length];

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object NestedInner(ref Dice dice, Ledger ledger)
    {
        ledger.Add(s_inner, Size.Object(8 + 4));
        return new Outer<string>.Inner<int> { Key = "k", Value = 1 };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Jagged(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(1, 64);
        ledger.Add(s_jagged, Size.Array(8, length));
        return new List<int[]>[length];
    }
}
