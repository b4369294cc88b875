// SPDX-License-Identifier: Apache-2.0
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Lines;

// Objects that live on for as long as the program does, from two lines of one method.
static class Keeps
{
    const int Most = 20_000;
    static readonly object[] s_first = new object[Most], s_second = new object[Most];
    static int s_next;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Fill(int rounds)
    {
        for (; rounds > 0 && s_next < Most; rounds--, s_next++)
        {
            s_first[s_next] = new K01();  // =K01
            s_second[s_next] = new K02();  // =K02
        }
    }
}

class K01 : Large;
class K02 : Large;
