// SPDX-License-Identifier: Apache-2.0
// The computation of native/chaos/mix.h, the same by way of arrays, and a way to sum up results.
namespace Clrscope.Workloads.Chaos;

static class Mix
{
    public static ulong Of(ulong seed, int rounds)
    {
        ulong x = unchecked(seed * 0x9E3779B97F4A7C15u + 1);
        for (int i = 0; i < rounds; i++)
        {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        return x;
    }

    // The same, by way of `count` arrays of so many numbers.
    public static ulong OfArrays(ulong seed, int count, int length)
    {
        ulong sum = Of(seed, 10);
        for (int i = 0; i < count; i++)
        {
            var numbers = new ulong[length];
            numbers[i] = sum;
            sum = Add(sum, numbers[i] + (ulong)numbers.Length);
        }
        return sum;
    }

    public static ulong Add(ulong sum, ulong value) => unchecked((sum ^ value) * 1099511628211);
}
