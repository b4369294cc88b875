// SPDX-License-Identifier: Apache-2.0
// The outermost of the pipeline, but for error pages: brings each request into the ledger.
using System.Diagnostics;

namespace Clrscope.Workloads.Routes;

static class Middleware
{
    public static async Task Invoke(HttpContext context, RequestDelegate next)
    {
        if (context.Features.Get<Tally>() is not null)  // it runs again for an error page
        {
            await next(context);
            return;
        }
        long start = Stopwatch.GetTimestamp();
        Ledger ledger = Ledger.Current;
        var tally = new Tally(ledger);
        bool counted = !ControlEndpoints.IsPath(context.Request.Path);
        if (counted) Ledger.BeginRequest();
        context.Features.Set(tally);
        Exception? failure = null;
        try
        {
            Markers.Middleware(tally);
            await next(context);
        }
        catch (Exception e)
        {
            failure = e;
            throw;
        }
        finally
        {
            bool left = failure is OperationCanceledException or IOException && context.RequestAborted.IsCancellationRequested;
            int status = Status(context, failure, left);
            var key = new RowKey((context.GetEndpoint() as RouteEndpoint)?.RoutePattern.RawText, context.Request.Method, status);
            bool error = status >= 500 || (failure is not null && !left);
            ledger.RowOf(key).Add(tally, (long)Stopwatch.GetElapsedTime(start).TotalNanoseconds, error, left);
            if (counted) Ledger.EndRequest();
        }
    }

    public static Tally Tally(this HttpContext context) => context.Features.Get<Tally>()!;

    // The server sets it only once the exception has come to it.
    static int Status(HttpContext context, Exception? failure, bool left)
    {
        if (failure is null || context.Response.HasStarted) return context.Response.StatusCode;
        if (left) return StatusCodes.Status499ClientClosedRequest;
        return failure is BadHttpRequestException bad ? bad.StatusCode : StatusCodes.Status500InternalServerError;
    }
}
