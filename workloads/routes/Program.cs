// SPDX-License-Identifier: Apache-2.0
// A web service that knows for itself what each of its routes did: the truth that profiles of requests are held to.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Routes;

static class Program
{
    static async Task<int> Main(string[] args)
    {
        Options options;
        try
        {
            options = Options.Parse(args);
        }
        catch (ArgumentException e)
        {
            Console.Error.WriteLine($"routes: {e.Message}\n\n{Options.Help}");
            return 2;
        }
        if (options.ShowHelp)
        {
            Console.WriteLine(Options.Help);
            return 0;
        }

        RuntimeHelpers.RunClassConstructor(typeof(Markers).TypeHandle);  // all sites are known from here on
        ThreadPool.SetMinThreads(32, 4);  // those that wait at /lock hold up nobody
        WebApplication app = Build(options);
        await app.StartAsync();
        Background.Start(options.Background, options.Holds);
        Operations.Self = new Uri(app.Urls.First());
        Queue.Start();
        if (options.Activities) Jobs.Start();
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId},\"url\":\"{app.Urls.First()}\"}}");
        new Thread(() => StopAtEndOfInput(app.Lifetime)) { IsBackground = true }.Start();
        await app.WaitForShutdownAsync();
        Console.WriteLine(Report.Write(Ledger.Current));
        return 0;
    }

    static WebApplication Build(Options options)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder(new WebApplicationOptions
        {
            ContentRootPath = AppContext.BaseDirectory,
            EnvironmentName = Environments.Production,  // in Development a page of its own answers for /fail
        });
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls(options.Url);
        builder.Services.AddControllers();
        builder.Services.Configure<HostOptions>(o => o.ShutdownTimeout = TimeSpan.FromSeconds(20));
        WebApplication app = builder.Build();

        if (options.ErrorPages)
        {
            app.UseExceptionHandler("/error");
            app.UseStatusCodePagesWithReExecute("/status/{0}");
        }
        app.Use(Middleware.Invoke);
        app.UseRouting();  // without this line it would come before the middleware
        app.UseWebSockets();
        Endpoints.Map(app);
        AsyncEndpoints.Map(app);
        SocketEndpoint.Map(app);
        Operations.Map(app);
        ControlEndpoints.Map(app);
        if (options.ErrorPages) ErrorPages.Map(app);
        app.MapControllers();
        if (options.Areas)
            app.MapControllerRoute("areas", "{area:exists}/{controller=Desk}/{action=Index}/{id?}");
        app.MapControllerRoute("default", "{controller=Home}/{action=Index}/{id?}");
        return app;
    }

    static void StopAtEndOfInput(IHostApplicationLifetime lifetime)
    {
        while (Console.In.ReadLine() is not null) { }
        lifetime.StopApplication();
    }
}
