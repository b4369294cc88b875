// SPDX-License-Identifier: Apache-2.0
// Allocates all the time, and for no request: by a thread, a timer and a loop of tasks.
using System.Diagnostics;

namespace Clrscope.Workloads.Routes;

static class Background
{
    const int PeriodMs = 10;
    static Timer? s_timer;

    public static void Start(double bytesPerSecond, double heldPerSecond)
    {
        if (heldPerSecond > 0)
            new Thread(() => RunHolder(new Pace(heldPerSecond, Markers.OfBackgroundHeld))) { Name = "holder", IsBackground = true }.Start();
        if (bytesPerSecond <= 0) return;
        double each = bytesPerSecond / 3;
        new Thread(() => RunThread(new Pace(each, Markers.OfBackgroundThread))) { Name = "background", IsBackground = true }.Start();
        var timed = new Pace(each, Markers.OfBackgroundTimer);
        s_timer = new Timer(_ => OnTimer(timed), null, PeriodMs, Timeout.Infinite);
        _ = Task.Run(() => Loop(new Pace(each, Markers.OfBackgroundLoop)));
    }

    static void RunThread(Pace pace)
    {
        for (;; Thread.Sleep(PeriodMs))
            for (long calls = pace.Due(); calls > 0; calls--) Markers.BackgroundThread(Ledger.Current.Outside);
    }

    static void RunHolder(Pace pace)
    {
        for (;; Thread.Sleep(PeriodMs))
            for (long calls = pace.Due(); calls > 0; calls--) Markers.BackgroundHeld(Ledger.Current.Outside);
    }

    static void OnTimer(Pace pace)
    {
        for (long calls = pace.Due(); calls > 0; calls--) Markers.BackgroundTimer(Ledger.Current.Outside);
        s_timer!.Change(PeriodMs, Timeout.Infinite);  // one call at a time
    }

    static async Task Loop(Pace pace)
    {
        for (;; await Task.Delay(PeriodMs))
            for (long calls = pace.Due(); calls > 0; calls--) Markers.BackgroundLoop(Ledger.Current.Outside);
    }

    // How many calls of a site keep up with a rate.
    sealed class Pace(double bytesPerSecond, Site site)
    {
        const double MostSeconds = 0.1;  // what a machine that stood still owes at most

        long _last = Stopwatch.GetTimestamp();
        double _bytes;

        public long Due()
        {
            long now = Stopwatch.GetTimestamp();
            _bytes = Math.Min(_bytes + Stopwatch.GetElapsedTime(_last, now).TotalSeconds * bytesPerSecond, MostSeconds * bytesPerSecond + site.CallBytes);
            _last = now;
            long calls = (long)(_bytes / site.CallBytes);
            _bytes -= calls * site.CallBytes;
            return calls;
        }
    }
}
