// SPDX-License-Identifier: Apache-2.0
// Children by fork without exec, from several threads at once.
namespace Clrscope.Workloads.Chaos;

sealed class Forks(bool byTerm) : Activity(threads: 3, pauseMilliseconds: 60)
{
    static readonly string[] s_verdicts =
        ["good", "there was no fork", "the child told nothing", "the child computed something else", "the child ended in another way",
         "the child did not heed SIGTERM", "the child never ended"];
    static int s_number;

    protected override ulong Compute(uint seed)
    {
        bool kill = byTerm && Interlocked.Increment(ref s_number) % 4 == 0;
        int verdict = Native.chaos_fork(seed, milliseconds: (int)seed, kill ? 1 : 0, out ulong answer);
        Tally.Count(kill ? "children ended by SIGTERM" : "children forked");
        Tally.Check(verdict == 0, $"Forks({seed}): {s_verdicts[verdict]}");
        return verdict == 0 ? answer : Mix.Of(seed, 20000);  // told already
    }
}
