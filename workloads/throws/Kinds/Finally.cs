// SPDX-License-Identifier: Apache-2.0
// Through finally blocks, and out of one, where it takes the place of the first exception.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class PassingError : Error;
sealed class FinallyError : Error;

static class Finally
{
    static int s_passed;

    public static void Round(Options _)
    {
        try
        {
            Passed();
        }
        catch (PassingError)
        {
        }
        try
        {
            Replaced();
        }
        catch (FinallyError)
        {
        }
        catch (PassingError)  // never, but without it there would be no handler, and no finally block would run
        {
        }
    }

    static void Passed()
    {
        try
        {
            try
            {
                ThrowPassing();
            }
            finally
            {
                s_passed++;
            }
        }
        finally
        {
            s_passed++;
        }
    }

    static void Replaced()
    {
        try
        {
            ThrowPassing();
        }
        finally
        {
            ThrowInFinally();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowPassing()
    {
        Ledger.Throw(typeof(PassingError));
        throw new PassingError();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowInFinally()
    {
        Ledger.Throw(typeof(FinallyError), Marks.Nested);
        throw new FinallyError();
    }
}
