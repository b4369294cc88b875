// SPDX-License-Identifier: Apache-2.0
// Thrown by methods that are made while the program runs.
using System.Linq.Expressions;
using System.Reflection.Emit;

namespace Clrscope.Workloads.Throws;

sealed class DynamicError : Error;
sealed class ExpressionError : Error;

static class Dynamic
{
    static readonly Action s_dynamicMethod = MakeDynamicMethod();
    static readonly Action s_expression =
        Expression.Lambda<Action>(Expression.Throw(Expression.New(typeof(ExpressionError))), "ThrowByExpression", null).Compile();

    public static void Round(Options _)
    {
        Ledger.Throw(typeof(DynamicError), method: "dynamicClass.ThrowByDynamicMethod");
        try
        {
            s_dynamicMethod();
        }
        catch (DynamicError)
        {
        }
        Ledger.Throw(typeof(ExpressionError), method: "dynamicClass.ThrowByExpression");
        try
        {
            s_expression();
        }
        catch (ExpressionError)
        {
        }
    }

    static Action MakeDynamicMethod()
    {
        var method = new DynamicMethod("ThrowByDynamicMethod", null, null, typeof(Dynamic).Module);
        ILGenerator code = method.GetILGenerator();
        code.Emit(OpCodes.Newobj, typeof(DynamicError).GetConstructor(Type.EmptyTypes)!);
        code.Emit(OpCodes.Throw);
        return method.CreateDelegate<Action>();
    }
}
