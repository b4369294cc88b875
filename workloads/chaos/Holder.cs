// SPDX-License-Identifier: Apache-2.0
// A thread's first event makes the runtime register a destructor with the loader; when that is an allocation's, it waits
// for the loader's lock while the garbage collector waits for it. A constructor of a library that is in managed code then
// never comes back: with any EventPipe session, dotnet-trace's too, such a program hangs within a second. Here each thread
// has a first event of its own before it allocates, for which the garbage collector does not wait, so that what hangs hangs
// because of something else. It is written only with
//   DOTNET_EnableEventPipe=1 DOTNET_EventPipeConfig=Clrscope-Chaos:FFFFFFFFFFFFFFFF:5
// Source: dotnet/runtime src/coreclr/vm/eventing/eventpipe/ep-rt-coreclr.h, EventPipeCoreCLRThreadHolderTLS
using System.Diagnostics.Tracing;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Chaos;

[EventSource(Name = "Clrscope-Chaos")]
sealed class Holder : EventSource
{
    static readonly Holder s_source = new();

    // It allocates nothing.
    public static void Make() => s_source.ThreadIsHere();

    [Event(1, Level = EventLevel.Informational)]
    void ThreadIsHere() => WriteEvent(1);

    // On the finalizer's thread.
    public static void MakeOfFinalizer()
    {
        Drop();
        GC.Collect();
        GC.WaitForPendingFinalizers();

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Drop() => _ = new Finalized();
    }

    sealed class Finalized
    {
        ~Finalized() => Make();
    }
}
