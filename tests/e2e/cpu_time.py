# SPDX-License-Identifier: Apache-2.0
"""`record --cpu` on programs that burn CPU time in known methods and read their own clocks."""
import contextlib
import glob
import itertools
import json
import os
import signal
import subprocess
import time
import unittest

from clock import clock
import harness
from harness import Case, CpuSpan, Workload, await_recording, clrscope, report
from nobody import Nobody, paranoid

FLAVOURS = ("burns", "burns-net8", "burns-net9")
KINDS = "loops,recursion,generics,delegates,dynamic,async,native,back,callback,exceptions,allocations,garbage,osr,kernel,threads"
# Of the columns of a row: its 95 % interval is 2 standard errors, a test takes 4.
SIGMAS = 2
# Compiled with optimizations at once. Code that is replaced while it runs (OSR) lacks its caller, for the first tenths of a second.
AT_ONCE = {"DOTNET_TieredCompilation": "0"}


class CpuTime(Case):
    def record(self, flavour, *options, program=(), at_ends=lambda pid: None):
        """The workload's truth, and the recording's file; it is over before the program is. `at_ends`: before and after its work."""
        path = self.path(f"{flavour}.clrscope")
        with Workload("--start-on-stdin", "--hold-on-stdin", *program, flavour=flavour) as w:
            self.span = CpuSpan(w.pid)
            recorder = self.start_cpu_recording("-p", w.pid, "--cpu", "-f", "-o", path, *options)
            self.addCleanup(recorder.kill)
            self.span.begun()
            time.sleep(0.5)
            at_ends(w.pid)
            w.go()
            truth = w.truth()
            at_ends(w.pid)
            self.span.ending()
            recorder.send_signal(signal.SIGINT)
            _, self.said = recorder.communicate(timeout=60)
            self.assertEqual(recorder.returncode, 0, self.said)
            self.span.ended()
        return truth, path

    def methods(self, path, *options):
        rows = report(path, "--measure", "cpu", "--by", "method", "-n", "1000", *options)["rows"]
        return {row["method"].rpartition(".")[2].removesuffix(" [async]"): row for row in rows if row["method"].startswith("Clrscope.")}, rows

    def check_near(self, row, truth_ns, what):
        error = (row["total_cpu_ns_high"] - row["total_cpu_ns_low"]) / 2
        self.assertLess(abs(row["total_cpu_ns"] - truth_ns), SIGMAS * error + 0.01 * truth_ns, (what, row, truth_ns))

    @clock
    def test_methods_use_what_they_say(self):
        for flavour, sampler in itertools.product(FLAVOURS, ("kernel", "ptrace")):
            with self.subTest(flavour, sampler=sampler):
                # .NET 8 throws by way of a library's unwinder, of which a good part has no callers.
                kinds = KINDS.replace("exceptions,", "") if flavour == "burns-net8" else KINDS
                truth, path = self.record(flavour, "--sampler", sampler, program=("--seconds", "0.8", "--kinds", kinds))
                document = report(path, "--measure", "cpu", "--by", "method")
                self.check_cpu_total(document["totals"]["cpu_ns"], self.span.within_ns, self.span.around_ns)
                methods, _ = self.methods(path)
                wrong = {}
                for name, ns in truth["methods"].items():
                    try:
                        self.check_near(methods[name], ns, name)
                    except (AssertionError, KeyError) as e:
                        wrong[name] = str(e)
                self.assertEqual(wrong, {})

    def test_a_program_that_ends_by_itself_has_the_systems_sum(self):
        """Readings of threads are once a second, and none comes after the end: samples alone would stand for a period each."""
        program = ("--seconds", "0.3", "--kinds", "loops,threads")
        for launched in (True, False):
            with self.subTest(launched=launched):
                path = self.path("short.clrscope")
                options = ("--only", "cpu", "--sampler", "kernel", "-f", "-o", path)
                if launched:
                    done = clrscope("record", *options, "--", *harness.command("burns"), *program)
                    self.assert_ok(done)
                    truth = json.loads(done.stdout.splitlines()[-1])
                else:
                    with Workload("--start-on-stdin", *program, flavour="burns") as w:
                        recorder = self.start_cpu_recording("-p", w.pid, *options)
                        self.addCleanup(recorder.kill)
                        w.go()
                        truth = w.truth()
                        recorder.communicate(timeout=60)
                totals = report(path, "--measure", "cpu")["totals"]
                self.assertNotEqual(totals["cpu_ns"], totals["samples"] * (10**9 // 99), totals)
                # The runtime's start and its end come on top.
                self.assertGreater(totals["cpu_ns"], truth["process_ns"] - 30e6, (totals, truth))
                self.assertLess(totals["cpu_ns"], truth["process_ns"] + 400e6, (totals, truth))

    @clock
    def test_the_collector_is_a_frame(self):
        """Its own threads, and what a thread of the program does while it collects, below who asked for it."""
        for flavour, server in [*((flavour, False) for flavour in FLAVOURS), (FLAVOURS[0], True)]:
            with self.subTest(flavour, server=server), self.environment(DOTNET_gcServer=str(int(server)), DOTNET_gcConcurrent="0"):
                # Enough samples that 3 % are four standard errors of a share.
                truth, path = self.record(flavour, "--only", "cpu", "--rate", "997", program=("--seconds", "4", "--kinds", "collect"))
                _, rows = self.methods(path)
                collector = next(row for row in rows if row["method"] == "Garbage Collector")
                self.assertEqual(collector["kind"], "gc")
                self.assertEqual(collector["self_cpu_ns"], collector["total_cpu_ns"])
                self.check_near(collector, truth["methods"]["Garbage Collector"], "collector")
                # Of the time in which it collected: before, it made its objects, and the runtime compiled and finalized; the
                # sessions' begin and end and the rundown, which the total has too, are none of it either.
                work_ns = truth["methods"]["Collecting"]
                self.assertLess(abs(truth["methods"]["Garbage Collector"] / work_ns - 0.74), 0.01, truth)
                self.assertLess(abs(collector["total_cpu_ns"] / work_ns - 0.74), 0.03, collector)
                total = report(path, "--measure", "cpu", "--by", "method")["totals"]["cpu_ns"]
                self.check_cpu_total(total, self.span.within_ns, self.span.around_ns)
                if not server:
                    method = next(row for row in rows if row["method"].endswith(".Collecting"))
                    self.assertGreater(method["total_cpu_ns"], 0.95 * collector["total_cpu_ns"])

    @clock
    def test_the_collectors_own_threads(self):
        """What their clocks say."""
        def used(pid):
            spent = 0
            for task in glob.glob(f"/proc/{pid}/task/*"):
                with open(task + "/comm", encoding="utf-8") as name, open(task + "/schedstat", encoding="ascii") as clock:
                    spent += int(clock.read().split()[0]) if name.read().startswith((".NET Server GC", ".NET BGC")) else 0
            return spent
        clocks = []
        with self.environment(DOTNET_gcServer="1", DOTNET_GCHeapCount="2"):
            for flavour in FLAVOURS:
                with self.subTest(flavour):
                    clocks.clear()
                    _, path = self.record(flavour, "--only", "cpu", program=("--seconds", "3", "--kinds", "collect"), at_ends=lambda pid: clocks.append(used(pid)))
                    _, rows = self.methods(path)
                    collector = next(row for row in rows if row["method"] == "Garbage Collector")
                    self.assertLess(abs(collector["total_cpu_ns"] / (clocks[1] - clocks[0]) - 1), 0.05, (collector, clocks))

    @contextlib.contextmanager
    def environment(self, **variables):
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})

    @clock
    def test_kinds_of_code(self):
        for sampler in ("kernel", "ptrace"):
            with self.subTest(sampler):
                truth, path = self.record("burns", "--sampler", sampler, program=("--seconds", "1", "--kinds", "kernel,native,loops"))
                _, rows = self.methods(path)
                by_kind = {}
                for row in rows:
                    by_kind[row["kind"]] = by_kind.get(row["kind"], 0) + row["self_cpu_ns"]
                self.assertGreater(by_kind["native"], 0.8 * truth["methods"]["Native"])  # memset
                self.assertGreater(by_kind["kernel"], 0.5 * truth["methods"]["Kernel"])  # reads of /dev/zero, in part outside of it
                self.assertGreater(by_kind["managed"], 0.8 * (truth["methods"]["LoopLong"] + truth["methods"]["LoopShort"]))
                kernel = next(row for row in rows if row["method"] == "[kernel]")
                self.assertEqual(kernel["kind"], "kernel")

    @clock
    def test_the_kernel_is_preferred(self):
        program = ("--seconds", "0.2", "--kinds", "loops")
        self.record("burns", "--sampler", "kernel", program=program)  # or the test is skipped
        _, path = self.record("burns", program=program)
        self.assertEqual(report(path, "--measure", "cpu")["sampler"], "kernel")

    @unittest.skipUnless(Nobody.can(), "needs root, to be somebody else")
    @clock
    def test_as_a_user_without_privileges(self):
        """Samples of user code; what the kernel did is told by the system's figures."""
        if paranoid() > 2:
            self.skipTest(f"perf_event_paranoid is {paranoid()}")
        nobody = Nobody(self.dir)
        env = {**nobody.env, **AT_ONCE}
        with subprocess.Popen([*nobody.program("burns"), "--seconds", "1", "--kinds", "loops,kernel", "--start-on-stdin", "--hold-on-stdin"],
                              env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as burns:
            self.addCleanup(burns.kill)
            pid = json.loads(burns.stdout.readline())["ready"]
            span = CpuSpan(pid)
            path = self.path("user.clrscope")
            recorder = subprocess.Popen([*nobody.clrscope, "record", "-p", str(pid), "--cpu", "-o", path],
                                        env=env, stderr=subprocess.PIPE, text=True)
            self.addCleanup(recorder.kill)
            await_recording(recorder)
            span.begun()
            time.sleep(0.5)
            burns.stdin.write("go\n")
            burns.stdin.flush()
            truth = json.loads(burns.stdout.readline())
            span.ending()
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate(timeout=60)
            self.assertEqual(recorder.returncode, 0, said)
            span.ended()
            burns.stdin.write("bye\n")
            burns.stdin.close()
        if paranoid() == 2:
            self.assertIn("[kernel]", said)
        self.check_cpu_total(report(path, "--measure", "cpu")["totals"]["cpu_ns"], span.within_ns, span.around_ns, part=0.03)
        methods, rows = self.methods(path)
        self.check_near(methods["LoopLong"], truth["methods"]["LoopLong"], "LoopLong")
        self.check_near(methods["LoopShort"], truth["methods"]["LoopShort"], "LoopShort")
        kernel = next(row for row in rows if row["method"] == "[kernel]")
        self.assertGreater(kernel["self_cpu_ns"], 0.5 * truth["methods"]["Kernel"])

    @clock
    def test_nothing_but_cpu_is_shown_and_written_to_other_files(self):
        _, path = self.record("burns", "--only", "cpu", program=("--seconds", "3", "--kinds", "loops"))
        document = report(path)  # what it holds is shown without being asked for
        self.assertEqual(document["measure"], "cpu")
        total = document["totals"]["cpu_ns"]
        self.check_cpu_total(total, self.span.within_ns, self.span.around_ns)
        times = report(path, "--by", "time")["rows"]
        self.assertLess(abs(sum(row["cpu_ns"] for row in times) - total), 1e5)
        threads = report(path, "--by", "thread", "-n", "1000")["rows"]
        # Threads that ended without a sample are known together.
        self.assertLess(abs(sum(row["cpu_ns"] for row in threads) / total - 1), 0.01)
        pprof = self.path("cpu.pb.gz")
        self.assertEqual(clrscope("convert", path, "-o", pprof).returncode, 0)
        read = report(pprof, "--measure", "cpu")
        self.assertLess(abs(read["totals"]["cpu_ns"] / total - 1), 1e-3)
        folded = self.path("cpu.folded")
        self.assertEqual(clrscope("convert", path, "-o", folded).returncode, 0)
        with open(folded, encoding="utf-8") as f:
            weights = [int(line.rpartition(" ")[2]) for line in f]
        self.assertLess(abs(sum(weights) / total - 1), 1e-3)

    def test_what_cannot_be_had_is_refused(self):
        for options in (("--cpu", "--rate", "0"), ("--cpu", "--rate", "5000")):
            result = clrscope("record", "-p", "1", *options)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("--rate", result.stderr)
