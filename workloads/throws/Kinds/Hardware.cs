// SPDX-License-Identifier: Apache-2.0
// What the runtime makes of signals of the processor.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

static class Hardware
{
    sealed class Box
    {
        public int Value = 1;
    }

    static int s_sum;

    public static void Round(Options _)
    {
        try
        {
            s_sum += Dereference(null!);
            throw new InvalidOperationException("a null reference passed unnoticed");
        }
        catch (NullReferenceException)
        {
        }
        try
        {
            s_sum += Divide(1, 0);
            throw new InvalidOperationException("a division by zero passed unnoticed");
        }
        catch (DivideByZeroException)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Dereference(Box box)
    {
        Ledger.Throw(typeof(NullReferenceException));
        return box.Value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Divide(int a, int b)
    {
        Ledger.Throw(typeof(DivideByZeroException));
        return a / b;
    }
}
