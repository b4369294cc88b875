// SPDX-License-Identifier: Apache-2.0
// Types of which the name is not just a name: generic, nested, in letters of other alphabets.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws
{
    sealed class GenericError<T> : Error;

    sealed class GenericOuter<T>
    {
        public sealed class NestedError<TOther> : Error;
    }

    static class Names
    {
        sealed class PrivateError : Error;

        public static class Deep
        {
            public static class Deeper
            {
                public sealed class DeepestError : Error;
            }
        }

        sealed class ÄrgerÜberÖl : Error;
        sealed class 例外 : Error;
        sealed class @class : Error;

        public static void RoundOfGeneric(Options _)
        {
            Catch<GenericError<int>>();
            Catch<GenericError<string>>();
            Catch<GenericError<Dictionary<string, (int, byte[])>>>();
            Catch<GenericOuter<int>.NestedError<string[,]>>();
        }

        public static void Round(Options _)
        {
            Catch<PrivateError>();
            Catch<Deep.Deeper.DeepestError>();
            Catch<ÄrgerÜberÖl>();
            Catch<例外>();
            Catch<@class>();
            Catch<global::Namespaceless>();
        }

        static void Catch<T>() where T : Exception, new()
        {
            try
            {
                Throw(new T());
            }
            catch (T)
            {
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Throw(Exception error)
        {
            Ledger.Throw(error.GetType());
            throw error;
        }
    }
}

sealed class Namespaceless() : Exception(Clrscope.Workloads.Throws.Message.Next());
