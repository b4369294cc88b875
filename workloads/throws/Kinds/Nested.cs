// SPDX-License-Identifier: Apache-2.0
// Thrown while another exception is handled, and one more while that one is.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class OuterError : Error;
sealed class NestedError : Error;
sealed class DeeperError : Error;

static class Nested
{
    public static void Round(Options _)
    {
        try
        {
            ThrowOuter();
        }
        catch (OuterError)
        {
            try
            {
                ThrowNested();
            }
            catch (NestedError)
            {
                try
                {
                    ThrowDeeper();
                }
                catch (DeeperError)
                {
                }
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowOuter()
    {
        Ledger.Throw(typeof(OuterError));
        throw new OuterError();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowNested()
    {
        Ledger.Throw(typeof(NestedError), Marks.Nested);
        throw new NestedError();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowDeeper()
    {
        Ledger.Throw(typeof(DeeperError), Marks.Nested);
        throw new DeeperError();
    }
}
