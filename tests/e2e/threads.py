# SPDX-License-Identifier: Apache-2.0
"""Who allocated what, by thread and type both, against a program whose threads count for themselves."""

import harness
from harness import Case, await_sampling, clrscope, report

# By chance once in 1.7 million: a test makes some fifty comparisons.
SIGMAS = 5
LOAD = ("--bytes", "600000000", "--rate", "300000000", "--threads", "3", "--lean", "--seed", "3")


def sigma(row):
    return (row["bytes_high"] - row["bytes_low"]) / (2 * 1.96)


class Threads(Case):
    def record_load(self, flavour, *options):
        opened = {"opened": await_sampling} if "--live" in options else {}
        truth, _ = self.record(flavour, *options, program=LOAD, **opened)
        return truth

    def check_types_of_threads(self, truth):
        """Each type of each thread is what the thread counted, within five standard errors."""
        checked = 0
        for thread in truth["by_thread"]:
            rows = report(self.path(), "--by", "type", "--thread", f"^{thread['thread']}$", "-n", "0")["rows"]
            told = {}
            for row in rows:
                told.setdefault(row["type"], []).append(row)
            counted = {}
            for t in thread["types"]:
                counted[t["type"]] = t["bytes"]
            for name, found in told.items():
                if sum(r["samples"] for r in found) < 30 or name not in counted:
                    continue
                error = sum(sigma(r) ** 2 for r in found) ** 0.5
                estimate = sum(r["bytes"] for r in found)
                self.assertLess(abs(estimate - counted[name]), SIGMAS * error + 0.002 * counted[name], (thread["name"], name))
                checked += 1
        self.assertGreaterEqual(checked, 6)

    def check_threads_of_types(self, truth):
        """The other way round, the same figures; and all threads add up to the type."""
        for name in ("byte\\[\\]", "string", "Order"):
            rows = report(self.path(), "--by", "thread", "--type", f"(^|\\.){name}$", "-n", "0")
            whole = report(self.path(), "--by", "type", "--type", f"(^|\\.){name}$")["totals"]
            self.assertEqual(sum(r["samples"] for r in rows["rows"]), whole["samples"], name)
            for thread in truth["by_thread"]:
                one = report(self.path(), "--type", f"(^|\\.){name}$", "--thread", f"^{thread['thread']}$")["totals"]
                row = [r for r in rows["rows"] if r["thread"] == thread["thread"]]
                self.assertEqual(sum(r["samples"] for r in row), one["samples"], (name, thread))
                self.assertLess(abs(sum(r["bytes"] for r in row) - one["bytes"]), 2 + 1e-3 * one["bytes"])

    def check_times(self):
        """Spans of time of a type add up to the type."""
        for arguments in (("--type", "byte"), ("--method", "MixSites"), ("--type", "byte", "--thread", "alloc-1")):
            times = report(self.path(), "--by", "time:1s", *arguments)
            self.assertGreater(times["totals"]["samples"], 0, arguments)
            self.assertEqual(sum(r["samples"] for r in times["rows"]), times["totals"]["samples"], arguments)
            self.assertLess(abs(sum(r["bytes"] for r in times["rows"]) - times["totals"]["bytes"]), 1e-3 * times["totals"]["bytes"] + len(times["rows"]))

    def test_samples_are_told_by_type_and_thread(self):
        truth = self.record_load("alloc")
        self.check_types_of_threads(truth)
        self.check_threads_of_types(truth)
        self.check_times()
        names = {r["thread"]: r["name"] for r in report(self.path(), "--by", "thread")["rows"]}
        for thread in truth["by_thread"]:
            self.assertEqual(names[thread["thread"]], thread["name"])
        self.assertGreater(report(self.path(), "--thread", "^alloc-2$")["totals"]["bytes"], 50e6)

    def test_ticks_are_told_by_type_and_thread(self):
        for flavour in ("alloc-net8", "alloc-net9"):
            truth = self.record_load(flavour)
            self.check_threads_of_types(truth)
            self.check_times()
            rows = {r["thread"]: r["bytes"] for r in report(self.path(), "--by", "thread", "-n", "0")["rows"]}
            for thread in truth["by_thread"]:
                # A tick is charged to the thread that ends its stride of 100 KB.
                self.assertLess(abs(rows[thread["thread"]] - thread["allocated_bytes"]), 0.15 * thread["allocated_bytes"])

    def test_the_agent_tells_them_too(self):
        truth = self.record_load("alloc", "--live")
        self.check_types_of_threads(truth)
        self.check_threads_of_types(truth)
        self.check_times()

    def test_counts_say_that_they_are_kept_apart(self):
        r = clrscope("record", "-o", self.path(), "--types", "all", "--", "dotnet", f"{harness.WORKLOADS}/alloc/alloc.dll", "--bytes", "2000000", "--threads", "2")
        self.assert_ok(r)
        self.assertGreater(len(report(self.path(), "--by", "thread")["rows"]), 1)
        for arguments in (("--by", "type", "--thread", "alloc-0"), ("--by", "thread", "--type", "byte")):
            r = clrscope("report", self.path(), *arguments)
            self.assertEqual(r.returncode, 2)
            self.assertIn("not by both", r.stderr)
        times = report(self.path(), "--by", "time:1s", "--type", "byte")
        self.assertEqual(sum(t["objects"] for t in times["rows"]), times["totals"]["objects"])
