// SPDX-License-Identifier: Apache-2.0
// Thrown by a method that is called by reflection, which throws a TargetInvocationException around it. The first call of each
// method goes through native code: since .NET 9 the runtime throws anew what comes out of that.
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class InvokedError : Error;
sealed class NativeError : Error;

static class Reflection
{
    const BindingFlags Hidden = BindingFlags.NonPublic | BindingFlags.Static;

    static readonly MethodInfo s_method = Warm(typeof(Reflection).GetMethod(nameof(Throw), Hidden)!);
    static bool s_quiet;

    public static void Round(Options _)
    {
        try
        {
            Invoke(s_method);
        }
        catch (TargetInvocationException)
        {
        }
    }

    public static void RoundOfNative(Options _)
    {
        if (FreshTypes.Next() is not [var a, var b, var c]) return;
        MethodInfo method = typeof(Reflection).GetMethod(nameof(ThrowThroughNative), Hidden)!.MakeGenericMethod(a, b, c);
        try
        {
            Invoke(method);
        }
        catch (TargetInvocationException)
        {
        }
    }

    static MethodInfo Warm(MethodInfo method)
    {
        s_quiet = true;
        for (int i = 0; i < 3; i++) method.Invoke(null, null);
        s_quiet = false;
        return method;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Invoke(MethodInfo method)
    {
        Ledger.Throw(typeof(TargetInvocationException), Marks.Inner | Marks.Nested);
        method.Invoke(null, null);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw()
    {
        if (s_quiet) return;
        Ledger.Throw(typeof(InvokedError));
        throw new InvokedError();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowThroughNative<TA, TB, TC>()
    {
        Ledger.Throw(typeof(NativeError));
        Ledger.ThroughNative(typeof(NativeError));
        throw new NativeError();
    }
}
