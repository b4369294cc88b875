// SPDX-License-Identifier: Apache-2.0
// Thrown by the runtime for the method that is named, and by methods of the libraries that it calls.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

static class ByRuntime
{
    static int s_sum;

    public static void Round(Options _)
    {
        Catch<IndexOutOfRangeException>(IndexOutOfRange);
        Catch<InvalidCastException>(InvalidCast);
        Catch<OverflowException>(Overflow);
        Catch<ArrayTypeMismatchException>(StoreIntoArray);
        Catch<OverflowException>(NegativeLength);
    }

    public static void RoundOfLibrary(Options _)
    {
        Catch<FormatException>(Parse);
        Catch<KeyNotFoundException>(Find);
        Catch<ArgumentNullException>(NullArgument);
    }

    static void Catch<T>(Action thrower) where T : Exception
    {
        try
        {
            thrower();
        }
        catch (T)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void IndexOutOfRange()
    {
        Ledger.Throw(typeof(IndexOutOfRangeException));
        s_sum += new int[3][] { [1], [2], [3] }[Math.Abs(-3)][0];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InvalidCast()
    {
        object text = "text";
        Ledger.Throw(typeof(InvalidCastException));
        s_sum += ((Version)text).Major;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Overflow()
    {
        int most = int.MaxValue;
        Ledger.Throw(typeof(OverflowException));
        s_sum = checked(most + Math.Abs(-1));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StoreIntoArray()
    {
        object[] texts = new string[1];
        Ledger.Throw(typeof(ArrayTypeMismatchException));
        texts[0] = new Version();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NegativeLength()
    {
        int length = -Math.Abs(-1);
        Ledger.Throw(typeof(OverflowException));
        s_sum += new byte[length].Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Parse()
    {
        Ledger.Throw(typeof(FormatException));
        s_sum += int.Parse("text");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Find()
    {
        Ledger.Throw(typeof(KeyNotFoundException));
        s_sum += new Dictionary<string, int>()["text"];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NullArgument()
    {
        Ledger.Throw(typeof(ArgumentNullException));
        ArgumentNullException.ThrowIfNull(s_sum > int.MinValue ? null : "");
    }
}
