# SPDX-License-Identifier: Apache-2.0
"""Native code between methods, on the stacks of allocations that the agent tells."""
import os
import shutil
import subprocess
from unittest import mock

import harness
from harness import Case, Workload, clrscope, report
from lines import marks

# Only .symtab names the inner function. What follows each call keeps it on the stack.
SOURCE = """
typedef int back(int);
static __attribute__((noinline)) int hidden_step(back* call, int n) {
  volatile int sum = call(n);
  return sum + 1;
}
int call_back(back* call, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += hidden_step(call, i);
  return sum;
}
"""
FLAVOURS = ("lines", "lines-net9", "lines-net8")


class NativeCalls(Case):
    def program(self, flavour, *strip):
        """A copy of the workload with the library that it calls beside it."""
        if shutil.which("cc") is None:
            self.skipTest("no cc")
        folder = self.path(flavour)
        if not os.path.exists(folder):
            shutil.copytree(os.path.join(harness.WORKLOADS, flavour), folder)
        source = self.path("back.c")
        with open(source, "w", encoding="ascii") as out:
            out.write(SOURCE)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-Wl,--build-id", *strip, source, "-o", os.path.join(folder, "libback.so")], check=True)
        return folder

    def recorded(self, folder, *options):
        path = self.path("back.clrscope")
        workloads, flavour = os.path.split(folder)
        for seconds in (4, 16, 64):  # as long as code stays new on this machine
            with mock.patch.object(harness, "WORKLOADS", workloads), \
                    Workload("--seconds", str(seconds), "--kinds", "backs", flavour=flavour) as w:
                self.record_to_its_end(w, path, "--live", *options)
            if self.agent["walk_new"] < 0.5 * self.agent["samples"]:
                break
        return path

    def stacks(self, path):
        """Samples by the method that allocates and the native frames up to the method below, leaf first."""
        found = {}
        for row in report(path, "--by", "stack", "-n", "0", "--framework")["rows"]:
            frames = row["frames"]
            at = next((i for i, f in enumerate(frames) if f["method"].endswith((".Backs.ByPointer", ".Backs.ByDelegate"))), None)
            if at is None:
                continue
            between = []
            for f in frames[at + 1:]:
                if f["method"].endswith(".Backs.Calls"):
                    break
                between.append((f["module"], f["method"]))
            key = (frames[at]["method"].rpartition(".")[2], tuple(between))
            found[key] = found.get(key, 0) + sum(part["samples"] for part in row["types"])
        return found

    def check(self, stacks, wanted):
        """Nine of ten samples have the frames that are wanted. The runtime walks a stack with code that is new, and names no native function:
        how long code is new depends on how soon the agent's thread gets a processor."""
        new = self.agent["walk_new"]
        self.assertLess(new, 0.5 * self.agent["samples"], self.agent)
        for method in ("ByPointer", "ByDelegate"):
            whole = sum(n for (of, _), n in stacks.items() if of == method)
            self.assertGreater(whole, 20, stacks)
            named = sum(n for (of, between), n in stacks.items() if of == method and all(w in between for w in wanted))
            self.assertGreater(named + min(new, stacks.get((method, ((None, "[native]"),)), 0)), 0.9 * whole, (stacks, self.agent))

    def test_functions_of_a_library_that_calls_back(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                stacks = self.stacks(self.recorded(self.program(flavour)))
                self.check(stacks, [("libback.so", "hidden_step"), ("libback.so", "call_back")])

    def test_a_library_without_symbols_is_told_by_its_file(self):
        folder = self.program("lines", "-s", "-Wl,--version-script=" + self.script())
        stacks = self.stacks(self.recorded(folder))
        self.check(stacks, [("libback.so", "libback.so"), ("libback.so", "call_back")])

    def script(self):
        path = self.path("exports.map")
        with open(path, "w", encoding="ascii") as out:
            out.write("{ global: call_back; local: *; };")
        return path

    def test_lines_of_what_is_called_back(self):
        known = marks()
        path = self.recorded(self.program("lines"), "--lines")
        rows = report(path, "--by", "line", "-n", "0")["rows"]
        for what, method in (("B01", "ByPointer"), ("B02", "ByDelegate")):
            [(place, _)] = known[what].items()
            of = [r for r in rows if r["method"].endswith(".Backs." + method) and r["self_samples"] > 0]
            self.assertEqual({(os.path.basename(r["file"]), r["line"]) for r in of}, {place})
        pprof = self.path("back.pb")
        self.assert_ok(clrscope("convert", path, "-o", pprof))
        with open(pprof, "rb") as file:
            content = file.read()
        for text in (b"hidden_step", b"libback.so", b"Backs.cs"):
            self.assertIn(text, content)
