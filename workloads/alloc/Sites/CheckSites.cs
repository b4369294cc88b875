// SPDX-License-Identifier: Apache-2.0
// A computation whose result is known: the same one over and over, on objects that move and die. What
// differs from the first result is counted.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

sealed class Entry
{
    public string Name = "";
    public byte[] Data = [];
    public Entry? Next;
}

static class CheckSites
{
    const int Entries = 200;
    static readonly int s_entry = Ledger.Register("CheckSites.Make", typeof(Entry));
    static readonly int s_name = Ledger.Register("CheckSites.Make", typeof(string));
    static readonly int s_data = Ledger.Register("CheckSites.Make", typeof(byte[]));
    static ulong s_first;
    static long s_same, s_different;

    public static ulong Checksum => s_first;
    public static long Same => s_same;
    public static long Different => s_different;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Compute(ref Dice dice, Ledger ledger)
    {
        var fixedDice = new Dice(7);
        Entry? list = null;
        for (int i = 0; i < Entries; i++) list = Make(list, ref fixedDice, ledger);
        ulong sum = 14695981039346656037;
        for (Entry? e = list; e != null; e = e.Next)
        {
            foreach (char c in e.Name) sum = (sum ^ c) * 1099511628211;
            foreach (byte b in e.Data) sum = (sum ^ b) * 1099511628211;
        }
        ulong first = Interlocked.CompareExchange(ref s_first, sum, 0);
        if (first == 0 || first == sum) Interlocked.Increment(ref s_same);
        else Interlocked.Increment(ref s_different);
        return list!.Name;  // the rest is garbage
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Entry Make(Entry? next, ref Dice dice, Ledger ledger)
    {
        int letters = dice.Between(1, 40), bytes = dice.Between(0, 600);
        ledger.Add(s_entry, Size.Object(24));
        ledger.Add(s_name, Size.String(letters));
        ledger.Add(s_data, Size.Array(1, bytes));
        var e = new Entry { Name = new string((char)('a' + letters % 26), letters), Data = new byte[bytes], Next = next };
        for (int i = 0; i < bytes; i++) e.Data[i] = (byte)(i * letters);
        return e;
    }
}
