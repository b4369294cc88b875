# SPDX-License-Identifier: Apache-2.0
"""`record --cpu --sampler agent` on programs that burn CPU time in known methods; and what it leaves behind."""
import json
import os
import signal
import time

from clock import clock
import cpu_time
import harness
from harness import Case, CpuSpan, Workload, clrscope, loss, report, start_recording


def timers(pid):
    with open(f"/proc/{pid}/timers", encoding="ascii") as f:
        return f.read()


def signals_caught(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return [line for line in f if line.startswith(("SigIgn", "SigCgt"))]


class AgentCpu(Case):
    methods = cpu_time.CpuTime.methods
    check_near = cpu_time.CpuTime.check_near
    KINDS = cpu_time.KINDS

    def sampled(self, flavour, *options, program=(), env=None, **process):
        """The workload's truth, and the recording's file; it is over before the program is."""
        path = self.path(f"{flavour}.clrscope")
        with Workload("--start-on-stdin", "--hold-on-stdin", *program, flavour=flavour, env=env) as w:
            self.span = CpuSpan(w.pid)
            recorder = start_recording("-p", w.pid, "--cpu", "-f", "-o", path, *options, **process)
            self.addCleanup(recorder.kill)
            self.span.begun()
            time.sleep(0.5)
            w.go()
            truth = w.truth()
            self.span.ending()
            recorder.send_signal(signal.SIGINT)
            _, words = recorder.communicate(timeout=60)
            self.said = recorder.said + words
            self.assertEqual(recorder.returncode, 0, self.said)
            self.span.ended()
            self.assertEqual(timers(w.pid), "")
        return truth, path

    def check_total(self, path):
        """Sums are the system's own."""
        document = report(path, "--measure", "cpu", "--by", "method")
        self.assertEqual(document["sampler"], "agent")
        total = document["totals"]["cpu_ns"]
        self.assertLessEqual(self.span.within_ns, total)
        self.assertLessEqual(total, self.span.around_ns)
        return document

    @clock
    def test_methods_use_what_they_say(self):
        for flavour in ("burns", "burns-net9", "burns-net8"):
            with self.subTest(flavour):
                # .NET 8 throws by way of a library's unwinder, of which a good part has no callers.
                kinds = self.KINDS.replace("exceptions,", "") if flavour == "burns-net8" else self.KINDS
                truth, path = self.sampled(flavour, "--sampler", "agent", program=("--seconds", "0.8", "--kinds", kinds))
                self.check_total(path)
                methods, rows = self.methods(path)
                wrong = {}
                for name, ns in truth["methods"].items():
                    try:
                        self.check_near(methods[name], ns, name)
                    except (AssertionError, KeyError) as e:
                        wrong[name] = str(e)
                self.assertEqual(wrong, {})
                own = [row for row in rows if row["method"] == "[clrscope agent]"]
                self.assertEqual(len(own), 1)
                self.assertLess(own[0]["self_cpu_ns"], 0.02 * truth["process_ns"])

    @clock
    def test_kinds_of_code(self):
        truth, path = self.sampled("burns", "--sampler", "agent", program=("--seconds", "1", "--kinds", "kernel,native,loops"))
        _, rows = self.methods(path)
        by_kind = {}
        for row in rows:
            by_kind[row["kind"]] = by_kind.get(row["kind"], 0) + row["self_cpu_ns"]
        self.assertGreater(by_kind["native"], 0.8 * truth["methods"]["Native"])  # memset
        self.assertGreater(by_kind["kernel"], 0.5 * truth["methods"]["Kernel"])
        self.assertGreater(by_kind["managed"], 0.8 * (truth["methods"]["LoopLong"] + truth["methods"]["LoopShort"]))

    @clock
    def test_the_kernel_is_preferred(self):
        with Workload("--start-on-stdin", flavour="burns") as w:
            if clrscope("record", "-p", w.pid, "--cpu", "--sampler", "kernel", "-d", "0.5", "-o", self.path("k.clrscope")).returncode != 0:
                self.skipTest("the kernel's sampler is not to be had here")
            self.assert_ok(clrscope("record", "-p", w.pid, "--cpu", "-d", "0.5", "-o", self.path("a.clrscope")))
        self.assertEqual(report(self.path("a.clrscope"), "--measure", "cpu")["sampler"], "kernel")

    @clock
    def test_a_program_with_signals_of_its_own(self):
        program = ("--seconds", "2", "--kinds", "loops", "--own-sigprof")
        with Workload(*program, flavour="burns") as w:
            alone = w.truth()
        truth, path = self.sampled("burns", "--sampler", "agent", program=program)
        self.assertGreater(alone["sigprof"], 50)
        self.assertGreater(truth["sigprof"] / truth["process_ns"], 0.8 * alone["sigprof"] / alone["process_ns"])
        self.check_total(path)

    @clock
    def test_threads_that_come_and_go(self):
        truth, path = self.sampled("burns", "--sampler", "agent", program=("--seconds", "2", "--kinds", "churn", "--idle-threads", "200"))
        document = self.check_total(path)
        methods, rows = self.methods(path)
        short = methods["ShortThread"]["total_cpu_ns"]
        self.assertGreater(short, 0.5 * truth["methods"]["ShortThread"])
        gap = sum(row["self_cpu_ns"] for row in rows if row["method"] == "(not sampled)")
        self.assertLess(short + gap, 1.05 * truth["process_ns"])
        self.assertEqual(loss(document, "cpu_samples_lost"), 0)

    def test_nothing_is_left_behind(self):
        with Workload("--start-on-stdin", "--hold-on-stdin", "--kinds", "loops", "--seconds", "0.2", flavour="burns") as w:
            def look():
                return timers(w.pid), len(os.listdir(f"/proc/{w.pid}/fd")), signals_caught(w.pid)

            def record(i):
                self.assert_ok(clrscope("record", "-p", w.pid, "--only", "cpu", "--sampler", "agent", "-d", "0.3", "-q", "-f", "-o", self.path(f"{i % 2}.clrscope")))
            record(0)
            before = look()
            for i in range(19):
                record(i)
            def clean():  # right after the first one the runtime had yet to close some
                now = look()
                return now[0] == "" and now[1] <= before[1] and now[2] == before[2]
            harness.wait_until(clean, 60, f"as before: {before}")
            w.go()
            self.assertIn("methods", w.truth())

    @clock
    def test_beside_live_objects(self):
        _, path = self.sampled("burns", "--sampler", "agent", "--live", program=("--seconds", "1", "--kinds", "loops,allocations"))
        self.check_total(path)
        self.assertGreater(report(path)["totals"]["bytes"], 0)

    @clock
    def test_a_launched_program(self):
        path = self.path("launched.clrscope")
        program = os.path.join(harness.WORKLOADS, "burns", "burns.dll")
        result = clrscope("record", "--cpu", "--sampler", "agent", "-o", path, "--", "dotnet", program, "--seconds", "1", "--kinds", "loops",
                          env={**os.environ, **cpu_time.AT_ONCE})
        self.assert_ok(result)
        truth = json.loads(result.stdout.splitlines()[-1])
        methods, _ = self.methods(path)
        self.check_near(methods["LoopLong"], truth["methods"]["LoopLong"], "LoopLong")

    @clock
    def test_a_rate_above_the_ticks_of_the_kernel(self):
        truth, path = self.sampled("burns", "--sampler", "agent", "--rate", "1000", program=("--seconds", "3", "--kinds", "loops"))
        self.check_total(path)
        samples = report(path, "--measure", "cpu")["totals"]["samples"]
        real = samples / (truth["process_ns"] / 1e9)
        if real < 900:
            self.assertRegex(self.said, "samples for each second of CPU time, not 1000|times for each second of CPU time, not 1000")

    def test_what_cannot_be_had_is_refused(self):
        for options, word in ((("-p", "1", "--sampler", "agent"), "--cpu"), (("--all", "--cpu", "--sampler", "agent"), "--all"),
                              (("-p", "1", "--cpu", "--sampler", "clock"), "--sampler")):
            result = clrscope("record", *options)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(word, result.stderr)
