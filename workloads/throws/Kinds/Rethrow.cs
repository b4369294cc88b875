// SPDX-License-Identifier: Apache-2.0
// `throw;`, by two frames in a row, and `throw e;`, which the runtime takes for a new throw.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class RethrownError : Error;
sealed class SameError : Error;

static class Rethrow
{
    public static void Round(Options _)
    {
        try
        {
            Twice();
        }
        catch (RethrownError)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Twice()
    {
        try
        {
            Once();
        }
        catch (RethrownError)
        {
            Ledger.ThrowStatement(typeof(RethrownError));
            throw;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Once()
    {
        try
        {
            Throw();
        }
        catch (RethrownError)
        {
            Ledger.ThrowStatement(typeof(RethrownError));
            throw;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw()
    {
        Ledger.Throw(typeof(RethrownError));
        throw new RethrownError();
    }

    public static void RoundOfSame(Options _)
    {
        try
        {
            Same();
        }
        catch (SameError)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Same()
    {
        try
        {
            ThrowSame();
        }
        catch (SameError e)
        {
            Ledger.Throw(typeof(SameError), Marks.Nested);
#pragma warning disable CA2200  // it is what is wanted
            throw e;
#pragma warning restore CA2200
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowSame()
    {
        Ledger.Throw(typeof(SameError));
        throw new SameError();
    }
}
