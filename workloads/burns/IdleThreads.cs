// SPDX-License-Identifier: Apache-2.0
// Threads that do nothing but be there.
namespace Clrscope.Workloads.Burns;

sealed class IdleThreads : IDisposable
{
    readonly ManualResetEventSlim _over = new();
    readonly List<Thread> _threads = [];

    public IdleThreads(int count)
    {
        for (int i = 0; i < count; i++)
        {
            var thread = new Thread(_over.Wait, 256 * 1024);
            thread.Start();
            _threads.Add(thread);
        }
    }

    public void Dispose()
    {
        _over.Set();
        foreach (Thread thread in _threads) thread.Join();
    }
}
