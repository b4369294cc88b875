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

from clock import clock
import harness
from harness import Case, CpuSpan, Workload, await_recording, loss, report
from nobody import Nobody, paranoid

SAMPLERS = ("kernel", "ptrace")


class CpuHazards(Case):
    def begin(self, w, sampler):
        path = self.path(f"{sampler}.clrscope")
        self.span = CpuSpan(w.pid)
        recorder = self.start_cpu_recording("-p", w.pid, "--only", "cpu", "--sampler", sampler, "-f", "-o", path, "--no-progress")
        self.addCleanup(recorder.kill)
        self.span.begun()
        time.sleep(0.5)
        return recorder, path

    def end(self, recorder):
        """The program has done its work and is still there."""
        self.span.ending()
        self.end_recording(recorder)
        self.span.ended()

    def check_total(self, document, part=0.03):
        self.check_cpu_total(document["totals"]["cpu_ns"], self.span.within_ns, self.span.around_ns, part)
        return document["totals"]["cpu_ns"]

    def whole(self, sampler, *program):
        """The truth of a program of which all is recorded, and its methods."""
        with Workload(*program, "--start-on-stdin", "--hold-on-stdin", flavour="burns") as w:
            recorder, path = self.begin(w, sampler)
            w.go()
            truth = w.truth()
            self.end(recorder)
        return truth, report(path, "--measure", "cpu", "--by", "method", "-n", "1000")

    @clock
    def test_a_thousand_threads(self):
        for sampler in SAMPLERS:
            with self.subTest(sampler), Workload("--idle-threads", "1000", "--seconds", "1.5", "--kinds", "loops,threads",
                                                 "--start-on-stdin", "--hold-on-stdin", flavour="burns") as w:
                recorder, path = self.begin(w, sampler)
                w.go()
                open_files = len(os.listdir(f"/proc/{recorder.pid}/fd"))
                w.truth()
                self.end(recorder)
                document = report(path, "--measure", "cpu", "--by", "method")
                self.check_total(document)
                self.assertEqual(loss(document, "cpu_samples_lost"), 0)
                if sampler == "ptrace":
                    self.assertLess(open_files, 2 * 1000 + 200)  # two of each thread
                elif os.geteuid() == 0:
                    self.assertLess(open_files, 200)  # not one for each thread
                self.check_gap(document)

    @unittest.skipUnless(Nobody.can() and paranoid() <= 2, "needs root, to be somebody else, and a kernel that lets users sample")
    def test_descriptors_of_many_threads_as_a_user(self):
        """One for each thread and processor, whatever comes and goes; and none that is missed without being counted."""
        threads = 300
        nobody = Nobody(self.dir)
        path = self.path()
        with subprocess.Popen([*nobody.program("burns"), "--idle-threads", str(threads), "--seconds", "1.5", "--kinds", "churn", "--start-on-stdin",
                               "--hold-on-stdin"], env=nobody.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as burns:
            self.addCleanup(burns.kill)
            pid = json.loads(burns.stdout.readline())["ready"]
            self.span = CpuSpan(pid)
            recorder = subprocess.Popen([*nobody.clrscope, "record", "-p", str(pid), "--only", "cpu", "--sampler", "kernel", "--no-progress", "-o", path],
                                        env=nobody.env, stderr=subprocess.PIPE, text=True)
            self.addCleanup(recorder.kill)
            await_recording(recorder)
            self.span.begun()
            time.sleep(0.5)
            burns.stdin.write("go\n")
            burns.stdin.flush()
            burns.stdout.readline()
            most = len(os.listdir(f"/proc/{recorder.pid}/fd"))
            self.end(recorder)
            burns.kill()
        self.assertLess(most, (threads + 50) * os.cpu_count() + 100)
        document = report(path, "--measure", "cpu", "--by", "method", "-n", "1000")
        # What the user may lock holds the samples of some tenths of a second. A recorder that waits for longer loses some, and the total
        # has their time.
        self.check_total(document, part=0.05)
        self.assertEqual(loss(document, "cpu_threads_missed"), 0)

    @clock
    def test_short_threads(self):
        """Two hundred a second, of 2 ms of CPU each, beside two hundred that wait."""
        for sampler in SAMPLERS:
            with self.subTest(sampler):
                truth, document = self.whole(sampler, "--seconds", "2", "--kinds", "churn", "--idle-threads", "200")
                self.check_total(document, part=0.05)
                self.assertEqual(loss(document, "cpu_samples_lost"), 0)
                self.assertEqual(loss(document, "cpu_threads_missed"), 0)
                rows = {row["method"].rpartition(".")[2]: row for row in document["rows"]}
                short = rows["ShortThread"]["total_cpu_ns"]
                self.assertGreater(short, 0.5 * truth["methods"]["ShortThread"])
                gap = rows.get("(not sampled)", {"self_cpu_ns": 0})["self_cpu_ns"]
                self.assertGreater(short + gap, 0.9 * truth["methods"]["ShortThread"])
                self.assertLess(short + gap, 1.05 * truth["process_ns"])

    @clock
    def test_a_program_that_forks(self):
        """Copies of it and other programs that it starts use CPU time of their own, which is not its."""
        for sampler in SAMPLERS:
            with self.subTest(sampler):
                truth, document = self.whole(sampler, "--seconds", "1.6", "--kinds", "fork")
                total = self.check_total(document, part=0.05)
                rows = {row["method"].rpartition(".")[2]: row for row in document["rows"]}
                self.assertLess(rows.get("Copy", {"total_cpu_ns": 0})["total_cpu_ns"], 0.05 * total)
                self.assertGreater(rows["Forking"]["total_cpu_ns"], 0.9 * truth["methods"]["Forking"])

    @clock
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
                _, said = recorder.communicate(timeout=60)
                self.assertEqual(recorder.returncode, 0, said)
                document = report(path, "--measure", "cpu", "--by", "method")
                seconds = document["totals"]["cpu_ns"] / 1e9
                # The system was asked once a second, later on a busy machine; of what came after that, there are samples.
                self.assertGreater(seconds, after - before - 2.5)
                self.assertLess(seconds, after - before + 0.5)
                loops = sum(row["total_cpu_ns"] for row in document["rows"] if row["method"].endswith((".LoopLong", ".LoopShort")))
                self.assertGreater(loops / 1e9, 0.9 * seconds)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root, for another pid namespace")
    @clock
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
                outer.stdout.readline()
                self.end(recorder)
                document = report(path, "--measure", "cpu", "--by", "thread")
                self.check_total(document)
                busiest = document["rows"][0]
                self.assertEqual(busiest["thread"], pid, document["rows"][:3])
