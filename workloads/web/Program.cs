// SPDX-License-Identifier: Apache-2.0
// A small web service that allocates per request and counts its requests: the shape of program that
// clrscope is pointed at most.
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Json;

namespace Clrscope.Workloads.Web;

static class Program
{
    static long s_orders, s_texts, s_buffers, s_bufferBytes;
    static readonly Dictionary<string, byte[]> s_cache = [];

    static async Task<int> Main(string[] args)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder(args);
        builder.Logging.ClearProviders();
        if (string.IsNullOrEmpty(builder.Configuration["urls"]))
            builder.WebHost.UseUrls("http://127.0.0.1:5080");
        WebApplication app = builder.Build();

        app.MapGet("/", () => "try /orders/20, /text/1000, /buffer/100000, /cache/KEY, /steady, /stats\n");
        app.MapGet("/orders/{count:int}", (int count) => Results.Text(OrdersAsJson(count), "application/json"));
        app.MapGet("/text/{length:int}", (int length) => BuildText(length));
        app.MapGet("/buffer/{size:int}", (int size) => FillBuffer(size).ToString());
        app.MapGet("/cache/{key}", (string key) => Remember(key).ToString());  // never forgets: a leak
        app.MapGet("/steady", () => Steady.Serve());  // sessions, connections, texts: bounded
        app.MapGet("/stats", () => Results.Text(Stats(), "application/json"));

        await app.StartAsync();
        Console.WriteLine(
            $"{{\"ready\":{Environment.ProcessId},\"url\":\"{app.Urls.First()}\"}}");
        await app.WaitForShutdownAsync();
        Console.WriteLine(Stats());
        return 0;
    }

    sealed record Line(int Product, int Quantity, decimal Price);
    sealed record Order(int Number, string Customer, List<Line> Lines);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string OrdersAsJson(int count)
    {
        Interlocked.Increment(ref s_orders);
        var orders = new List<Order>();
        for (int i = 0; i < count; i++)
        {
            var lines = new List<Line> { new(i, 1, 9.95m), new(i + 1, 2, 19.90m) };
            orders.Add(new Order(i, "customer " + i, lines));
        }
        return JsonSerializer.Serialize(orders);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string BuildText(int length)
    {
        Interlocked.Increment(ref s_texts);
        var text = new StringBuilder();
        while (text.Length < length) text.Append("line ").Append(text.Length).Append('\n');
        return text.ToString();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int FillBuffer(int size)
    {
        var buffer = new byte[size];
        Interlocked.Increment(ref s_buffers);
        Interlocked.Add(ref s_bufferBytes, (24 + (long)size + 7) & ~7L);
        Array.Fill(buffer, (byte)'x');
        return buffer.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Remember(string key)
    {
        lock (s_cache)
        {
            s_cache[key] = new byte[10_000];
            return s_cache.Count;
        }
    }

    // buffers_bytes is exact: what FillBuffer allocated as byte[].
    static string Stats() => JsonSerializer.Serialize(new
    {
        orders = s_orders,
        texts = s_texts,
        buffers = s_buffers,
        buffers_bytes = s_bufferBytes,
        cached = s_cache.Count,
        sessions = Steady.Sessions,
        total_allocated_bytes = GC.GetTotalAllocatedBytes(precise: true),
        collections = new[] { GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2) },
    });
}
