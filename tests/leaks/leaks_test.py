#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verdicts of `clrscope leaks` on real processes whose leaks and caches are known (workloads/leaks).

A recording of 30 s judges the time from its second 15 on: what fills within the first five seconds is over by then."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
from clock import clock
import harness
from harness import Case, clrscope, start_clrscope, wait_until

SECONDS = 30
SITES = {"list": "StaticList.Add", "handlers": "Handlers.Subscribe", "timers": "Timers.StartOne", "slow": "SlowLeak.Add",
         "refreshed": "Refreshed.Load", "lru": "Lru.Read", "stabilising": "Stabilising.Add", "loaded": "Loaded.Add"}
TYPES = {"list": "Item[]", "handlers": "Subscriber[]", "timers": "TimerState[]", "slow": "Slow[]", "refreshed": "Entry[]",
         "lru": "Page[]", "stabilising": "Node[]", "loaded": "Table[]"}


class Recording:
    """One program and, as soon as the agent is there and the program was let go, its recording; both go on meanwhile."""

    def __init__(self, folder, flavour, *args, seconds=SECONDS):
        self.folder = folder
        self.path = os.path.join(folder, "x.clrscope")
        self.env = {**os.environ, "TMPDIR": folder}
        program = os.path.join(harness.WORKLOADS, flavour)
        command = ["dotnet", f"{program}/leaks.dll"] if flavour == "leaks" else [f"{program}/leaks"]
        self.process = subprocess.Popen([*command, "--seconds", str(seconds + 15), "--start-on-stdin", *args], env=self.env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = json.loads(self.process.stdout.readline())["ready"]
        self.seconds = seconds
        self.record()
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def record(self):
        for _ in range(4):
            self.recorder = start_clrscope("record", "-p", self.pid, "--live", "-d", f"{self.seconds}s", "-o", self.path, env=self.env)
            wait_until(lambda: self.recorder.poll() is not None or self.attached(), 60, "the agent is there")
            if self.recorder.poll() is None:
                return
            # A runtime that does not answer in time: the machine has other work.
            words = self.recorder.communicate()[1]
            if "try again" not in words:
                break
        raise AssertionError(f"not recorded: {words}")

    def attached(self):
        return clrscope("status", "-p", self.pid, "--json", env=self.env).returncode == 0

    def suspects(self):
        _, words = self.recorder.communicate(timeout=120)
        if self.recorder.returncode != 0:
            raise AssertionError(words)
        self.end()
        told = clrscope("leaks", self.path, "--json")
        suspects = json.loads(told.stdout)["suspects"] if told.returncode == 0 else []
        if not suspects:
            raise AssertionError(f"no suspects: {told.returncode} {told.stderr} {told.stdout[:2000]} of a recording that said {words}")
        return suspects

    def end(self):
        for process in (self.recorder, self.process):
            if process.poll() is None:
                process.kill()
            process.communicate()


def row_of(suspects, name):
    """That of the site's own arrays."""
    rows = [s for s in suspects if s["site"].endswith(SITES[name]) and s["type"].endswith(".Leaks." + TYPES[name])]
    if len(rows) != 1:
        raise AssertionError(f"{name}: {len(rows)} rows of {[(s['site'], s['type']) for s in suspects]}")
    return rows[0]


@clock
class Verdicts(Case):
    @classmethod
    def setUpClass(cls):
        # All of them at once: what is judged does not depend on the machine's speed, and each takes half a minute.
        cls.folder = tempfile.TemporaryDirectory(prefix="clrscope-leaks-")
        cls.recordings, cls.results = {}, {}
        everything = ("leaks", "--run", "list,handlers,timers,slow,refreshed,lru,stabilising,loaded")
        wanted = {"together": everything, "garbage": ("leaks", "--run", "slow", "--garbage", "1e9"),
                  "net9": ("leaks-net9", *everything[1:]), "net8": ("leaks-net8", *everything[1:])}
        for name, args in wanted.items():
            if not os.path.isdir(os.path.join(harness.WORKLOADS, args[0])):
                continue
            folder = os.path.join(cls.folder.name, name)
            os.mkdir(folder)
            cls.recordings[name] = Recording(folder, *args)

    @classmethod
    def tearDownClass(cls):
        for recording in cls.recordings.values():
            recording.end()
        cls.folder.cleanup()

    def suspects(self, name):
        if name not in self.recordings:
            self.skipTest(f"the workload of {name} was not built")
        if name not in self.results:
            self.results[name] = self.recordings[name].suspects()
        return self.results[name]

    def check(self, suspects, verdicts):
        for name, verdict in verdicts.items():
            row = row_of(suspects, name)
            self.assertEqual(row["verdict"], verdict, f"{name}: {row}")

    def test_leaks_are_growing_and_caches_are_not(self):
        suspects = self.suspects("together")
        self.check(suspects, {"list": "growing", "handlers": "growing", "timers": "growing", "slow": "growing",
                              "refreshed": "refreshed", "lru": "refreshed", "stabilising": "steady", "loaded": "steady"})
        growing = [s for s in suspects if s["verdict"] == "growing"]
        # What is held by a leak grows with it: delegates, closures, timers, the arrays of lists.
        leaking = tuple(SITES[n] for n in ("list", "handlers", "timers", "slow"))
        for row in growing:
            self.assertTrue(row["site"].endswith(leaking), row)
            self.assertGreater(row["slope_low"], 0)
            self.assertGreater(row["survived_gen2"], 5)

    def test_the_slope_is_the_programs_own(self):
        # 2,000 arrays a second of 15 * 64 + 24 bytes. On a machine that is busy elsewhere the program stalls and catches up, so
        # that the window's own rate is not known better than this; simulated programs hold the interval itself to account.
        row = row_of(self.suspects("together"), "list")
        self.assertLess(abs(row["slope_bytes_per_s"] / (2000 * 984) - 1), 0.5, row)
        self.assertLess(row["slope_low"], row["slope_bytes_per_s"])
        self.assertGreater(row["slope_high"], row["slope_bytes_per_s"])

    def test_one_object_a_second_among_a_gigabyte_of_garbage(self):
        suspects = self.suspects("garbage")
        self.check(suspects, {"slow": "growing"})
        self.assertEqual(suspects[0]["site"].split(".")[-2], "SlowLeak")
        for row in suspects[1:]:
            self.assertNotEqual(row["verdict"], "growing", row)

    def test_older_runtimes(self):
        for name in ("net9", "net8"):
            with self.subTest(name):
                suspects = self.suspects(name)
                self.check(suspects, {"list": "growing", "timers": "growing", "refreshed": "refreshed", "lru": "refreshed",
                                      "stabilising": "steady", "loaded": "steady"})
                for row in suspects:
                    self.assertIsNone(row["slope_low"])


class Memory(Case):
    """What a process's memory grows by: outside of the GC's heap, and in it."""
    SECONDS = 20
    NATIVE = ("--run", "native", "--garbage", "0")
    RECORDINGS = {"native": ("leaks", *NATIVE), "no GC": ("leaks", *NATIVE, "--gc-every", "0"), "native-net9": ("leaks-net9", *NATIVE),
                  "native-net8": ("leaks-net8", *NATIVE), "list": ("leaks", "--run", "list", "--garbage", "0")}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="clrscope-leaks-")
        cls.recordings = {}
        for name, args in cls.RECORDINGS.items():
            if not os.path.isdir(os.path.join(harness.WORKLOADS, args[0])):
                continue
            folder = os.path.join(cls.folder.name, name)
            os.mkdir(folder)
            cls.recordings[name] = Recording(folder, *args, seconds=cls.SECONDS)

    @classmethod
    def tearDownClass(cls):
        for recording in cls.recordings.values():
            recording.end()
        cls.folder.cleanup()

    def told(self, name):
        """The line's figures, its text and the exit code; and what the program says that it made."""
        if name not in self.recordings:
            self.skipTest(f"the workload of {name} was not built")
        r = self.recordings[name]
        _, words = r.recorder.communicate(timeout=120)
        self.assertEqual(r.recorder.returncode, 0, words)
        window, = json.loads(clrscope("leaks", r.path, "--json").stdout)["windows"]
        text = clrscope("leaks", r.path)
        made, _ = r.process.communicate(timeout=120)
        return window["memory"], " ".join(text.stdout.split()), text, json.loads(made.splitlines()[-1])

    def check_native(self, name):
        memory, text, verb, made = self.told(name)
        seconds = memory["to"]["at_s"] - memory["from"]["at_s"]
        # 4 MiB a second while it runs, and no more than it says itself.
        self.assertGreater(memory["grown_bytes"], seconds * (2 << 20), memory)
        self.assertLess(memory["grown_bytes"], made["native"]["made"] << 20, memory)
        self.assertGreater(memory["to"]["private_bytes"], memory["from"]["private_bytes"] + seconds * (2 << 20), memory)
        self.assertLess(memory["gc_at_most_bytes"], memory["grown_bytes"] / 2, memory)
        self.assertTrue(memory["mostly_outside_gc"], memory)
        self.assertIn("Most of the growth is outside of the GC's heap", text)
        self.assertIn(verb.returncode, (0, 3), verb.stderr)  # whether an object was sampled
        return memory, text, verb

    def test_growth_outside_of_the_heap(self):
        for name in ("native", "native-net9", "native-net8"):
            with self.subTest(name):
                memory, _, _ = self.check_native(name)
                grown = memory["gc_to"]["committed_bytes"] - memory["gc_from"]["committed_bytes"]
                self.assertGreater(memory["gc_from"]["committed_bytes"], 1 << 19)
                self.assertLess(grown, 8 << 20, memory)

    def test_growth_outside_of_the_heap_without_a_collection(self):
        memory, text, verb = self.check_native("no GC")
        self.assertIsNone(memory["gc_to"])
        self.assertIn("GC heap not known", text)
        # The line is there although no object is.
        self.assertEqual(verb.returncode, 3)
        self.assertIn("that has survived a GC lives in this window", verb.stderr)

    def test_growth_of_the_heap(self):
        memory, text, verb, made = self.told("list")
        self.assertEqual(verb.returncode, 0, verb.stderr)
        grown = memory["gc_to"]["committed_bytes"] - memory["gc_from"]["committed_bytes"]
        self.assertGreater(grown, 4 << 20, memory)
        # Arrays of 15 * 64 + 24 bytes, and the list of them, which doubles.
        self.assertLess(grown, 2 * made["list"]["made"] * 984, memory)
        self.assertGreaterEqual(memory["gc_at_most_bytes"], grown)
        self.assertFalse(memory["mostly_outside_gc"], memory)
        self.assertIn("committed at", text)
        self.assertNotIn("outside of the GC's heap", text)


if __name__ == "__main__":
    harness.main("__main__")
