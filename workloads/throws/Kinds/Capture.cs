// SPDX-License-Identifier: Apache-2.0
// ExceptionDispatchInfo: thrown again within the catch block, and after it.
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;

namespace Clrscope.Workloads.Throws;

sealed class CapturedError : Error;

static class Capture
{
    public static void Round(Options _)
    {
        try
        {
            WithinCatch();
        }
        catch (CapturedError)
        {
        }
        try
        {
            AfterCatch();
        }
        catch (CapturedError)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WithinCatch()
    {
        try
        {
            Throw();
        }
        catch (CapturedError e)
        {
            Ledger.Rethrow(typeof(CapturedError), Marks.Nested);
            ExceptionDispatchInfo.Capture(e).Throw();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AfterCatch()
    {
        ExceptionDispatchInfo? captured = null;
        try
        {
            Throw();
        }
        catch (CapturedError e)
        {
            captured = ExceptionDispatchInfo.Capture(e);
        }
        Ledger.Rethrow(typeof(CapturedError));
        captured?.Throw();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw()
    {
        Ledger.Throw(typeof(CapturedError));
        throw new CapturedError();
    }
}
