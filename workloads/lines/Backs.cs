// SPDX-License-Identifier: Apache-2.0
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Lines;

// What native code calls back, of a library that whoever starts this puts beside it (tests/e2e/native_calls.py).
static unsafe class Backs
{
    delegate int Callback(int n);

    static object? s_sink;
    static readonly Callback s_callback = ByDelegate;

    [DllImport("back", EntryPoint = "call_back")]
    static extern int CallBack(delegate* unmanaged<int, int> back, int n);

    [DllImport("back", EntryPoint = "call_back")]
    static extern int CallBackDelegate(Callback back, int n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Calls(int rounds)
    {
        CallBack(&ByPointer, rounds);
        CallBackDelegate(s_callback, rounds);
    }

    [UnmanagedCallersOnly]
    static int ByPointer(int n)
    {
        s_sink = new B01();  // =B01
        return n + 1;
    }

    static int ByDelegate(int n)
    {
        s_sink = new B02();  // =B02
        return n + 2;
    }
}

class B01 : Large;
class B02 : Large;
