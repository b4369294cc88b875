// SPDX-License-Identifier: Apache-2.0
// Routes by which a test steers: they are marked in the ledger and in none of its sums.
namespace Clrscope.Workloads.Routes;

static class ControlEndpoints
{
    const string LedgerRoute = "/ledger", ResetRoute = "/reset", BegunRoute = "/begun/{token}";

    public static void Map(WebApplication app)
    {
        app.MapGet(LedgerRoute, () => Results.Text(Report.Write(Ledger.Current), "application/json"));
        app.MapGet(ResetRoute, () =>
        {
            Ledger.Reset();
            return "reset\n";
        });
        // Answers once the request with this token has begun.
        app.MapGet(BegunRoute, async (string token) =>
        {
            await Begun.WaitFor(token);
            return "begun\n";
        });
    }

    public static bool IsRoute(string? route) => route is LedgerRoute or ResetRoute or BegunRoute;
    public static bool IsPath(PathString path) => path == LedgerRoute || path == ResetRoute || path.StartsWithSegments("/begun");
}
