// SPDX-License-Identifier: Apache-2.0
// The kinds of waits by name.
namespace Clrscope.Workloads.Locks;

static class Kinds
{
    public static readonly (string Name, Func<Kind> Make)[] All =
    [
        ("monitor", () => new MonitorKind()), ("synchronized", () => new SynchronizedKind()),
        ("try-enter", () => new TryEnterKind()),
#if NET9_0_OR_GREATER
        ("lock", () => new LockKind()), ("try-lock", () => new TryLockKind()),
#endif
        ("async-monitor", () => new AsyncMonitorKind()),
        ("semaphore", () => new SemaphoreKind()), ("async-semaphore", () => new AsyncSemaphoreKind()),
        ("event-slim", () => new EventSlimKind()), ("event", () => new EventKind()), ("rw-lock", () => new RwLockKind()),
        ("pulse", () => new PulseKind()), ("join", () => new JoinKind()), ("task", () => new TaskKind()),
    ];

    public static Kind Make(string kind)
    {
        foreach ((string name, Func<Kind> make) in All)
        {
            if (name != kind) continue;
            Kind made = make();
            made.Name = kind;
            return made;
        }
        throw new ArgumentException($"unknown kind '{kind}': {string.Join(", ", All.Select(k => k.Name))}");
    }

    public static List<Kind> Run(Options options)
    {
        List<Kind> done = [];
        foreach (string name in options.Kinds)
        {
            Kind kind = Make(name);
            kind.Run(options, options.Rounds);
            done.Add(kind);
        }
        return done;
    }
}
