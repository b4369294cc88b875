# SPDX-License-Identifier: Apache-2.0
"""`record --cpu --sampler ptrace`: threads stand still for a moment and go on, whatever they do, and whatever happens to clrscope."""
import ctypes
import errno
import json
import os
import signal
import subprocess
import sys

import cpu_time
import harness
from harness import Case, Workload, clrscope, report, start_recording, wait_until
from seccomp import without

PTRACE = 101  # of x86-64
PTRACE_SEIZE = 0x4206


def states(pid):
    """Of its threads: proc(5), /proc/PID/task/TID/stat."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii", errors="replace") as f:
                found.append(f.read().rpartition(") ")[2][0])
        except OSError:
            pass  # it has ended
    return found


def seize_and_wait(pid):
    """As a program: traces the process until its input ends."""
    result = ctypes.CDLL(None, use_errno=True).ptrace(PTRACE_SEIZE, int(pid), None, None)
    print(result, flush=True)
    sys.stdin.read()


class Stops(Case):
    def test_null_references(self):
        """The runtime handles each on a small alternate stack, on which no signal would find room."""
        rounds = 200_000
        for flavour in ("throws", "throws-net9", "throws-net8"):
            with self.subTest(flavour), Workload("--kinds", "hardware", "--rounds", str(rounds), "--without-first-chance", "--start-on-stdin",
                                                 "--hold-on-stdin", flavour=flavour) as w:
                recorder = start_recording("-p", w.pid, "--only", "cpu", "--sampler", "ptrace", "--rate", "997", "-f", "-o", self.path())
                self.addCleanup(recorder.kill)
                w.go()
                truth = w.truth()
                recorder.send_signal(signal.SIGINT)
                _, said = recorder.communicate(timeout=60)
                self.assertEqual(recorder.returncode, 0, said)
                self.assertEqual(truth["throws"], 2 * rounds, truth)
                w.go()  # it holds until then
                self.assertEqual(w.process.wait(timeout=60), 0)
                document = report(self.path(), "--measure", "cpu")
                self.assertEqual(document["sampler"], "ptrace")
                self.assertGreater(document["totals"]["samples"], 50)

    def test_a_recorder_that_is_killed_lets_go(self):
        with Workload("--seconds", "600", "--kinds", "loops,exceptions,allocations", flavour="burns") as w:
            for i in range(20):
                recorder = start_recording("-p", w.pid, "--only", "cpu", "--sampler", "ptrace", "--rate", "997", "-f", "-o", self.path())
                used = harness.cpu_clock_ns(w.pid)
                wait_until(lambda used=used, i=i: harness.cpu_clock_ns(w.pid) > used + i * 7_000_000, 30, "the program runs")
                recorder.kill()
                recorder.communicate(timeout=60)
                self.assertNotIn("t", states(w.pid))
                used = harness.cpu_clock_ns(w.pid)
                wait_until(lambda used=used: harness.cpu_clock_ns(w.pid) > used + 10_000_000, 30, "the program goes on")

    def test_a_launched_program_keeps_its_exit_code(self):
        burns = ("dotnet", os.path.join(harness.WORKLOADS, "burns", "burns.dll"), "--seconds", "0.5", "--kinds", "loops")
        options = ("record", "--only", "cpu", "--sampler", "ptrace", "--rate", "997", "-f", "-o", self.path(), "--")
        # The program is clrscope's own child, whose stops its parent may take for its end.
        result = clrscope(*options, *burns, env={**os.environ, **cpu_time.AT_ONCE})
        self.assert_ok(result)
        truth = json.loads(result.stdout.splitlines()[-1])
        loops = sum(row["total_cpu_ns"] for row in report(self.path(), "--measure", "cpu", "--by", "method", "-n", "1000")["rows"]
                    if row["method"].endswith((".LoopLong", ".LoopShort")))
        self.assertGreater(loops, 0.5 * (truth["methods"]["LoopLong"] + truth["methods"]["LoopShort"]))

    def test_what_forbids_it_is_reported(self):
        with Workload("--start-on-stdin", flavour="burns") as w:
            options = ("record", "-p", w.pid, "--cpu", "--sampler", "ptrace", "-d", "1", "-f", "-o", self.path())
            for error in (errno.EPERM, errno.ENOSYS):
                refused = clrscope(*options, preexec_fn=without([PTRACE], error))
                self.assertEqual(refused.returncode, 5, refused.stderr)
                self.assertIn("ptrace is refused here", refused.stderr)
            tracer = subprocess.Popen([sys.executable, __file__, str(w.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.addCleanup(tracer.stdout.close)
            self.addCleanup(tracer.kill)
            self.assertEqual(tracer.stdout.readline(), "0\n")
            refused = clrscope(*options)
            self.assertEqual(refused.returncode, 5, refused.stderr)
            self.assertIn(f"process {tracer.pid} traces process {w.pid} already", refused.stderr)
            tracer.communicate("")
            self.assert_ok(clrscope(*options))


if __name__ == "__main__":
    seize_and_wait(sys.argv[1])
