// SPDX-License-Identifier: Apache-2.0
// A .NET process that does next to nothing, for tests of discovery and of the diagnostics protocol.
//   idle [--child] [--seconds N] [--getenv NAME]...
// Prints `pid N`, one `env NAME=VALUE` per --getenv, and `ready`; with --child it first starts a copy
// of itself, whose lines it repeats with `child ` in front. Allocates about 1 MB a second. Ends with
// code 0 when standard input ends or after N seconds (default 60).
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

internal static class Program
{
    private static byte[]? s_last;

    private static int Main(string[] args)
    {
        int seconds = 60;
        bool child = false;
        var passOn = new List<string>();
        var names = new List<string>();
        for (int i = 0; i < args.Length; i++)
        {
            switch (args[i])
            {
                case "--child":
                    child = true;
                    break;
                case "--seconds" when i + 1 < args.Length:
                    seconds = int.Parse(args[++i]);
                    passOn.AddRange(new[] { "--seconds", args[i] });
                    break;
                case "--getenv" when i + 1 < args.Length:
                    names.Add(args[++i]);
                    passOn.AddRange(new[] { "--getenv", args[i] });
                    break;
                default:
                    Console.Error.WriteLine($"idle: unknown argument '{args[i]}'");
                    return 2;
            }
        }

        Console.WriteLine($"pid {Environment.ProcessId}");
        foreach (string name in names)
            Console.WriteLine($"env {name}={Environment.GetEnvironmentVariable(name)}");
        Process? started = child ? StartChild(passOn) : null;
        Console.WriteLine("ready");
        Console.Out.Flush();

        using var ticker = new Timer(_ => s_last = new byte[100_000], null, 0, 100);
        var stdinEnded = new ManualResetEventSlim();
        new Thread(() =>
        {
            while (Console.In.Read() >= 0) { }
            stdinEnded.Set();
        }) { IsBackground = true }.Start();
        stdinEnded.Wait(TimeSpan.FromSeconds(seconds));

        if (started != null)
        {
            started.StandardInput.Close();
            if (!started.WaitForExit(5000)) started.Kill();
        }
        GC.KeepAlive(s_last);
        return 0;
    }

    private static Process StartChild(List<string> args)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            UseShellExecute = false,
        };
        // Its own file where `dotnet` runs it; a single-file program is what runs already.
        string[] host = Environment.GetCommandLineArgs();
        if (host[0].EndsWith(".dll", StringComparison.Ordinal)) start.ArgumentList.Add(host[0]);
        foreach (string arg in args) start.ArgumentList.Add(arg);
        Process process = Process.Start(start)!;
        process.OutputDataReceived += (_, e) =>
        {
            if (e.Data != null) Console.WriteLine($"child {e.Data}");
        };
        process.BeginOutputReadLine();
        return process;
    }
}
