// SPDX-License-Identifier: Apache-2.0
// Methods that compute on known lines: "=LoopA" is where the method's time goes.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Lines;

static class Burns
{
    static ulong s_number = 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Steps(int rounds)
    {
        ulong x = s_number;
        for (int i = 0; i < rounds; i++)
        {
            x = x / 3 + x / 7 + x / 11 + (x << 7) + x / 13 + x % 17 + x / 19 + (x | 1);  // =Steps.1
            x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
        }
        s_number = x;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Square(ulong x)
    {
        ulong y = x | 3;
        y = y % 1000003 * (y % 999983) + y % 1000033 * (y % 999979) + y % 1009;  // =Square.1
        return y;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Calls(int rounds)
    {
        ulong x = s_number;
        for (int i = 0; i < rounds; i++)
            x += Square(x);  // =Calls.1
        s_number = x;
    }
}
