# SPDX-License-Identifier: Apache-2.0
"""`--sampler runtime`, and what `top` and `metrics` tell of processors and the pool, on live processes."""
import gzip
import json
import re
import shutil
import signal
import socket
import time
import unittest
import urllib.request

from clock import clock
from harness import Case, Workload, clrscope, report, start_clrscope, start_recording, wait_until
from live_views import Screen

FLAVOURS = ("burns", "burns-net8", "burns-net9")


class RuntimeSampler(Case):
    def record(self, flavour, *program):
        path = self.path(f"{flavour}.clrscope")
        with Workload("--start-on-stdin", "--hold-on-stdin", *program, flavour=flavour) as w:
            recorder = start_recording("-p", w.pid, "--only", "cpu", "--sampler", "runtime", "-f", "-o", path)
            self.addCleanup(recorder.kill)
            time.sleep(0.5)
            w.go()
            truth = w.truth()
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate(timeout=60)
            self.assertEqual(recorder.returncode, 0, said)
            self.assertIn("stops the program 1,000 times a second", said)
        return truth, path

    @clock
    def test_managed_methods_run_and_the_others_wait(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                if flavour == "burns-net9":
                    self.check_no_mode()
                    continue
                truth, path = self.record(flavour, "--seconds", "1.5", "--kinds", "loops,recursion")
                document = report(path, "--measure", "cpu", "--by", "method")
                self.assertEqual(document["sampler"], "runtime")
                self.assertEqual(document["event"], "ThreadSample")
                self.assertIn("native code", document["notes"][0])
                methods = {row["method"].rpartition(".")[2]: row for row in document["rows"]}
                self.assertEqual(len([r for r in document["rows"] if r["kind"] != "managed"]), 0)
                # Shares: how long the whole took also depends on who else has the processors.
                whole = sum(truth["methods"].values())
                for name in ("LoopLong", "LoopShort", "Recurse"):
                    share = methods[name]["total_cpu_ns"] / document["totals"]["cpu_ns"]
                    self.assertLess(abs(share - truth["methods"][name] / whole), 0.12, (name, share, truth))
                states = {row["state"]: row for row in report(path, "--measure", "wall", "--by", "state", "--all-states")["rows"]}
                self.assertEqual(states["running"]["samples"], document["totals"]["samples"])
                # Main waited for its input before and after it ran.
                waited = sum(row["wall_ns"] for state, row in states.items() if state != "running")
                self.assertGreater(waited, 0.3e9, states)
                # A thread's samples cover the time that it was there.
                threads = report(path, "--measure", "wall", "--by", "thread", "--all-states")["rows"]
                main = max(threads, key=lambda row: row["wall_ns"])
                self.assertLess(abs(main["wall_ns"] / 1e9 / document["duration_s"] - 1), 0.3, (main, document["duration_s"]))
                only = report(path, "--measure", "wall", "--by", "stack", "--state", "running", "--method", "Recurse")
                self.assertGreater(len(only["rows"]), 0)
                self.assertLess(only["totals"]["wall_ns"], states["running"]["wall_ns"])
                self.check_pulses(flavour)

    def check_no_mode(self):
        """.NET 9 reports of threads that they do not run, but for some that start: there is wall time alone, and that is said."""
        _, path = self.record("burns-net9", "--seconds", "0.5", "--kinds", "loops,threads")
        empty = clrscope("report", path, "--measure", "cpu")
        self.assertEqual(empty.returncode, 3, empty.stderr)
        self.assertIn("dotnet/runtime#123996", empty.stderr)
        shown = report(path, "--by", "state")
        self.assertEqual(shown["measure"], "wall", "what the file holds")
        wall = report(path, "--measure", "wall", "--by", "state", "--all-states")
        self.assertIn("dotnet/runtime#123996", wall["notes"][0])
        states = {row["state"]: row for row in wall["rows"]}
        self.assertNotIn("running", states)
        ran = report(path, "--measure", "wall", "--by", "method", "--state", "unknown")["rows"]
        self.assertTrue(any(row["method"].endswith("LoopLong") for row in ran), ran)

    def check_pulses(self, flavour):
        """Rounds of samples are rarer where a thread runs: each stands for the time since the one before."""
        truth, path = self.record(flavour, "--seconds", "0.6", "--kinds", "pulses")
        rows = report(path, "--measure", "cpu", "--by", "method")["rows"]
        pulse = next(row for row in rows if row["method"].endswith("Pulse"))
        # By the program's clock, as the rounds themselves, for which the thread is stopped, count as running.
        self.assertLess(abs(pulse["total_cpu_ns"] / truth["methods"]["PulseWall"] - 1), 0.08, (pulse, truth))
        # The system does not say how much it was: ±1.96/√n, but for the share of wall time.
        half = (pulse["total_cpu_ns_high"] - pulse["total_cpu_ns_low"]) / 2 / pulse["total_cpu_ns"]
        self.assertGreater(half, 1.5 / pulse["total_samples"] ** 0.5, pulse)

    def test_exports_and_sql_have_states(self):
        _, path = self.record("burns", "--seconds", "0.5", "--kinds", "loops")
        rows = json.loads(clrscope("query", path, "--json", "select state, sum(samples) n from wall group by state").stdout)
        rows = {row["state"]: row["n"] for row in (rows["rows"] if isinstance(rows, dict) else rows)}
        states = {row["state"]: row["samples"] for row in report(path, "--measure", "wall", "--by", "state", "--all-states")["rows"]}
        self.assertEqual(rows, states)
        for name in ("x.pb.gz", "x.speedscope.json", "x.folded", "x.html"):
            self.assert_ok(clrscope("convert", path, "-o", self.path(name), "--measure", "wall"))
        with gzip.open(self.path("x.pb.gz")) as f:
            pprof = f.read()
        for word in (b"wall", b"nanoseconds", b"state", b"running"):
            self.assertIn(word, pprof)

    def test_mistakes_are_told(self):
        with Workload("--start-on-stdin", flavour="burns") as w:
            for args, said in ((("--cpu", "--sampler", "runtime", "--rate", "50"), "cannot be told otherwise"),
                               (("--sampler", "runtime"), "--sampler is of CPU time")):
                r = clrscope("record", "-p", w.pid, "-d", "1s", "-o", self.path(), *args)
                self.assertEqual(r.returncode, 2, r.stderr)
                self.assertIn(said, r.stderr)


class LiveProcessors(Case):
    BURN = ("--start-on-stdin", "--seconds", "60", "--kinds", "loops")

    @unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
    def test_keys_of_cpu_and_wall_time(self):
        with Workload(*self.BURN, flavour="burns") as w:
            w.go()
            s = Screen("top", "-p", w.pid, "--cpu", "--sampler", "runtime", "--pool", size=(110, 30))
            self.addCleanup(s.end)
            s.wait_for(r"Used +\d\.\d+ processors   Pool \d+ threads")
            s.keys("c")
            s.wait_for(r"CPU +[\d.]+ m?s/s(.*\n)*.*Runs in(.*\n)*.*Kinds\.\w+")
            s.keys("Enter")
            s.wait_for(r"Callers of Clrscope\.\S+ since the start")
            s.keys("Escape")
            s.keys("w")
            text = s.wait_for(r"Wall +[\d.]+ m?s/s(.*\n)*.*Spent in")
            self.assertTrue(all(len(line) <= 110 for line in text.splitlines()), text)
            s.keys("q")
            s.wait_for("ended with 0")

    @unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
    def test_what_is_not_sampled_is_said(self):
        with Workload(*self.BURN, flavour="burns") as w:
            w.go()
            s = Screen("top", "-p", w.pid, size=(100, 24))
            self.addCleanup(s.end)
            s.wait_for(r"Used +\d\.\d+ processors")
            s.keys("c")
            s.wait_for("CPU time is not sampled: start top with --cpu")
            s.keys("w")
            s.wait_for("wall time is not sampled")

    def test_metrics_tell_processors_and_the_pool(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with Workload(*self.BURN, flavour="burns") as w:
            w.go()
            server = start_clrscope("metrics", "-p", w.pid, "--pool", "--cpu", "--sampler", "runtime", "--listen", f"127.0.0.1:{port}")
            self.addCleanup(server.kill)
            server.stderr.readline()

            def text():
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as response:
                    return response.read().decode()

            def value(name):
                found = re.search(rf'^{name}{{process="burns",pid="{w.pid}"[^}}]*}} ([\d.e+-]+)$', text(), re.M)
                return float(found[1]) if found else -1

            wait_until(lambda: value("clrscope_thread_pool_threads") >= 0, 60, "the pool is told")
            self.assertGreaterEqual(value("dotnet_thread_pool_queue_length"), 0)
            first = value("clrscope_process_cpu_seconds_total")
            self.assertGreater(first, 0)
            wait_until(lambda: value("clrscope_process_cpu_seconds_total") > first + 0.2, 60, "CPU time goes on")
            wait_until(lambda: value("clrscope_cpu_time_seconds_total") > 0.2, 60, "it is sampled")


class CpuCompared(Case):
    @clock
    def test_a_method_that_runs_longer_is_named(self):
        files = []
        for name, kinds in (("before", "loops"), ("after", "loops,recursion")):
            path = self.path(f"{name}.clrscope")
            with Workload("--start-on-stdin", "--hold-on-stdin", "--seconds", "1", "--kinds", kinds, flavour="burns") as w:
                recorder = start_recording("-p", w.pid, "--only", "cpu", "--sampler", "runtime", "-f", "-o", path)
                self.addCleanup(recorder.kill)
                time.sleep(0.5)
                w.go()
                w.truth()
                recorder.send_signal(signal.SIGINT)
                recorder.communicate(timeout=60)
            files.append(path)
        r = clrscope("diff", *files, "--measure", "cpu", "--by", "stack", "--json")
        self.assert_ok(r)
        document = json.loads(r.stdout)
        self.assertEqual((document["measure"], document["metric"]), ("cpu", "cpu_ns"))
        self.assertGreater(document["totals"]["difference"], 0.5e9)
        self.assertTrue(document["totals"]["changed"])
        r = clrscope("diff", *files, "--measure", "cpu", "--fail-on", "cpu_ns>+10%")
        self.assertEqual(r.returncode, 7, r.stdout + r.stderr)
        self.assertEqual(clrscope("diff", *files, "--measure", "wall", "--json").returncode, 0)
