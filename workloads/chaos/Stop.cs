// SPDX-License-Identifier: Apache-2.0
// What makes the program go on to its next part: a line of its input, the input's end, SIGTERM if it is to be handled.
using System.Collections.Concurrent;
using System.Runtime.InteropServices;

namespace Clrscope.Workloads.Chaos;

sealed class Stop : IDisposable
{
    readonly BlockingCollection<string> _asked = [];
    readonly PosixSignalRegistration? _term;

    public Stop(Options options)
    {
        if (options.Term == "report")
        {
            _term = PosixSignalRegistration.Create(PosixSignal.SIGTERM, context =>
            {
                Holder.Make();
                context.Cancel = true;
                _asked.Add("SIGTERM");
            });
        }
        new Thread(ReadInput) { Name = "input", IsBackground = true }.Start();
    }

    // What asked for it, after `seconds` at the latest.
    public string Await(double seconds = 600) =>
        _asked.TryTake(out string? by, TimeSpan.FromSeconds(seconds)) ? by : "time";

    public void Dispose() => _term?.Dispose();

    void ReadInput()
    {
        Holder.Make();
        using var input = new StreamReader(Console.OpenStandardInput());
        while (input.ReadLine() != null) _asked.Add("input");
        for (;;)
        {
            _asked.Add("end of input");
            Thread.Sleep(1000);
        }
    }
}
