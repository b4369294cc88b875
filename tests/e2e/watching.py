# SPDX-License-Identifier: Apache-2.0
"""`clrscope watch` on live processes: it rotates, survives its targets and its own crash, and ends when it is told to."""
import glob
import json
import os
import signal
import socket
import subprocess
import time

from clock import clock
import harness
from harness import Case, Workload, clrscope, cpu_clock_ns, loss, open_sessions, report, start_clrscope, wait_until


class Watching(Case):
    def start(self, *args, **kwargs):
        self.folder = os.path.join(self.dir, "captures")
        return start_clrscope("watch", "-n", "alloc", "-o", self.folder, *args, **kwargs)

    def captures(self):
        return sorted(glob.glob(os.path.join(self.folder, "*.clrscope")))

    def end(self, watch):
        watch.send_signal(signal.SIGTERM)
        _, words = watch.communicate(timeout=60)
        self.assertEqual(watch.returncode, 0, words)
        return words

    def samples_of(self, pid):
        """By capture; every one must be whole. The last may hold a quiet second alone: then nothing was sampled (exit 3)."""
        out = []
        for path in self.captures():
            r = clrscope("report", path, "--json", "--by", "process")
            self.assertIn(r.returncode, (0, 3), f"{path}: {r.stderr}")
            out.append(sum(row["samples"] for row in json.loads(r.stdout)["rows"] if row["pid"] == pid))
        return out

    @clock
    def test_a_process_goes_on_from_capture_to_capture_without_a_gap(self):
        watch = self.start("--rotate", "10s")
        with Workload("--seconds", "60", "--bytes", "600000000", "--rate", "30000000", "--start-on-stdin", "--hold-on-stdin") as w:
            wait_until(lambda: open_sessions(w.pid), 60, "the watch to join")
            time.sleep(1.0)
            w.go()
            truth = w.truth()
            time.sleep(1.0)
            words = self.end(watch)
        samples = self.samples_of(w.pid)
        self.assertGreaterEqual(sum(n > 0 for n in samples), 3, words)
        estimate, variance = 0.0, 0.0
        for path in self.captures():
            p = report(path, "--by", "process")
            self.assertTrue(all(f["name"] != "unresolved_frames" for f in p["losses"]), p["losses"])
            for row in p["rows"]:
                if row["pid"] == w.pid:
                    estimate += row["bytes"]
                    variance += ((row["bytes_high"] - row["bytes_low"]) / (2 * 1.96)) ** 2
        self.assertLess(abs(estimate - truth["total_allocated_bytes"]), 5 * variance ** 0.5 + 3e6)

    @clock
    def test_a_killed_watch_is_followed_by_one_that_keeps_what_it_wrote(self):
        watch = self.start()
        with Workload("--seconds", "60", "--rate", "50000000") as w:
            wait_until(lambda: open_sessions(w.pid), 60, "the watch to join")
            time.sleep(3.0)
            watch.kill()
            watch.communicate()
            self.assertTrue(glob.glob(os.path.join(self.folder, "*-wal")))
            wait_until(lambda: not open_sessions(w.pid), 60, "the sessions of the killed one to close")
            watch = self.start()
            wait_until(lambda: open_sessions(w.pid), 60, "the next one to join")
            time.sleep(2.0)
            other = clrscope("watch", "-o", self.folder)
            self.assertEqual(other.returncode, 1)
            self.assertIn(str(watch.pid), other.stderr)
            words = self.end(watch)
        self.assertIn("was not closed", words)
        self.assertEqual(glob.glob(os.path.join(self.folder, "*-wal")), [])
        first, second = self.captures()
        r = clrscope("report", first, "--json")
        self.assertEqual(r.returncode, 8)  # it says that it is incomplete
        self.assertGreater(json.loads(r.stdout)["totals"]["samples"], 500)
        self.assertGreater(report(second)["totals"]["samples"], 500)

    def test_the_journal_gets_priorities_and_a_file_gets_times(self):
        watch = self.start()
        wait_until(self.captures, 60, "the watch to begin")
        self.assertRegex(self.end(watch), r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ wrote ")
        ours, theirs = socket.socketpair()
        info = os.fstat(theirs.fileno())
        self.folder = os.path.join(self.dir, "journal")
        watch = subprocess.Popen([harness.CLRSCOPE, "watch", "-n", "alloc", "-o", self.folder], stderr=theirs,
                                 env={**os.environ, "JOURNAL_STREAM": f"{info.st_dev}:{info.st_ino}"})
        theirs.close()
        wait_until(self.captures, 60, "the watch to begin")
        watch.send_signal(signal.SIGTERM)
        self.assertEqual(watch.wait(timeout=60), 0)
        lines = b"".join(iter(lambda: ours.recv(4096), b"")).decode().splitlines()
        ours.close()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, r"^<[3-6]>\S")

    @clock
    def test_cpu_time_goes_on_from_capture_to_capture(self):
        """Of two processes, one of which begins later; each capture stands for itself."""
        self.folder = os.path.join(self.dir, "captures")
        watch = start_clrscope("watch", "-n", "burns", "--only", "cpu", "--cpu", "--rotate", "10s", "-o", self.folder)
        self.addCleanup(watch.kill)
        truths, whole = {}, {}
        program = ("--seconds", "9", "--kinds", "loops", "--start-on-stdin", "--hold-on-stdin")
        with Workload(*program, flavour="burns") as first:
            wait_until(lambda: watch.poll() is not None or open_sessions(first.pid), 60, "the watch to join")
            if watch.poll() is not None:
                self.skipTest(watch.stderr.read().strip())
            time.sleep(0.5)
            first.go()
            with Workload(*program, flavour="burns") as second:
                wait_until(lambda: open_sessions(second.pid), 60, "the watch to join the second one")
                time.sleep(0.5)
                second.go()
                for w in (first, second):
                    truths[w.pid] = w.truth()
                words = self.end(watch)
                for w in (first, second):
                    whole[w.pid] = cpu_clock_ns(w.pid)
        used = dict.fromkeys(truths, 0)
        holding = 0
        for path in self.captures():
            document = report(path, "--measure", "cpu", "--by", "process")
            self.assertEqual(document["sampler"], "kernel")
            self.assertEqual(loss(document, "cpu_samples_lost"), 0)
            holding += document["totals"]["cpu_ns"] > 0
            for row in document["rows"]:
                if row["pid"] in used:
                    used[row["pid"]] += row["cpu_ns"]
        self.assertGreaterEqual(holding, 2, words)
        for pid, truth in truths.items():
            self.check_cpu_total(used[pid], truth["process_ns"], whole[pid], part=0.03)
