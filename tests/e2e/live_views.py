# SPDX-License-Identifier: Apache-2.0
"""`top` in a terminal (tmux) and without one, and `metrics` under Prometheus' own parser, on live processes."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest
import urllib.request

from clock import clock
import harness
from harness import Case, Workload, clrscope, sockets, start_clrscope, wait_until

LOAD = ("--seconds", "120", "--rate", "100000000", "--threads", "2", "--start-on-stdin", "--hold-on-stdin")


class Screen:
    """clrscope in a tmux window of its own."""

    def __init__(self, *args, size=(80, 24)):
        self.name = f"clrscope-test-{os.getpid()}-{time.monotonic_ns()}"
        shell = f"{harness.CLRSCOPE} {' '.join(map(str, args))}; echo ended with $?; stty -a | grep -o -- '-\\?echo ' ; sleep 60"
        self.tmux("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), shell, target=False)

    def tmux(self, *args, target=True):
        command = ["tmux", args[0]] + (["-t", self.name] if target else ["-s", self.name]) + list(args[1:])
        return subprocess.run(command, capture_output=True, text=True, timeout=20, env={**os.environ, "LANG": "C.UTF-8"}).stdout

    def text(self):
        return self.tmux("capture-pane", "-p")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def wait_for(self, pattern, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            text = self.text()
            if re.search(pattern, text):
                return text
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {pattern}\n{self.text()}")

    def end(self):
        self.tmux("kill-session")


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class TopScreen(Case):
    def screen(self, *args, **kwargs):
        screen = Screen(*args, **kwargs)
        self.addCleanup(screen.end)
        return screen

    def test_keys_drill_resize_and_quit(self):
        with Workload(*LOAD) as w:
            before = sockets(w.pid)
            w.go()
            s = self.screen("top", "-p", w.pid)
            text = s.wait_for(r"byte\[\]")
            self.assertIn(f"alloc ({w.pid})", text)
            self.assertRegex(text, r"Alloc +[\d.]+ MiB/s")
            self.assertRegex(text, r"GC +gen0 \d+")
            self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
            s.keys("2")
            s.wait_for(r"byte\[\] ← .*Buffer")
            s.keys("s")
            s.wait_for(r"sort: objects/s")
            s.keys("/")
            s.keys("p", "o", "i", "n", "t")
            s.keys("Enter")
            text = s.wait_for(r"filter: point")
            self.assertNotIn("byte[]", text)
            s.keys("Enter")
            s.wait_for(r"Callers of .*(\n.*)*AllocateOne")
            s.keys("b")
            s.wait_for(r"Call tree of")
            s.keys("Escape")
            s.wait_for(r"sort: objects/s")
            s.keys("Escape")
            s.wait_for(r"byte\[\]")
            s.keys("p")
            frozen = s.wait_for("PAUSED")
            time.sleep(2.5)
            self.assertEqual(frozen.splitlines()[6:], s.text().splitlines()[6:])
            s.keys("p")
            s.keys("?")
            s.wait_for("recording goes on")
            s.keys("x")
            s.keys("t")
            s.wait_for(r"alloc-\d \(\d+\)")
            s.tmux("resize-window", "-x", "120", "-y", "40")
            text = s.wait_for(r"Last 20 s")
            self.assertTrue(any(len(line) > 80 for line in text.splitlines()), text)
            s.keys("q")
            text = s.wait_for(r"ended with 0")
            self.assertNotIn("-echo ", text)  # the terminal is as it was
            wait_until(lambda: sockets(w.pid) == before, 60, "the session is closed")

    def test_a_target_that_dies_is_told(self):
        with Workload(*LOAD) as w:
            w.go()
            s = self.screen("top", "-p", w.pid)
            s.wait_for(r"byte\[\]")
            w.process.kill()
            s.wait_for("has ended")
            s.keys("q")
            s.wait_for("ended with 0")

    def test_a_crash_gives_the_terminal_back(self):
        with Workload(*LOAD) as w:
            w.go()
            s = self.screen("top", "-p", w.pid)
            s.wait_for(r"byte\[\]")
            pid = subprocess.run(["pgrep", "-f", f"clrscope top -p {w.pid}"], capture_output=True, text=True).stdout.split()
            for p in pid:
                if os.path.basename(os.readlink(f"/proc/{p}/exe")) == "clrscope":
                    os.kill(int(p), signal.SIGSEGV)
            text = s.wait_for(r"ended with 139")
            self.assertNotIn("-echo ", text)


class TopPlain(Case):
    @clock
    def test_figures_agree_with_the_truth(self):
        with Workload("--bytes", "200000000", "--rate", "100000000", "--threads", "2", "--start-on-stdin", "--hold-on-stdin") as w:
            top = start_clrscope("top", "-p", w.pid, "--jsonl", "--by", "site")
            first = top.stdout.readline()  # it is there
            w.go()
            allocated = w.truth()["total_allocated_bytes"]
            lines = [json.loads(first)]
            while lines[-1]["totals"]["samples"] > 0 or lines[-1]["totals"]["bytes"] == 0:  # until a window is empty again
                lines.append(json.loads(top.stdout.readline()))
            top.send_signal(signal.SIGINT)
            top.communicate(timeout=60)
            self.assertEqual(top.returncode, 0)
        # 2,000 samples: five standard errors are 11 %; before and after it allocates a little too.
        last = lines[-1]
        self.assertLess(abs(last["totals"]["bytes"] - allocated), 0.11 * allocated + 2e6)
        self.assertEqual(last["processes"][0]["pid"], w.pid)
        self.assertGreater(sum(last["processes"][0]["collections"]), 0)
        busy = max(lines, key=lambda line: line["totals"]["bytes_per_s"])
        self.assertIn("Buffer", busy["rows"][0]["method"])
        self.assertLess(busy["totals"]["bytes_per_s_low"], busy["totals"]["bytes_per_s"])
        self.assertGreater(busy["totals"]["bytes_per_s_high"], busy["totals"]["bytes_per_s"])

    def test_tables_and_mistakes(self):
        with Workload(*LOAD) as w:
            w.go()
            out = clrscope("top", "-n", "alloc", "-d", "4s").stdout
        self.assertRegex(out, r"byte\[\]")
        self.assertEqual(clrscope("top").returncode, 2)
        self.assertEqual(clrscope("top", "-p", "4194303").returncode, 4)

    def test_threads_have_their_names(self):
        with Workload("--storm", "200", "--seconds", "60", "--without-first-chance", "--threads", "2", flavour="throws") as w:
            r = clrscope("top", "-p", w.pid, "--measure", "exceptions", "--by", "thread", "--jsonl", "-d", "4s")
            self.assert_ok(r)
        rows = json.loads(r.stdout.splitlines()[-1])["rows"]
        self.assertEqual({row["name"] for row in rows}, {"storm-0", "storm-1"})
        self.assertTrue(all(row["thread"].startswith("thread ") for row in rows))


class Metrics(Case):
    def get(self, port, accept="text/plain"):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.headers["Content-Type"], response.read().decode()

    @clock
    def test_prometheus_reads_them(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with Workload(*LOAD) as w:
            w.go()
            server = start_clrscope("metrics", "-p", w.pid, "--listen", f"127.0.0.1:{port}")
            self.addCleanup(server.kill)
            line = server.stderr.readline()
            self.assertIn(f":{port}/metrics", line)
            soh = rf'clrscope_allocated_bytes_total{{process="alloc",pid="{w.pid}",heap="soh"}} (\d+)'
            wait_until(lambda: int(re.search(soh, self.get(port)[1])[1]) > 50e6, 60, "allocations are counted")
            kind, text = self.get(port)
            self.assertIn("0.0.4", kind)
            self.assertRegex(text, r'dotnet_gc_collections_total\{.*gen0"\} \d+')
            self.assertRegex(text, r"dotnet_gc_pause_time_seconds_total\{.*\} 0\.\d+")
            self.assertRegex(text, r'last_collection_heap_size_bytes\{.*"poh"\} \d+')
            if shutil.which("promtool"):
                check = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
                self.assertEqual((check.returncode, check.stdout + check.stderr), (0, ""))
            kind, text = self.get(port, "application/openmetrics-text; version=1.0.0")
            self.assertIn("openmetrics", kind)
            self.assertTrue(text.endswith("# EOF\n"))
            self.assertIn("# TYPE clrscope_allocated_bytes counter", text)
            taken = clrscope("metrics", "-p", w.pid, "--listen", f"127.0.0.1:{port}")
            self.assertEqual(taken.returncode, 1)
            self.assertIn("in use", taken.stderr)
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(timeout=60), 0)
            server.stderr.close()
            server.stdout.close()

    def test_top_tells_exceptions(self):
        with Workload("--storm", "300", "--seconds", "60", "--share", "0.2", "--start-on-stdin", flavour="throws") as w:
            w.go()
            r = clrscope("top", "-p", w.pid, "--measure", "exceptions", "--jsonl", "-d", "6s")
            self.assert_ok(r)
            last = json.loads(r.stdout.splitlines()[-1])
            self.assertEqual(last["measure"], "exceptions")
            self.assertEqual(last["totals"]["rethrows"], 0)
            self.assertGreater(last["totals"]["count_per_s"], 30)  # as many as a busy machine lets it throw
            self.assertLess(last["totals"]["count_per_s"], 400)
            self.assertEqual({row["type"].rpartition(".")[2] for row in last["rows"]}, {"CommonError", "RareError"})
            self.assertEqual(sum(row["count"] for row in last["rows"]), last["totals"]["count"])
            table = clrscope("top", "-p", w.pid, "--measure", "locks", "-d", "3s").stdout
            self.assertIn("nothing yet", table)

    def test_exceptions_and_locks_are_counted(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with Workload("--start-on-stdin", "--hold-on-stdin", "--kinds", "plain,async,hardware", flavour="throws") as w:
            server = start_clrscope("metrics", "-p", w.pid, "--listen", f"127.0.0.1:{port}", "--exceptions", "--locks")
            self.addCleanup(server.kill)
            self.assertIn(f":{port}/metrics", server.stderr.readline())
            wait_until(lambda: "clrscope_events_dropped" in self.get(port)[1], 60, "the process is joined")
            w.go()
            truth = w.truth()
            counted = re.compile(r'dotnet_exceptions_total\{.*error_type="(.*)"\} (\d+)')
            total = lambda: sum(int(n) for _, n in counted.findall(self.get(port)[1]))
            wait_until(lambda: total() == truth["throws"], 60, "exceptions are counted")
            text = self.get(port)[1]
            self.assertEqual({t["event_type"]: t["throws"] for t in truth["types"] if t["throws"]}, {t: int(n) for t, n in counted.findall(text) if int(n)})
            self.assertRegex(text, rf"clrscope_exceptions_rethrown_total\{{.*\}} {truth['rethrows']}\n")
            self.assertRegex(text, r"dotnet_monitor_lock_contentions_total\{.*\} \d+")
            self.assertNotIn("clrscope_waits_total", text)
            if shutil.which("promtool"):
                check = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
                self.assertEqual((check.returncode, check.stdout + check.stderr), (0, ""))
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(timeout=60), 0)
            server.stderr.close()
            server.stdout.close()


if __name__ == "__main__":
    harness.main(__name__)
