// SPDX-License-Identifier: Apache-2.0
// Pages that a request runs again for when it has failed, by whatever method.
namespace Clrscope.Workloads.Routes;

static class ErrorPages
{
    public static void Map(WebApplication app)
    {
        app.Map("/error", () => Results.Text("sorry\n", statusCode: StatusCodes.Status500InternalServerError));
        app.Map("/status/{code:int}", (int code) => Results.Text($"status {code}\n", statusCode: code));
    }
}
