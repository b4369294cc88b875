// SPDX-License-Identifier: Apache-2.0
using System.Diagnostics;

namespace Clrscope.Workloads.Commands;

// Which signals are blocked: SigBlk of proc_pid_status(5).
static class SignalMask
{
    const string Field = "SigBlk:";

    public static string OfThisThread() =>
        File.ReadLines("/proc/thread-self/status").First(l => l.StartsWith(Field, StringComparison.Ordinal))[Field.Length..].Trim();

    public static string OfANewThread()
    {
        string mask = "";
        var thread = new Thread(() => mask = OfThisThread());
        thread.Start();
        thread.Join();
        return mask;
    }

    public static string OfAChild()
    {
        using Process child = Process.Start(new ProcessStartInfo("/bin/grep", [Field, "/proc/self/status"]) { RedirectStandardOutput = true })!;
        string line = child.StandardOutput.ReadToEnd();
        child.WaitForExit();
        return line[Field.Length..].Trim();
    }
}
