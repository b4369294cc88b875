# SPDX-License-Identifier: Apache-2.0
"""`record --cpu` on programs that have many threads or are killed, with each sampler."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest
from types import SimpleNamespace

import harness
from harness import Case, Workload, loss, report, start_clrscope

SAMPLERS = ("kernel", "agent")


class CpuHazards(Case):
    def begin(self, w, sampler):
        path = self.path(f"{sampler}.clrscope")
        recorder = start_clrscope("record", "-p", w.pid, "--only", "cpu", "--sampler", sampler, "-f", "-o", path, "--no-progress")
        self.addCleanup(recorder.kill)
        first = recorder.stderr.readline()
        if "the kernel's sampler is" in first:
            self.skipTest(first.strip())
        self.assertIn("Recording", first)
        time.sleep(0.5)
        return recorder, path

    def test_a_thousand_threads(self):
        for sampler in SAMPLERS:
            with self.subTest(sampler), Workload("--idle-threads", "1000", "--seconds", "1.5", "--kinds", "loops,threads",
                                                 "--start-on-stdin", "--hold-on-stdin", flavour="burns") as w:
                recorder, path = self.begin(w, sampler)
                w.go()
                open_files = len(os.listdir(f"/proc/{recorder.pid}/fd"))
                truth = w.truth()
                recorder.send_signal(signal.SIGINT)
                said = recorder.stderr.read()
                self.assertEqual(recorder.wait(60), 0, said)
                document = report(path, "--measure", "cpu", "--by", "method")
                total = document["totals"]["cpu_ns"]
                self.assertLess(abs(total / truth["process_ns"] - 1), 0.03, (total, truth["process_ns"]))
                self.assertEqual(loss(document, "cpu_samples_lost"), 0)
                if sampler == "agent" or document["sampler"] == "kernel" and os.geteuid() == 0:
                    self.assertLess(open_files, 200)  # not one for each thread
                gap = sum(row["self_cpu_ns"] for row in document["rows"] if row["method"] == "(not sampled)")
                self.assertLess(gap, 0.1 * total)

    def test_a_program_that_is_killed(self):
        """What was used until then is there."""
        for sampler in SAMPLERS:
            with self.subTest(sampler), Workload("--seconds", "60", "--kinds", "loops", "--start-on-stdin", flavour="burns") as w:
                recorder, path = self.begin(w, sampler)
                ticks = os.sysconf("SC_CLK_TCK")

                def used():
                    with open(f"/proc/{w.pid}/stat", encoding="ascii") as f:
                        fields = f.read().rpartition(")")[2].split()
                    return (int(fields[11]) + int(fields[12])) / ticks
                before = used()
                w.go()
                time.sleep(5.3)
                after = used()
                os.kill(w.pid, signal.SIGKILL)
                said = recorder.stderr.read()
                self.assertEqual(recorder.wait(60), 0, said)
                document = report(path, "--measure", "cpu", "--by", "method")
                seconds = document["totals"]["cpu_ns"] / 1e9
                # The system was asked once a second; of what came after that, there are samples.
                self.assertGreater(seconds, after - before - 1.3)
                self.assertLess(seconds, after - before + 0.5)
                loops = sum(row["total_cpu_ns"] for row in document["rows"] if row["method"].endswith((".LoopLong", ".LoopShort")))
                self.assertGreater(loops / 1e9, 0.9 * seconds)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root, for another pid namespace")
    def test_another_pid_namespace(self):
        """Threads have the numbers that they have outside; sums are the process's."""
        for sampler in SAMPLERS:
            with self.subTest(sampler):
                outer = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "dotnet",
                                          os.path.join(harness.WORKLOADS, "burns/burns.dll"), "--seconds", "1", "--kinds", "loops",
                                          "--start-on-stdin", "--hold-on-stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                self.addCleanup(outer.stdout.close)
                self.addCleanup(outer.wait)
                self.addCleanup(outer.kill)
                self.addCleanup(outer.stdin.close)
                ready = outer.stdout.readline()
                if not ready:
                    self.skipTest("no pid namespace can be made here")
                with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="ascii") as f:
                    pid = int(f.read().split()[0])
                self.assertNotEqual(json.loads(ready)["ready"], pid)
                recorder, path = self.begin(SimpleNamespace(pid=pid), sampler)
                outer.stdin.write("go\n")
                outer.stdin.flush()
                truth = json.loads(outer.stdout.readline())
                recorder.send_signal(signal.SIGINT)
                said = recorder.stderr.read()
                self.assertEqual(recorder.wait(60), 0, said)
                document = report(path, "--measure", "cpu", "--by", "thread")
                self.assertLess(abs(document["totals"]["cpu_ns"] / truth["process_ns"] - 1), 0.03)
                busiest = document["rows"][0]
                self.assertEqual(busiest["thread"], pid, document["rows"][:3])
