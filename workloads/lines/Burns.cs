// SPDX-License-Identifier: Apache-2.0
// Methods that compute on known lines: "=Steps.1" is where the method's time goes. It divides by numbers that the compiler does
// not know, which takes any processor some ten times as long as the rest. A processor has many instructions under way, and at
// which of them an interrupt finds it differs between models.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Lines;

static class Burns
{
    static ulong s_number = 1;
    static ulong s_three = 3, s_seven = 7, s_million = 1000003;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Steps(int rounds)
    {
        ulong x = s_number;
        for (int i = 0; i < rounds; i++)
        {
            x = x / s_three + x / s_seven + x % s_million + (x << 7) + x / (s_three + 8) + x % (s_seven + 10) + (x | 1);  // =Steps.1
            x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
        }
        s_number = x;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Square(ulong x)
    {
        ulong y = x | 3;
        y = y % s_million * (y % (s_million - 20)) + y % (s_million + 30) * (y % (s_million - 24)) + y / s_seven;  // =Square.1
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
