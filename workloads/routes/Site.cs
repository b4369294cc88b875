// SPDX-License-Identifier: Apache-2.0
// A method that allocates byte[] of one size, and how many at each call.
namespace Clrscope.Workloads.Routes;

sealed class Site
{
    public const int Most = 48;
    static readonly List<Site> s_all = [];

    public readonly int Index, Objects, Size;
    public readonly string Method;

    public Site(string name, int objects, int size)
    {
        if (s_all.Count == Most) throw new InvalidOperationException("more sites than Site.Most");
        Index = s_all.Count;
        Method = $"{typeof(Markers).FullName}.{name}";
        Objects = objects;
        Size = size;
        s_all.Add(this);
    }

    public static IReadOnlyList<Site> All => s_all;

    // A header word, the method table and the length, then the bytes; rounded up to 8.
    public long ObjectBytes => (24 + (long)Size + 7) & ~7L;
    public long CallBytes => Objects * ObjectBytes;
}
