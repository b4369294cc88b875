// SPDX-License-Identifier: Apache-2.0
// What native/chaos/*.c exports.
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Chaos;

static unsafe partial class Native
{
    [DllImport("chaos")] public static extern void chaos_open_door(delegate* unmanaged<ulong, ulong> callback);
    [DllImport("chaos")] public static extern HeartbeatPage* chaos_start_beat([MarshalAs(UnmanagedType.LPUTF8Str)] string path);
    [DllImport("chaos")] public static extern int chaos_fork(uint seed, int milliseconds, int byTerm, out ulong answer);
    [DllImport("chaos")] public static extern void chaos_leave_term_to_system();
    [DllImport("chaos")] public static extern ulong chaos_threads(int count, delegate* unmanaged<ulong, ulong> callback, ulong seed, int lingerMs);
    [DllImport("chaos")] public static extern ulong chaos_on_fiber(delegate* unmanaged<ulong, ulong> callback, ulong value);
    [DllImport("chaos")] public static extern ulong chaos_near_end(delegate* unmanaged<ulong, ulong> callback, ulong value, int lingerMs);
    [DllImport("chaos")] public static extern int chaos_catch_signals();
    [DllImport("chaos")] public static extern void chaos_join_signals(int join);
    [DllImport("chaos")] public static extern void chaos_refuse_signals();
    [DllImport("chaos")] public static extern int chaos_signal_one(int which, uint pick);
    [DllImport("chaos")] public static extern int chaos_signal_own_stack();
    [DllImport("chaos")] public static extern void chaos_raise(int signal);
}
