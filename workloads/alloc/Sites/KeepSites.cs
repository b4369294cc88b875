// SPDX-License-Identifier: Apache-2.0
// A known live set among garbage: every Kept, Block[], PinnedBlock[] and PluginItem is kept for ever, up
// to a limit after which there is only garbage. What the ledger says of these types is what lives at the
// end.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

sealed class Kept
{
    public long A, B, C, D, E, F;  // 64 bytes with header and type
}

struct Block
{
    public long Value;
}

struct PinnedBlock
{
    public long Value;
}

static class KeepSites
{
    const int KeptLimit = 300_000, BlockLimit = 200, PinnedLimit = 2_000, ItemLimit = 200_000;
    const int PinnedLength = 500;
    const int BlockLength = 16 * 1024;  // 128 KB: on the large object heap
    static readonly int s_kept = Ledger.Register("KeepSites.Keep", typeof(Kept));
    static readonly int s_block = Ledger.Register("KeepSites.KeepBlock", typeof(Block[]), Heap.LOH);
    static readonly int s_pinned = Ledger.Register("KeepSites.KeepPinned", typeof(PinnedBlock[]), Heap.POH);
    static readonly int s_item = Ledger.Register("Plugin.MakeItem", typeof(PluginItem));
    static readonly int s_garbage = Ledger.Register("KeepSites.Garbage", typeof(byte[]));
    static readonly List<object> s_all = new(KeptLimit + BlockLimit + PinnedLimit + ItemLimit);
    static int s_keptCount, s_blockCount, s_pinnedCount, s_itemCount;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Keep(ref Dice dice, Ledger ledger)
    {
        lock (s_all)
        {
            if (s_keptCount == KeptLimit) return s_all;
            s_keptCount++;
            ledger.Add(s_kept, 64);
            var kept = new Kept();
            s_all.Add(kept);
            return kept;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object KeepBlock(ref Dice dice, Ledger ledger)
    {
        lock (s_all)
        {
            if (s_blockCount == BlockLimit) return s_all;
            s_blockCount++;
            ledger.Add(s_block, 24 + 8 * BlockLength);
            var block = new Block[BlockLength];
            s_all.Add(block);
            return block;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object KeepPinned(ref Dice dice, Ledger ledger)
    {
        lock (s_all)
        {
            if (s_pinnedCount == PinnedLimit) return s_all;
            s_pinnedCount++;
            ledger.Add(s_pinned, 24 + 8 * PinnedLength);
            var block = GC.AllocateArray<PinnedBlock>(PinnedLength, pinned: true);
            s_all.Add(block);
            return block;
        }
    }

    // Of types that could be unloaded, each load of them its own.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object KeepItem(ref Dice dice, Ledger ledger)
    {
        lock (s_all)
        {
            if (s_itemCount == ItemLimit) return s_all;
            s_itemCount++;
            ledger.Add(s_item, 64);
            object item = DynamicSites.MakeItem();
            s_all.Add(item);
            return item;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Garbage(ref Dice dice, Ledger ledger)
    {
        ledger.Add(s_garbage, 1024);
        return new byte[1024 - 24];
    }
}
