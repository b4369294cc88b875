#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes C# sources that make the compiler work: usage: corpus.py FOLDER FILES. Prints the response file."""
import glob
import os
import subprocess
import sys

METHOD = """  public Dictionary<string,List<int>> F{m} = new();
  public async Task<int> M{m}(int a, string s, Func<int,int> g) {{
    var q = Enumerable.Range(0,a).Select(x => x*{m}+g(x)).Where(x => x%3==0 || s.Length>x).GroupBy(x=>x%7)
      .ToDictionary(x=>x.Key.ToString(), x=>x.ToList());
    foreach (var kv in q) {{
      if (!F{m}.TryGetValue(kv.Key, out var l)) F{m}[kv.Key]=l=new List<int>();
      l.AddRange(kv.Value); await Task.Yield();
    }}
    int Local(int z) => z + a + {m};
    var t = (Local(a), s, q.Count); string r = $"{{t.Item1}}-{{t.s}}-{{t.Count}}";
    return r switch {{ "a" => 1, "b" => 2, _ when a>3 => Local(5), _ => r.Length }};
  }}
  public IEnumerable<(int,string)> I{m}(int n) {{ for (int i=0;i<n;i++) {{ yield return (i, i.ToString()+"{m}"); }} }}
"""


def main():
    folder, files = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    for f in range(files):
        with open(os.path.join(folder, f"g{f}.cs"), "w") as out:
            out.write("using System; using System.Collections.Generic; using System.Linq; using System.Threading.Tasks;\n")
            out.write(f"namespace Gen{f} {{\n")
            for c in range(12):
                out.write(f"public class C{f}_{c}<T> where T: class, new() {{\n")
                for m in range(14):
                    out.write(METHOD.format(m=m))
                out.write("}\n")
            out.write("}\n")
    base = os.path.dirname(os.path.realpath(subprocess.run(["which", "dotnet"], capture_output=True, text=True).stdout.strip()))
    references = sorted(glob.glob(os.path.join(base, "packs/Microsoft.NETCore.App.Ref/*/ref/net10.0/*.dll")))
    response = os.path.join(folder, "corpus.rsp")
    with open(response, "w") as out:
        out.writelines(f"-r:{r}\n" for r in references)
        out.write(f"-target:library\n-nowarn:*\n-nologo\n-langversion:latest\n-out:{folder}/corpus.dll\n{folder}/g*.cs\n")
    print(response)


if __name__ == "__main__":
    main()
