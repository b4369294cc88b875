// SPDX-License-Identifier: Apache-2.0
// What a service keeps in a steady state, some 100 MB: sessions that expire a while after their last
// request, a pool of connections that are made anew now and then, and texts of which the least recently
// used make room for new ones. All of it is full after the warm-up and none of it grows.
using System.Collections.Concurrent;
using System.Text;

namespace Clrscope.Workloads.Web;

static class Steady
{
    const int SessionsAtMost = 8_000, ConnectionCount = 64, TextCount = 5_000, Users = 40_000;
    static readonly TimeSpan s_lifetime = TimeSpan.FromSeconds(20);

    sealed class Session
    {
        public readonly string Id = Guid.NewGuid().ToString();
        public readonly List<string> Basket = [];
        public readonly byte[] State = new byte[4_000];
        public long LastUsed;
    }

    sealed class Connection
    {
        public readonly byte[] Send = new byte[64_000], Receive = new byte[64_000];
        public readonly Dictionary<string, string> Prepared = [];
        public int Uses;
    }

    static readonly ConcurrentDictionary<int, Session> s_sessions = new();
    static readonly ConcurrentBag<Connection> s_pool = [];
    static readonly Dictionary<int, LinkedListNode<(int Key, string Text)>> s_texts = [];
    static readonly LinkedList<(int Key, string Text)> s_order = new();
    static long s_swept;

    public static int Sessions => s_sessions.Count;

    static Steady()
    {
        for (int i = 0; i < ConnectionCount; i++) s_pool.Add(new Connection());
        for (int user = 0; user < SessionsAtMost; user++) Find(user);
        for (int key = 0; key < TextCount; key++) Text(key);
    }

    public static string Serve()
    {
        Session session = Find(Random.Shared.Next(Users));
        lock (session.Basket)
        {
            session.Basket.Add("article " + session.Basket.Count);
            if (session.Basket.Count > 20) session.Basket.Clear();
        }
        string text = Text((int)(TextCount * 4 * Math.Pow(Random.Shared.NextDouble(), 3)));
        Query(session);
        Sweep();
        return text.Length.ToString();
    }

    static Session Find(int user)
    {
        Session session = s_sessions.GetOrAdd(user, _ => new Session());
        session.LastUsed = Environment.TickCount64;
        return session;
    }

    static void Query(Session session)
    {
        if (!s_pool.TryTake(out Connection? c)) c = new Connection();
        string statement = "select " + Random.Shared.Next(50);
        c.Prepared.TryAdd(statement, statement + " from sessions where id = '" + session.Id + "'");
        // A connection is closed after a while, as pools do.
        if (++c.Uses > 5_000) c = new Connection();
        if (s_pool.Count < ConnectionCount) s_pool.Add(c);
    }

    static string Text(int key)
    {
        lock (s_texts)
        {
            if (s_texts.TryGetValue(key, out var node))
            {
                s_order.Remove(node);
                s_order.AddFirst(node);
                return node.Value.Text;
            }
            if (s_texts.Count >= TextCount)
            {
                s_texts.Remove(s_order.Last!.Value.Key);
                s_order.RemoveLast();
            }
            var text = new StringBuilder();
            while (text.Length < 3_000) text.Append("line ").Append(text.Length).Append(" of page ").Append(key).Append('\n');
            s_texts[key] = s_order.AddFirst((key, text.ToString()));
            return s_order.First!.Value.Text;
        }
    }

    // Once a second: the expired go, and the oldest when there are too many.
    static void Sweep()
    {
        long now = Environment.TickCount64, last = Interlocked.Read(ref s_swept);
        if (now - last < 1000 || Interlocked.CompareExchange(ref s_swept, now, last) != last) return;
        foreach (var (user, session) in s_sessions)
            if (now - session.LastUsed > s_lifetime.TotalMilliseconds) s_sessions.TryRemove(user, out _);
        int over = s_sessions.Count - SessionsAtMost;
        if (over <= 0) return;
        foreach (var (user, _) in s_sessions.OrderBy(s => s.Value.LastUsed).Take(over)) s_sessions.TryRemove(user, out _);
    }
}
