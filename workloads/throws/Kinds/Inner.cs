// SPDX-License-Identifier: Apache-2.0
// With an inner exception: one that was caught, and one that was never thrown.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class CauseError : Error;
sealed class WrapError(Exception inner) : Error(inner);

static class Inner
{
    public static void Round(Options _)
    {
        try
        {
            Wrap();
        }
        catch (WrapError)
        {
        }
        try
        {
            ThrowWithInner();
        }
        catch (WrapError)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Wrap()
    {
        try
        {
            ThrowCause();
        }
        catch (CauseError e)
        {
            Ledger.Throw(typeof(WrapError), Marks.Inner | Marks.Nested);
            throw new WrapError(e);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowCause()
    {
        Ledger.Throw(typeof(CauseError));
        throw new CauseError();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowWithInner()
    {
        Ledger.Throw(typeof(WrapError), Marks.Inner);
        throw new WrapError(new CauseError());
    }
}
