// SPDX-License-Identifier: Apache-2.0
// Routes that go on elsewhere: after an await, in tasks, in parallel, streamed, and after their response.
using System.Threading.Channels;

namespace Clrscope.Workloads.Routes;

static class AsyncEndpoints
{
    const int Times = 10;  // items of a stream and of a channel

    sealed record Item(string Name);

    public static void Map(WebApplication app)
    {
        app.MapGet("/items/{id:int}", async (HttpContext context, int id) =>
        {
            Markers.ItemBefore(context.Tally());
            await Task.Yield();
            Markers.ItemAfter(context.Tally());
            return id.ToString();
        });
        app.MapPost("/items", async (HttpContext context, Item item) =>
        {
            await Task.Yield();
            Markers.ItemPosted(context.Tally());
            return Results.Created("/items/1", item);
        });
        app.MapGet("/delay/{ms:int}", async (HttpContext context, int ms) =>
        {
            Markers.DelayBefore(context.Tally());
            await Task.Delay(ms);
            Markers.DelayAfter(context.Tally());
            return "delayed\n";
        });
        // So much CPU time, half of it on whatever thread goes on.
        app.MapGet("/burn/{ms:int}", async (int ms) =>
        {
            Os.Burn(ms * 500_000L);
            await Task.Delay(5);
            Os.Burn(ms * 500_000L);
            return "burned\n";
        });
        app.MapGet("/slow", async (HttpContext context) =>
        {
            Markers.Slow(context.Tally());
            await Task.Delay(150);
            Markers.Slow(context.Tally());
            return "slow\n";
        });
        app.MapGet("/run", async (HttpContext context) =>
        {
            Tally tally = context.Tally();
            await Task.Run(() => Markers.RunTask(tally));
            await Task.WhenAll(Enumerable.Range(0, 3).Select(_ => Task.Run(() => Markers.RunWhenAll(tally))));
            return "run\n";
        });
        app.MapGet("/parallel", (HttpContext context) =>
        {
            Tally tally = context.Tally();
            Parallel.For(0, 16, _ => Markers.ParallelBody(tally));
            return "parallel\n";
        });
        app.MapGet("/stream", (HttpContext context) => Stream(context.Tally()));
        app.MapGet("/channel", async (HttpContext context) =>
        {
            int sum = await Channel(context.Tally());
            return sum.ToString();
        });
        app.MapGet("/cancel/{ms:int}", async (HttpContext context, int ms, string? token) =>
        {
            Markers.CancelBefore(context.Tally());
            if (token is not null) Begun.Add(token);
            await Task.Delay(ms, context.RequestAborted);
            Markers.CancelAfter(context.Tally());
            return "not cancelled\n";
        });
        app.MapGet("/after", (HttpContext context) =>
        {
            Markers.AfterInside(context.Tally());
            Ledger.BeginPending();
            _ = Task.Run(After);
            return "after\n";
        });
    }

    static async IAsyncEnumerable<int> Stream(Tally tally)
    {
        for (int i = 0; i < Times; i++)
        {
            await Task.Yield();
            Markers.StreamItem(tally);
            yield return i;
        }
    }

    static async Task<int> Channel(Tally tally)
    {
        var channel = System.Threading.Channels.Channel.CreateBounded<int>(2);
        Task producer = Task.Run(async () =>
        {
            for (int i = 0; i < Times; i++)
            {
                Markers.ChannelProduced(tally);
                await channel.Writer.WriteAsync(i);
            }
            channel.Writer.Complete();
        });
        int sum = 0;
        await foreach (int i in channel.Reader.ReadAllAsync())
        {
            Markers.ChannelConsumed(tally);
            sum += i;
        }
        await producer;
        return sum;
    }

    static async Task After()
    {
        await Task.Delay(200);
        Markers.AfterOutside(Ledger.Current.Outside);
        Ledger.EndPending();
    }
}
