// SPDX-License-Identifier: Apache-2.0
// Routes of MVC: one by attributes, whose template has no leading slash, actions of a conventional one, and, with --areas, one of an area.
using Microsoft.AspNetCore.Mvc;

namespace Clrscope.Workloads.Routes;

[Route("api/things")]
public sealed class ThingsController : ControllerBase
{
    [HttpGet("{id}")]
    public async Task<string> Get(int id)
    {
        await Task.Yield();
        Markers.Thing(HttpContext.Tally());
        return id.ToString();
    }
}

public sealed class HomeController : ControllerBase
{
    public string Index()
    {
        Markers.HomeIndex(HttpContext.Tally());
        return "index\n";
    }

    public string About(int? id)
    {
        Markers.HomeAbout(HttpContext.Tally());
        return $"about {id}\n";
    }

    public string Fail() => throw new RouteException(0);

    public IActionResult Busy() => StatusCode(StatusCodes.Status503ServiceUnavailable);
}

[Area("Admin")]
public sealed class DeskController : ControllerBase
{
    public string Index(int? id)
    {
        Markers.HomeAbout(HttpContext.Tally());
        return $"desk {id}\n";
    }
}
