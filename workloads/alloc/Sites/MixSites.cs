// SPDX-License-Identifier: Apache-2.0
// Everyday objects on the small object heap.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads;

sealed class Order
{
    public int Number;
    public long Cents;
    public object? Customer;
    public sealed class Line
    {
        public int Product, Quantity;
        public Order? Order;
    }
}

sealed class Node<T>
{
    public T? Value;
    public Node<T>? Next;
}

struct Point { public double X, Y, Z; }

static class MixSites
{
    static readonly int s_bytes = Ledger.Register("MixSites.SmallBytes", typeof(byte[]));
    static readonly int s_text = Ledger.Register("MixSites.Text", typeof(string));
    static readonly int s_order = Ledger.Register("MixSites.MakeOrder", typeof(Order));
    static readonly int s_line = Ledger.Register("MixSites.MakeLine", typeof(Order.Line));
    static readonly int s_node = Ledger.Register("MixSites.MakeNode", typeof(Node<int>));
    static readonly int s_points = Ledger.Register("MixSites.Points", typeof(Point[]));
    static readonly int s_buffer = Ledger.Register("MixSites.Buffer", typeof(byte[]));
    static readonly int s_func = Ledger.Register("MixSites.MakeClosure", typeof(Func<int>));
    static readonly int s_closure = Ledger.Register("MixSites.MakeClosure", ClosureType());

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object SmallBytes(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(0, 1024);
        ledger.Add(s_bytes, Size.Array(1, length));
        return new byte[length];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Text(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(1, 200);
        ledger.Add(s_text, Size.String(length));
        return new string('x', length);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeOrder(ref Dice dice, Ledger ledger)
    {
        ledger.Add(s_order, Size.Object(8 + 8 + 4));
        return new Order { Number = 1, Cents = 2 };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeLine(ref Dice dice, Ledger ledger)
    {
        ledger.Add(s_line, Size.Object(8 + 4 + 4));
        return new Order.Line { Product = 1, Quantity = 2 };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeNode(ref Dice dice, Ledger ledger)
    {
        ledger.Add(s_node, Size.Object(8 + 4));
        return new Node<int> { Value = 1 };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Points(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(1, 40);
        ledger.Add(s_points, Size.Array(24, length));
        return new Point[length];
    }

    // Large for the small object heap.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Buffer(ref Dice dice, Ledger ledger)
    {
        int length = dice.Between(4096, 65536);
        ledger.Add(s_buffer, Size.Array(1, length));
        return new byte[length];
    }

    // A closure object and a delegate on it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeClosure(ref Dice dice, Ledger ledger)
    {
        int start = dice.Between(0, 10);
        ledger.Add(s_closure, Size.Object(4));
        ledger.Add(s_func, Size.Delegate);
        return (Func<int>)(() => start++);
    }

    // The compiler's class has no name that could be written here.
    static Type ClosureType()
    {
        var dice = new Dice(1);
        return ((Delegate)MakeClosure(ref dice, new Ledger())).Target!.GetType();
    }
}
