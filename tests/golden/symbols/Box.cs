using System.Collections.Generic;

namespace Shop;

// Types that are nested and generic, with fields of every shape.
public unsafe partial class Box<T>
{
    public struct Slot
    {
        public T Value;
        public Box<T>? Owner;
        public class Deep<TKey, TItem> where TKey : notnull
        {
            public Dictionary<TKey, List<TItem[]>> Map = new();
            public T[,]? Grid;
            public (int Count, string Name) Pair;
            public int? Maybe;
            public delegate*<int, ref T, void> Call;
            public void* Raw;
            public readonly Dictionary<string, int>.Enumerator Enumerator;
            public volatile int Flag;
        }
        public enum Kind : byte { Empty, Full }
    }

    private Slot[] _slots = new Slot[4];
    public static Box<string>.Slot Shared;
    public const long Limit = 1 << 20;

    public Slot[] Slots => _slots;
    public void Put(int index, T value) =>
        _slots[index] = new Slot
        {
            Value = value,
            Owner = this,
        };
}

public interface IPlain { void Run(); }
public record Order(int Id, string Name);
