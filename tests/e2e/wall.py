# SPDX-License-Identifier: Apache-2.0
"""`record --wall` on a program whose threads wait in known ways for known times."""
import json
import os
import signal
import subprocess
import time
import unittest

from clock import clock
from harness import Case, Workload, await_recording, report, start_recording, thread_states, wait_until
from nobody import Nobody

# By what the program tells: the state, and the method.
WAITS = {"sleep": ("sleep", "SleepFor"), "lock": ("lock", "WaitForLock"), "wait": ("wait", "WaitForSignal"), "io": ("io", "ReadSocket"),
         "file": ("io", "WaitForFile"), "pool": ("wait", "BlockPool"), "running": ("running", "Burn")}


@clock
class Wall(Case):
    def record(self, flavour, *program):
        path = self.path(flavour + ".clrscope")
        with Workload("--start-on-stdin", "--hold-on-stdin", *program, flavour=flavour) as w:
            recorder = start_recording("-p", w.pid, "--wall", "--only", "wall", "-f", "-o", path)
            self.addCleanup(recorder.kill)
            time.sleep(1)
            w.go()
            truth = w.truth()
            time.sleep(0.5)
            self.end_recording(recorder)
        return truth["states"], path

    def check(self, truth, path):
        for told_as, (state, name) in WAITS.items():
            rows = report(path, "--measure", "wall", "--by", "state", "--method", f"Program\\.{name}")["rows"]
            told = {row["state"]: row["wall_ns"] / 1e9 for row in rows}
            if state == "running":
                told.pop("runnable", 0)  # others had the CPU meanwhile
            with self.subTest(told_as):
                self.assertAlmostEqual(told.get(state, 0), truth[told_as], delta=max(0.03 * truth[told_as], 0.06), msg=told)
                self.assertLess(sum(ns for other, ns in told.items() if other != state), 0.03 * truth[told_as], told)

    def test_each_state_is_told_with_its_method(self):
        for flavour in ("waits", "waits-net8", "waits-net9"):
            with self.subTest(flavour):
                self.check(*self.record(flavour))

    def test_many_short_waits(self):
        truth, path = self.record("waits", "--short-ms", "2")
        (thread,) = report(path, "--measure", "wall", "--by", "thread", "--method", "Program\\.SleepFor")["rows"]
        sleeper = ("--thread", f"^{thread['thread']}$", "--all-states")
        all_of_it = report(path, "--measure", "wall", "--by", "state", *sleeper)["rows"]
        elapsed = truth["sleep_elapsed"]
        self.assertAlmostEqual(sum(row["wall_ns"] for row in all_of_it) / 1e9, elapsed, delta=0.03 * elapsed, msg=all_of_it)
        # It also runs between its sleeps, and waits for a CPU where others have it.
        slept = sum(row["wall_ns"] for row in all_of_it if row["state"] not in ("running", "runnable"))
        rows = report(path, "--measure", "wall", "--by", "state", "--method", "Program\\.SleepFor")["rows"]
        told = {row["state"]: row["wall_ns"] for row in rows}
        self.assertGreater(told["sleep"], 0.97 * slept, (told, all_of_it))
        self.assertAlmostEqual(told["sleep"] / 1e9, truth["sleep"], delta=0.03 * truth["sleep"] + 0.02, msg=(told, all_of_it))

    def test_who_is_stopped_by_collections_waits_for_them(self):
        for flavour in ("waits", "waits-net8", "waits-net9"):
            with self.subTest(flavour):
                truth, path = self.record(flavour, "--collections", "20")
                rows = report(path, "--measure", "wall", "--by", "state", "--method", "Program\\.SpinThroughCollections")["rows"]
                told = {row["state"]: row["wall_ns"] / 1e9 for row in rows}
                self.assertLessEqual(set(told), {"gc", "running"}, told)
                slack = 0.03 * truth["gc"] + 0.02
                self.assertAlmostEqual(told["gc"], truth["gc"], delta=slack, msg=(told, truth))
                self.assertLess(told["gc"], truth["pauses"] + slack, (told, truth))

    def test_all_threads_all_the_time(self):
        _, path = self.record("waits")
        document = report(path, "--measure", "wall", "--by", "thread", "--all-states", "-n", "1000")
        main = max(document["rows"], key=lambda row: row["wall_ns"])
        # The first thread was there all along; so was the recording, but for its begin.
        self.assertGreater(main["wall_ns"] / 1e9, 4.2)
        hidden = report(path, "--measure", "wall", "--by", "state")
        self.assertNotIn("idle", {row["state"] for row in hidden["rows"]})

    @unittest.skipUnless(Nobody.can(), "needs root, to be somebody else")
    def test_a_user_without_privileges(self):
        nobody = Nobody(self.dir)
        with subprocess.Popen([*nobody.program("waits"), "--start-on-stdin", "--hold-on-stdin"], env=nobody.env, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as waits:
            self.addCleanup(waits.kill)
            pid = json.loads(waits.stdout.readline())["ready"]
            path = self.path("user.clrscope")
            recorder = subprocess.Popen([*nobody.clrscope, "record", "-p", str(pid), "--wall", "--only", "wall", "-o", path],
                                        env=nobody.env, stderr=subprocess.PIPE, text=True)
            self.addCleanup(recorder.kill)
            await_recording(recorder)
            time.sleep(1)
            waits.stdin.write("go\n")
            waits.stdin.flush()
            truth = json.loads(waits.stdout.readline())["states"]
            time.sleep(0.5)
            self.end_recording(recorder)
            waits.stdin.write("bye\n")
            waits.stdin.close()
        self.check(truth, path)


class WallUntilTheEnd(Case):
    def test_what_threads_waited_until_the_process_was_killed(self):
        path = self.path("killed.clrscope")
        with Workload("--start-on-stdin", "--hold-on-stdin", flavour="waits") as w:
            # The last look is some time ago then.
            recorder = start_recording("-p", w.pid, "--wall", "--only", "wall", "--rate", "5", "-f", "-o", path)
            self.addCleanup(recorder.kill)
            time.sleep(1)
            before = len(thread_states(w.pid))
            w.go()
            wait_until(lambda: len(thread_states(w.pid)) >= before + 6, 30, "its threads wait")
            time.sleep(0.6)
            os.kill(w.pid, signal.SIGKILL)
            _, said = recorder.communicate(timeout=60)
            self.assertEqual(recorder.returncode, 0, said)
        for state, name in (("sleep", "SleepFor"), ("lock", "WaitForLock")):
            rows = report(path, "--measure", "wall", "--by", "state", "--method", f"Program\\.{name}")["rows"]
            told = {row["state"]: row["wall_ns"] / 1e9 for row in rows}
            self.assertGreater(told.get(state, 0), 0.1, told)
