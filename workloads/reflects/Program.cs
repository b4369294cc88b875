// SPDX-License-Identifier: Apache-2.0
// Reads attributes by reflection, on all threads at once, as serializers and containers of services do: most of it is reading metadata.
//   reflects [THREADS]     default: 2
// Prints {"ready":PID}. At each line on standard input it works for one round and prints {"operations":N}: how many methods it looked at. At
// the end of its input it ends with code 0.
using System.Reflection;

namespace Clrscope.Workloads.Reflects;

static class Program
{
    const int LooksPerRound = 600;  // of each thread at each type
    static readonly Type[] s_types = [typeof(string), typeof(Dictionary<,>), typeof(Task), typeof(Enum), typeof(DateTime)];

    static int Main(string[] args)
    {
        int threads = 2;
        if (args.Length > 1 || (args.Length == 1 && (!int.TryParse(args[0], out threads) || threads is < 1 or > 64)))
        {
            Console.Error.WriteLine("usage: reflects [THREADS]");
            return 2;
        }
        Console.WriteLine($"{{\"ready\":{Environment.ProcessId}}}");
        while (Console.In.ReadLine() != null)
        {
            long operations = 0;
            var round = new Thread[threads];
            for (int i = 0; i < threads; i++)
            {
                round[i] = new Thread(() => Interlocked.Add(ref operations, Look()));
                round[i].Start();
            }
            foreach (Thread thread in round) thread.Join();
            Console.WriteLine($"{{\"operations\":{operations}}}");
        }
        return 0;
    }

    static long Look()
    {
        long operations = 0;
        for (int i = 0; i < LooksPerRound; i++)
            foreach (Type type in s_types)
                foreach (MethodInfo method in type.GetMethods())
                {
                    if (method.GetCustomAttributesData().Count > 1000) throw new InvalidOperationException("no method has so many");
                    operations++;
                }
        return operations;
    }
}
