// SPDX-License-Identifier: Apache-2.0
// Filters that say yes, that say no, and that throw themselves, which is a no.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Throws;

sealed class FilteredError : Error;
sealed class InFilterError : Error;

static class Filter
{
    static int s_asked;

    public static void Round(Options _)
    {
        try
        {
            ThrowFiltered();
        }
        catch (FilteredError) when (Answer(true))
        {
        }
        Outer(says: false);
        Outer(says: null);
    }

    static void Outer(bool? says)
    {
        try
        {
            try
            {
                ThrowFiltered();
            }
            catch (FilteredError) when (says is null ? ThrowInFilter() : Answer(says.Value))
            {
                throw new InvalidOperationException("not filtered");
            }
        }
        catch (FilteredError)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Answer(bool says)
    {
        s_asked++;
        return says;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowFiltered()
    {
        Ledger.Throw(typeof(FilteredError));
        throw new FilteredError();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool ThrowInFilter()
    {
        Ledger.Throw(typeof(InFilterError), Marks.Nested);
        throw new InFilterError();
    }
}
