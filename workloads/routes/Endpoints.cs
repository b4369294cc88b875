// SPDX-License-Identifier: Apache-2.0
// Routes that end on the thread that they begin on.
namespace Clrscope.Workloads.Routes;

sealed class RouteException(int number) : Exception($"number {number}");

static class Endpoints
{
    public static void Map(WebApplication app)
    {
        app.MapGet("/small", (HttpContext context) =>
        {
            Markers.Small(context.Tally());
            return "small\n";
        });
        app.MapGet("/users/{name}", (HttpContext context, string name) =>
        {
            Markers.User(context.Tally());
            return name;
        }).AddEndpointFilter((invocation, next) =>
        {
            Markers.UserFilter(invocation.HttpContext.Tally());
            return next(invocation);
        });
        app.MapGet("/files/{**path}", (HttpContext context, string? path) =>
        {
            Markers.File(context.Tally());
            return path ?? "";
        });
        app.MapGet("/fail", string (HttpContext context) =>
        {
            Markers.Fail(context.Tally());
            context.Tally().AddException();
            throw new InvalidOperationException("as it was asked to");
        });
        app.MapGet("/notfound", (HttpContext context) =>
        {
            Markers.NotFound(context.Tally());
            return Results.NotFound();
        });
        app.MapGet("/throws/{n:int}", (HttpContext context, int n) => ThrowAndCatch(context.Tally(), n).ToString());
        app.MapGet("/lock/{ms:int}", (HttpContext context, int ms) =>
        {
            Gate.Pass(context.Tally(), ms);
            return "passed\n";
        });
        app.MapGet("/gc", (HttpContext context) =>
        {
            Markers.Collect(context.Tally());
            context.Tally().AddCollection();
            GC.Collect();
            return "collected\n";
        });
        app.MapGet("/greedy", (HttpContext context) =>
        {
            Markers.Greedy(context.Tally());
            return "greedy\n";
        });
        app.MapGet("/keep", (HttpContext context) =>
        {
            Markers.Keep(context.Tally());
            return "kept\n";
        });
        app.MapGet("/hold/{group:int}", async (HttpContext context, int group) =>
        {
            Markers.Hold(context.Tally());
            await Task.Yield();
            Markers.Hold(context.Tally());
            return $"held {group}\n";
        });
    }

    static int ThrowAndCatch(Tally tally, int n)
    {
        int caught = 0;
        for (int i = 0; i < n; i++)
        {
            Markers.Throws(tally);
            try
            {
                tally.AddException();
                throw new RouteException(i);
            }
            catch (RouteException)
            {
                caught++;
            }
        }
        return caught;
    }
}
