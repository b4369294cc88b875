// SPDX-License-Identifier: Apache-2.0
// Routes that call others, and what the calls took: by route and operation.
using System.Diagnostics;

namespace Clrscope.Workloads.Routes;

readonly record struct OperationKey(string? Route, string Operation);

static class Operations
{
    static readonly HttpClient s_client = new();
    static readonly ActivitySource s_steps = new("Clrscope.Steps");

    // Where this service listens.
    public static Uri Self = new("http://127.0.0.1");

    public static void Map(WebApplication app)
    {
        // n calls, one after the other.
        app.MapGet("/calls/{n:int}/{ms:int}", async (HttpContext context, int n, int ms) =>
        {
            for (int i = 0; i < n; i++) await Get(context.Tally(), "/calls/{n:int}/{ms:int}", $"/called/{ms}");
            return "called\n";
        });
        // n calls at one time.
        app.MapGet("/fan/{n:int}/{ms:int}", async (HttpContext context, int n, int ms) =>
        {
            await Task.WhenAll(Enumerable.Range(0, n).Select(_ => Get(context.Tally(), "/fan/{n:int}/{ms:int}", $"/called/{ms}")));
            return "called\n";
        });
        app.MapGet("/refused", async (HttpContext context) =>
        {
            await Call(context.Tally(), "/refused", "HTTP 127.0.0.1:1", () => s_client.GetStringAsync("http://127.0.0.1:1/"));
            return "refused\n";
        });
        app.MapGet("/called/{ms:int}", async (int ms) =>
        {
            await Task.Delay(ms);
            return "called\n";
        });
        app.MapGet("/steps/{n:int}/{ms:int}", async (HttpContext context, int n, int ms) =>
        {
            for (int i = 0; i < n; i++)
                await Call(context.Tally(), "/steps/{n:int}/{ms:int}", "step (Clrscope.Steps)", async () =>
                {
                    using Activity? activity = s_steps.StartActivity("step");
                    await Task.Delay(ms);
                });
            return "stepped\n";
        });
        app.MapGet("/enqueue/{n:int}/{ms:int}", (int n, int ms) =>
        {
            for (int i = 0; i < n; i++) Queue.Add(ms);
            return "enqueued\n";
        });
    }

    public static bool HaveListeners => s_steps.HasListeners();

    // `route`: null = of no request.
    public static Task Get(Tally tally, string? route, string path) =>
        Call(tally, route, $"HTTP {Self.Authority}", () => s_client.GetStringAsync(new Uri(Self, path)));

    static async Task Call(Tally tally, string? route, string operation, Func<Task> call)
    {
        long start = Stopwatch.GetTimestamp();
        bool failed = false;
        try
        {
            await call();
        }
        catch (HttpRequestException)
        {
            failed = true;
        }
        tally.Ledger.OperationOf(new OperationKey(route, operation)).Add(tally, (long)Stopwatch.GetElapsedTime(start).TotalNanoseconds, failed);
    }
}
