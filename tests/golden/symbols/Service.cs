using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Shop
{
    public class OrderService
    {
        public async Task<byte[]> LoadAsync(int size)
        {
            var before = new byte[size];
            await Task.Yield();
            var after = new byte[size + before.Length];
            return after;
        }

        public IEnumerable<string> Names(int count)
        {
            for (int i = 0; i < count; i++)
                yield return new string('x', i);
        }

        public int Sum(List<int> items)
        {
            int sum = 0;
            items.ForEach(item => sum += item);
            return Twice(sum);

            static int Twice(int value)
            {
                return 2 * value;
            }
        }

        public object Caught(string? text)
        {
            try
            {
                return text!.ToUpperInvariant();
            }
            catch (NullReferenceException e) when (e.Message.Length > 0)
            {
                return new object();
            }
            finally
            {
                GC.KeepAlive(text);
            }
        }

        public string Mapped(int kind)
        {
            switch (kind)
            {
                case 0: return "zero";
#line 7 "Generated/Template.razor"
                case 1: return new string('r', 7);
#line hidden
                case 2: return "hidden";
#line default
                default: return kind.ToString();
            }
        }
    }
}
