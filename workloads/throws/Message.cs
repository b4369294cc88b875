// SPDX-License-Identifier: Apache-2.0
// The messages of exceptions; with --messages, texts that must not get into a profile.
namespace Clrscope.Workloads.Throws;

static class Message
{
    static long s_count;

    public static bool Secret;
    public static long Count => s_count;

    public static string Next() => Secret ? $"secret-{Interlocked.Increment(ref s_count)}" : "expected";
}

// What most types here derive from.
abstract class Error(Exception? inner = null) : Exception(Throws.Message.Next(), inner);
