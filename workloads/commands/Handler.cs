// SPDX-License-Identifier: Apache-2.0
using System.Diagnostics.Tracing;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Commands;

sealed class Handler(Ledger ledger, string[] acts) : EventListener
{
    const int Collections = 20;
    static volatile string? s_null;
    readonly ManualResetEventSlim _letGo = new();

    public void LetGo() => _letGo.Set();

    protected override void OnEventSourceCreated(EventSource source)
    {
        if (source.Name == "Microsoft-Windows-DotNETRuntime") source.EventCommandExecuted += (_, _) => Handle();
    }

    void Handle()
    {
        if (acts.Contains("hold")) _letGo.Wait();
        lock (ledger)
        {
            ledger.Commands++;
            if (acts.Contains("null")) ledger.NullReferences += HandlesNullReference() ? 1 : 0;
            if (acts.Contains("spin")) ledger.CollectionsWhileSpinning.Add(Collector.SpinUntil(Collections));
            if (!acts.Contains("masks")) return;
            ledger.SignalsOfHandler.Add(SignalMask.OfThisThread());
            ledger.SignalsOfItsThread.Add(SignalMask.OfANewThread());
            ledger.SignalsOfItsChild.Add(SignalMask.OfAChild());
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool HandlesNullReference()
    {
        try
        {
            return s_null!.Length < 0;
        }
        catch (NullReferenceException)
        {
            return true;
        }
    }
}
