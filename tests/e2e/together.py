# SPDX-License-Identifier: Apache-2.0
"""Two tools on one process: each gets its events, and where one silences the other it is noticed, told and repaired."""
import os
import signal
import subprocess
import time

from clock import clock
import harness
from harness import Case, Workload, clrscope, loss, report, start_recording

SIGMAS = 5


def sigma(row):
    return (row["bytes_high"] - row["bytes_low"]) / (2 * 1.96)


class Together(Case):
    def stop(self, recording):
        recording.send_signal(signal.SIGINT)
        _, words = recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 0, words)
        return recording.said + words

    def test_two_recordings_of_one_process_see_the_same_samples(self):
        with Workload("--bytes", "200000000", "--rate", "200000000", "--threads", "2", "--start-on-stdin", "--hold-on-stdin") as w:
            both = []
            for i in range(2):  # one after the other: the second sees the first
                both.append(start_recording("-p", w.pid, "-o", self.path(f"{i}.clrscope")))
            w.go()
            truth = w.truth()["total_allocated_bytes"]
            time.sleep(0.5)
            words = [self.stop(r) for r in both]
            self.assertTrue(any("another tool" in text for text in words), words)
        totals = [report(self.path(f"{i}.clrscope"))["totals"] for i in range(2)]
        for total in totals:
            self.assertLess(abs(total["bytes"] - truth), SIGMAS * sigma(total) + 2e6)
        # Besides those of the moments when only one of them was there.
        self.assertLess(abs(totals[0]["samples"] - totals[1]["samples"]), 0.02 * totals[0]["samples"] + 20)

    @clock
    def test_ticks_that_another_session_silences_are_told_and_come_back(self):
        with Workload("--seconds", "60", "--rate", "50000000") as w:
            ticks = start_recording("-p", w.pid, "--sampling", "tick", "-o", self.path())
            begun = time.monotonic()
            time.sleep(3.0)
            other = start_recording("-p", w.pid, "-d", "4s", "--sampling", "poisson", "-o", self.path("b.clrscope"))
            silenced = time.monotonic() - begun
            _, said = other.communicate(timeout=60)
            self.assertEqual(other.returncode, 0, said)
            over = time.monotonic() - begun
            time.sleep(10.0)
            words = self.stop(ticks)
        self.assertIn("stopped sending AllocationTick", words)
        self.assertGreater(report(self.path("b.clrscope"))["totals"]["samples"], 500)
        p = report(self.path(), "--by", "time:1s")
        self.assertEqual(loss(p, "ticks_stalled"), 1)
        by_second = {round(r["start_s"]): r["samples"] for r in p["rows"]}
        # The recording's clock began up to a second before its word.
        self.assertLess(by_second.get(round(silenced) + 2, 0), 20, (silenced, by_second))
        repaired = range(round(over) + 6, round(over) + 9)
        self.assertGreater(min(by_second.get(s, 0) for s in repaired), 100, (over, by_second))

    def test_doctor_and_record_tell_of_another_tools_session(self):
        with Workload("--seconds", "60", "--rate", "50000000") as w:
            self.assertNotIn("another tool", clrscope("doctor", w.pid).stdout)
            recording = start_recording("-p", w.pid, "-o", self.path())
            d = clrscope("doctor", w.pid)
            self.assertEqual(d.returncode, 0, d.stdout)
            self.assertIn("--sampling tick", d.stdout)
            self.stop(recording)

    @clock
    def test_beside_dotnet_trace_each_gets_its_events(self):
        tool = harness.dotnet_trace()
        if tool is None:
            self.skipTest("dotnet-trace cannot be installed here")
        for sampling, providers, event in (
                ("tick", "Microsoft-Windows-DotNETRuntime:0x1:5", "tick"),
                ("poisson", "Microsoft-Windows-DotNETRuntime:0x80000000001:4", "sampled")):
            trace, capture = self.path(f"{sampling}.nettrace"), self.path(f"{sampling}.clrscope")
            self.record_beside(tool, sampling, providers, trace, capture)
            a, b = (report(path, "--event", event)["totals"] for path in (capture, trace))
            self.assertGreater(a["samples"], 1500)
            # Before they allocate, only a little comes of the time when one of them was alone.
            self.assertLess(abs(a["samples"] - b["samples"]), 30, (sampling, a["samples"], b["samples"]))

    def record_beside(self, tool, sampling, providers, trace, capture):
        with Workload("--bytes", "200000000", "--rate", "200000000", "--start-on-stdin", "--hold-on-stdin") as w:
            theirs = subprocess.Popen([tool, "collect", "-p", str(w.pid), "--providers", providers, "-o", trace],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 30
            while not os.path.exists(trace) and time.monotonic() < deadline:
                time.sleep(0.1)
            ours = start_recording("-p", w.pid, "--sampling", sampling, "-o", capture)
            time.sleep(1.0)
            w.go()
            w.truth()
            time.sleep(1.0)
            self.stop(ours)
            theirs.send_signal(signal.SIGINT)
            self.addCleanup(theirs.kill)
            theirs.wait(timeout=60)
