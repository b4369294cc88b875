// SPDX-License-Identifier: Apache-2.0
// The methods that allocate what the ledger knows of. One for each place, so that a profile can be asked for it by name.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Routes;

static class Markers
{
    static byte[]? s_sink;  // what does not escape, the JIT may put onto the stack

    static readonly Site s_middleware = new(nameof(Middleware), 1, 1_000);  // outermost, for each request, those of no route too
    static readonly Site s_small = new(nameof(Small), 10, 2_000);
    static readonly Site s_itemBefore = new(nameof(ItemBefore), 10, 1_000);  // before the first await
    static readonly Site s_itemAfter = new(nameof(ItemAfter), 10, 3_000);  // and after it
    static readonly Site s_itemPosted = new(nameof(ItemPosted), 5, 4_000);
    static readonly Site s_userFilter = new(nameof(UserFilter), 5, 1_000);  // an endpoint filter
    static readonly Site s_user = new(nameof(User), 5, 2_000);
    static readonly Site s_file = new(nameof(File), 10, 1_500);
    static readonly Site s_fail = new(nameof(Fail), 10, 1_000);  // before it throws
    static readonly Site s_notFound = new(nameof(NotFound), 10, 500);
    static readonly Site s_throws = new(nameof(Throws), 1, 1_000);  // for each exception
    static readonly Site s_lock = new(nameof(Lock), 10, 1_000);  // by who has it
    static readonly Site s_collect = new(nameof(Collect), 10, 1_000);
    static readonly Site s_delayBefore = new(nameof(DelayBefore), 10, 1_000);
    static readonly Site s_delayAfter = new(nameof(DelayAfter), 10, 2_000);
    static readonly Site s_runTask = new(nameof(RunTask), 10, 2_000);  // Task.Run
    static readonly Site s_runWhenAll = new(nameof(RunWhenAll), 5, 2_000);  // each of three tasks
    static readonly Site s_parallelBody = new(nameof(ParallelBody), 2, 4_000);  // each of sixteen
    static readonly Site s_streamItem = new(nameof(StreamItem), 2, 3_000);  // each of ten
    static readonly Site s_channelProduced = new(nameof(ChannelProduced), 1, 3_000);  // each of ten
    static readonly Site s_channelConsumed = new(nameof(ChannelConsumed), 1, 2_000);  // each of ten
    static readonly Site s_cancelBefore = new(nameof(CancelBefore), 10, 1_000);
    static readonly Site s_cancelAfter = new(nameof(CancelAfter), 10, 1_000);  // only when nobody left
    static readonly Site s_slow = new(nameof(Slow), 1, 1_000);  // before and after it waits
    static readonly Site s_greedy = new(nameof(Greedy), 400, 10_000);
    static readonly Site s_keep = new(nameof(Keep), 10, 2_000);  // one of the ten stays
    static readonly Site s_hold = new(nameof(Hold), 50, 10_000);  // all of them stay; before and after an await
    static readonly Site s_afterInside = new(nameof(AfterInside), 2, 1_000);  // before the response
    static readonly Site s_afterOutside = new(nameof(AfterOutside), 10, 2_000);  // some time after it
    static readonly Site s_thing = new(nameof(Thing), 10, 2_000);  // an attribute route of MVC
    static readonly Site s_homeIndex = new(nameof(HomeIndex), 10, 1_000);  // two actions of one conventional route
    static readonly Site s_homeAbout = new(nameof(HomeAbout), 10, 3_000);
    static readonly Site s_socketMessage = new(nameof(SocketMessage), 10, 1_000);  // for each message
    static readonly Site s_socketAlive = new(nameof(SocketAlive), 5, 2_000);  // again and again, while it is open
    static readonly Site s_backgroundThread = new(nameof(BackgroundThread), 10, 1_000);  // outside of all requests
    static readonly Site s_backgroundTimer = new(nameof(BackgroundTimer), 10, 1_000);
    static readonly Site s_backgroundLoop = new(nameof(BackgroundLoop), 10, 1_000);
    static readonly Site s_backgroundHeld = new(nameof(BackgroundHeld), 5, 10_000);  // all of them stay
    static readonly Site s_jobBefore = new(nameof(JobBefore), 10, 1_000);
    static readonly Site s_jobAfter = new(nameof(JobAfter), 10, 2_000);
    static readonly Site s_consumed = new(nameof(Consumed), 10, 2_000);  // each message of the queue

    public static Site OfBackgroundThread => s_backgroundThread;
    public static Site OfBackgroundTimer => s_backgroundTimer;
    public static Site OfBackgroundLoop => s_backgroundLoop;
    public static Site OfBackgroundHeld => s_backgroundHeld;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Middleware(Tally tally)
    {
        for (int i = 0; i < s_middleware.Objects; i++) s_sink = new byte[s_middleware.Size];
        tally.Add(s_middleware);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Small(Tally tally)
    {
        for (int i = 0; i < s_small.Objects; i++) s_sink = new byte[s_small.Size];
        tally.Add(s_small);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void ItemBefore(Tally tally)
    {
        for (int i = 0; i < s_itemBefore.Objects; i++) s_sink = new byte[s_itemBefore.Size];
        tally.Add(s_itemBefore);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void ItemAfter(Tally tally)
    {
        for (int i = 0; i < s_itemAfter.Objects; i++) s_sink = new byte[s_itemAfter.Size];
        tally.Add(s_itemAfter);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void ItemPosted(Tally tally)
    {
        for (int i = 0; i < s_itemPosted.Objects; i++) s_sink = new byte[s_itemPosted.Size];
        tally.Add(s_itemPosted);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void UserFilter(Tally tally)
    {
        for (int i = 0; i < s_userFilter.Objects; i++) s_sink = new byte[s_userFilter.Size];
        tally.Add(s_userFilter);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void User(Tally tally)
    {
        for (int i = 0; i < s_user.Objects; i++) s_sink = new byte[s_user.Size];
        tally.Add(s_user);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void File(Tally tally)
    {
        for (int i = 0; i < s_file.Objects; i++) s_sink = new byte[s_file.Size];
        tally.Add(s_file);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Fail(Tally tally)
    {
        for (int i = 0; i < s_fail.Objects; i++) s_sink = new byte[s_fail.Size];
        tally.Add(s_fail);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void NotFound(Tally tally)
    {
        for (int i = 0; i < s_notFound.Objects; i++) s_sink = new byte[s_notFound.Size];
        tally.Add(s_notFound);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Throws(Tally tally)
    {
        for (int i = 0; i < s_throws.Objects; i++) s_sink = new byte[s_throws.Size];
        tally.Add(s_throws);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Lock(Tally tally)
    {
        for (int i = 0; i < s_lock.Objects; i++) s_sink = new byte[s_lock.Size];
        tally.Add(s_lock);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Collect(Tally tally)
    {
        for (int i = 0; i < s_collect.Objects; i++) s_sink = new byte[s_collect.Size];
        tally.Add(s_collect);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void DelayBefore(Tally tally)
    {
        for (int i = 0; i < s_delayBefore.Objects; i++) s_sink = new byte[s_delayBefore.Size];
        tally.Add(s_delayBefore);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void DelayAfter(Tally tally)
    {
        for (int i = 0; i < s_delayAfter.Objects; i++) s_sink = new byte[s_delayAfter.Size];
        tally.Add(s_delayAfter);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void RunTask(Tally tally)
    {
        for (int i = 0; i < s_runTask.Objects; i++) s_sink = new byte[s_runTask.Size];
        tally.Add(s_runTask);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void RunWhenAll(Tally tally)
    {
        for (int i = 0; i < s_runWhenAll.Objects; i++) s_sink = new byte[s_runWhenAll.Size];
        tally.Add(s_runWhenAll);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void ParallelBody(Tally tally)
    {
        for (int i = 0; i < s_parallelBody.Objects; i++) s_sink = new byte[s_parallelBody.Size];
        tally.Add(s_parallelBody);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void StreamItem(Tally tally)
    {
        for (int i = 0; i < s_streamItem.Objects; i++) s_sink = new byte[s_streamItem.Size];
        tally.Add(s_streamItem);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void ChannelProduced(Tally tally)
    {
        for (int i = 0; i < s_channelProduced.Objects; i++) s_sink = new byte[s_channelProduced.Size];
        tally.Add(s_channelProduced);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void ChannelConsumed(Tally tally)
    {
        for (int i = 0; i < s_channelConsumed.Objects; i++) s_sink = new byte[s_channelConsumed.Size];
        tally.Add(s_channelConsumed);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void CancelBefore(Tally tally)
    {
        for (int i = 0; i < s_cancelBefore.Objects; i++) s_sink = new byte[s_cancelBefore.Size];
        tally.Add(s_cancelBefore);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void CancelAfter(Tally tally)
    {
        for (int i = 0; i < s_cancelAfter.Objects; i++) s_sink = new byte[s_cancelAfter.Size];
        tally.Add(s_cancelAfter);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Slow(Tally tally)
    {
        for (int i = 0; i < s_slow.Objects; i++) s_sink = new byte[s_slow.Size];
        tally.Add(s_slow);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Greedy(Tally tally)
    {
        for (int i = 0; i < s_greedy.Objects; i++) s_sink = new byte[s_greedy.Size];
        tally.Add(s_greedy);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Keep(Tally tally)
    {
        for (int i = 0; i < s_keep.Objects; i++)
        {
            s_sink = new byte[s_keep.Size];
            if (i == 0) Kept.ByKeep.Add(s_sink);
        }
        tally.Add(s_keep);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Hold(Tally tally)
    {
        for (int i = 0; i < s_hold.Objects; i++) Kept.ByHold.Add(new byte[s_hold.Size]);
        tally.Add(s_hold);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void AfterInside(Tally tally)
    {
        for (int i = 0; i < s_afterInside.Objects; i++) s_sink = new byte[s_afterInside.Size];
        tally.Add(s_afterInside);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void AfterOutside(Tally tally)
    {
        for (int i = 0; i < s_afterOutside.Objects; i++) s_sink = new byte[s_afterOutside.Size];
        tally.Add(s_afterOutside);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Thing(Tally tally)
    {
        for (int i = 0; i < s_thing.Objects; i++) s_sink = new byte[s_thing.Size];
        tally.Add(s_thing);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void HomeIndex(Tally tally)
    {
        for (int i = 0; i < s_homeIndex.Objects; i++) s_sink = new byte[s_homeIndex.Size];
        tally.Add(s_homeIndex);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void HomeAbout(Tally tally)
    {
        for (int i = 0; i < s_homeAbout.Objects; i++) s_sink = new byte[s_homeAbout.Size];
        tally.Add(s_homeAbout);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void SocketMessage(Tally tally)
    {
        for (int i = 0; i < s_socketMessage.Objects; i++) s_sink = new byte[s_socketMessage.Size];
        tally.Add(s_socketMessage);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void SocketAlive(Tally tally)
    {
        for (int i = 0; i < s_socketAlive.Objects; i++) s_sink = new byte[s_socketAlive.Size];
        tally.Add(s_socketAlive);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void BackgroundThread(Tally tally)
    {
        for (int i = 0; i < s_backgroundThread.Objects; i++) s_sink = new byte[s_backgroundThread.Size];
        tally.Add(s_backgroundThread);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void BackgroundTimer(Tally tally)
    {
        for (int i = 0; i < s_backgroundTimer.Objects; i++) s_sink = new byte[s_backgroundTimer.Size];
        tally.Add(s_backgroundTimer);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void BackgroundLoop(Tally tally)
    {
        for (int i = 0; i < s_backgroundLoop.Objects; i++) s_sink = new byte[s_backgroundLoop.Size];
        tally.Add(s_backgroundLoop);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void BackgroundHeld(Tally tally)
    {
        for (int i = 0; i < s_backgroundHeld.Objects; i++) Kept.InBackground.Add(new byte[s_backgroundHeld.Size]);
        tally.Add(s_backgroundHeld);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void JobBefore(Tally tally)
    {
        for (int i = 0; i < s_jobBefore.Objects; i++) s_sink = new byte[s_jobBefore.Size];
        tally.Add(s_jobBefore);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void JobAfter(Tally tally)
    {
        for (int i = 0; i < s_jobAfter.Objects; i++) s_sink = new byte[s_jobAfter.Size];
        tally.Add(s_jobAfter);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Consumed(Tally tally)
    {
        for (int i = 0; i < s_consumed.Objects; i++) s_sink = new byte[s_consumed.Size];
        tally.Add(s_consumed);
    }
}
