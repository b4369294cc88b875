// SPDX-License-Identifier: Apache-2.0
// A websocket that echoes, and allocates at each message and all the time that it is open.
using System.Net.WebSockets;

namespace Clrscope.Workloads.Routes;

static class SocketEndpoint
{
    public static void Map(WebApplication app) => app.MapGet("/ws", Serve);

    static async Task Serve(HttpContext context, IHostApplicationLifetime lifetime)
    {
        if (!context.WebSockets.IsWebSocketRequest)
        {
            context.Response.StatusCode = StatusCodes.Status400BadRequest;
            return;
        }
        Tally tally = context.Tally();
        using WebSocket socket = await context.WebSockets.AcceptWebSocketAsync();
        using var end = CancellationTokenSource.CreateLinkedTokenSource(lifetime.ApplicationStopping, context.RequestAborted);
        Task alive = Live(tally, end.Token);
        try
        {
            await Echo(socket, tally, end.Token);
        }
        catch (Exception e) when (e is WebSocketException or OperationCanceledException)
        {
            // Its client is gone, or the service ends.
        }
        end.Cancel();
        await alive;
    }

    static async Task Echo(WebSocket socket, Tally tally, CancellationToken end)
    {
        var buffer = new byte[1000];
        while (true)
        {
            WebSocketReceiveResult received = await socket.ReceiveAsync(buffer, end);
            if (received.MessageType == WebSocketMessageType.Close) break;
            Markers.SocketMessage(tally);
            await socket.SendAsync(buffer.AsMemory(0, received.Count), received.MessageType, received.EndOfMessage, end);
        }
        await socket.CloseAsync(WebSocketCloseStatus.NormalClosure, null, end);
    }

    static async Task Live(Tally tally, CancellationToken end)
    {
        while (!end.IsCancellationRequested)
        {
            Markers.SocketAlive(tally);
            await Task.Delay(10, CancellationToken.None);
        }
    }
}
