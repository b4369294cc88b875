// SPDX-License-Identifier: Apache-2.0
// Static constructors that throw. The runtime throws a TypeInitializationException around what they threw, and the same one
// again whenever the class is used once more.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class InitializerError : Error;

static class Initializer
{
    public static void Round(Options _)
    {
        Type[] arguments = FreshTypes.Next();
        if (arguments.Length == 0) return;
        var use = typeof(Broken<,,>.User).MakeGenericType(arguments).GetMethod("Use")!.CreateDelegate<Action>();
        for (int i = 0; i < 2; i++)
        {
            Ledger.Throw(typeof(TypeInitializationException), Marks.Inner, method: "Use");
            try
            {
                use();
            }
            catch (TypeInitializationException)
            {
            }
        }
    }

    static class Broken<TA, TB, TC>
    {
        static int s_value;

        static Broken()
        {
            Ledger.Throw(typeof(InitializerError));
            if (s_value == 0) throw new InitializerError();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Touch() => s_value++;

        public static class User
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            public static void Use() => Touch();
        }
    }
}
