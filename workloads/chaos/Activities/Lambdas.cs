// SPDX-License-Identifier: Apache-2.0
// Dynamic methods and compiled expressions that are made, called and dropped.
using System.Linq.Expressions;
using System.Reflection.Emit;

namespace Clrscope.Workloads.Chaos;

sealed class Lambdas() : Activity(threads: 2, pauseMilliseconds: 10)
{
    const int EachRound = 10;

    protected override ulong Compute(uint seed)
    {
        ulong sum = 0;
        for (int i = 0; i < EachRound; i++)
        {
            int factor = (int)seed * 100 + i;
            Func<int, object> emitted = Emit(factor);
            Func<int, int[]> compiled = Compile(factor);
            for (int n = 1; n < 200; n++)
                sum = Mix.Add(sum, (ulong)(((byte[])emitted(n)).Length + compiled(n)[0]));
        }
        return sum;
    }

    static Func<int, object> Emit(int factor)
    {
        var method = new DynamicMethod("Emitted", typeof(object), [typeof(int)]);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4, factor);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Newarr, typeof(byte));
        il.Emit(OpCodes.Ret);
        Tally.Count("dynamic methods");
        return method.CreateDelegate<Func<int, object>>();
    }

    static Func<int, int[]> Compile(int factor)
    {
        ParameterExpression n = Expression.Parameter(typeof(int), "n");
        Expression product = Expression.Multiply(n, Expression.Constant(factor));
        Expression array = Expression.NewArrayInit(typeof(int), product, n, n, n);
        Tally.Count("expressions compiled");
        return Expression.Lambda<Func<int, int[]>>(array, n).Compile();
    }
}
