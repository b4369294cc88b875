// SPDX-License-Identifier: Apache-2.0
// The sites of each mode and how often each is called.
namespace Clrscope.Workloads;

static class Modes
{
    public static (int Weight, Site Site)[] SitesOf(string mode) => mode switch
    {
        "mix" =>
        [
            (3000, MixSites.SmallBytes), (1500, MixSites.Text), (1500, MixSites.MakeOrder),
            (1500, MixSites.MakeNode), (1000, MixSites.MakeLine), (800, MixSites.Points),
            (600, MixSites.MakeClosure), (60, MixSites.Buffer), (5, LargeSites.Large),
            (5, LargeSites.Pinned),
        ],
        "periodic" => [(1, PeriodicSites.Cycle)],
        "lohpoh" =>
        [
            (10, LargeSites.Large), (5, LargeSites.LargeStructs), (10, LargeSites.Pinned),
            (1, LargeSites.PinnedLarge), (200, MixSites.SmallBytes),
        ],
        "deep" => [(1, DeepSites.Shallow), (1, DeepSites.Deep50), (1, DeepSites.Deep150)],
        "generic" =>
        [
            (3, GenericSites.LoadText), (3, GenericSites.LoadNumber), (2, GenericSites.Pairs),
            (2, GenericSites.NestedInner), (2, GenericSites.Jagged),
        ],
        "async" =>
        [
            (2, AsyncSites.AfterYield), (4, AsyncSites.BeforeYield), (4, AsyncSites.FromIterator),
            (4, AsyncSites.FromLocalFunction), (4, AsyncSites.FromLambda),
        ],
        "dynamic" =>
        [
            (3, DynamicSites.FromDynamicMethod), (3, DynamicSites.FromExpression),
            (3, DynamicSites.FromPlugin),
        ],
        "types" =>
        [
            (20, TypeSites.MakePlain), (20, TypeSites.MakeNested), (20, TypeSites.MakeCellOfInt),
            (20, TypeSites.MakeCellOfString), (20, TypeSites.MakeCellOfPixel),
            (20, TypeSites.MakeDelegate), (20, TypeSites.Box), (20, TypeSites.FixedArray),
            (20, TypeSites.VaryingArray), (20, TypeSites.Grid), (20, TypeSites.Jagged),
            (1, TypeSites.Large), (5, TypeSites.Pinned), (20, TypeSites.Text),
            (20, TypeSites.Bytes),
        ],
        "nested" => NestedSites.All,
        "funclets" =>
        [
            (1, FuncletSites.InCatch), (1, FuncletSites.InFinally), (1, FuncletSites.InFilter),
            (1, FuncletSites.Nested),
        ],
        "stackalloc" => [(1, FrameSites.OnStack)],
        "interop" => [(1, FrameSites.ThroughDelegate), (1, FrameSites.ThroughPointer)],
        "osr" =>
        [
            (1, FrameSites.LoopA), (1, FrameSites.LoopB), (1, FrameSites.LoopC), (1, FrameSites.LoopD),
        ],
        "check" => [(1, CheckSites.Compute)],
        "values" => [(1, FrameSites.Values)],
        "keep" => [(200, KeepSites.Keep), (1, KeepSites.KeepBlock), (2000, KeepSites.Garbage)],
        "grow" => [(1300, KeepSites.Keep), (1, KeepSites.KeepBlock), (40_000, KeepSites.Garbage)],
        "stress" =>
        [
            (200, KeepSites.Keep), (1, KeepSites.KeepBlock), (5, KeepSites.KeepPinned),
            (150, KeepSites.KeepItem), (400, KeepSites.Garbage), (2, LargeSites.Large),
            (10, LargeSites.Pinned), (50, DynamicSites.FromPlugin),
        ],
        _ => throw new ArgumentException(
            $"unknown mode '{mode}': mix, periodic, lohpoh, deep, generic, async, dynamic, types, "
            + "nested, funclets, stackalloc, interop, osr, values, check, keep, grow or stress"),
    };
}
