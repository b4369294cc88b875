// SPDX-License-Identifier: Apache-2.0
// Which requests have begun, for clients that want to leave them after that.
using System.Collections.Concurrent;

namespace Clrscope.Workloads.Routes;

static class Begun
{
    static readonly ConcurrentDictionary<string, TaskCompletionSource> s_begun = new();

    public static void Add(string token) => Of(token).TrySetResult();

    public static async Task WaitFor(string token)
    {
        await Of(token).Task;
        s_begun.TryRemove(token, out _);
    }

    static TaskCompletionSource Of(string token) =>
        s_begun.GetOrAdd(token, static _ => new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
}
