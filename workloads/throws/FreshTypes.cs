// SPDX-License-Identifier: Apache-2.0
// Type arguments that nobody has asked for yet, so that a generic class or method made with them has not been used either.
namespace Clrscope.Workloads.Throws;

static class FreshTypes
{
    static readonly Type[] s_digits =
    [
        typeof(object), typeof(string), typeof(Version), typeof(Uri), typeof(Random),
        typeof(Thread), typeof(Task), typeof(Timer), typeof(Type), typeof(Exception),
    ];
    static int s_count;

    // Three of them, or none after a thousand calls.
    public static Type[] Next()
    {
        int n = s_count++;
        return n < 1000 ? [s_digits[n / 100], s_digits[n / 10 % 10], s_digits[n % 10]] : [];
    }
}
