# SPDX-License-Identifier: Apache-2.0
"""`record --cpu --sampler ptrace`: threads stand still for a moment and go on, whatever they do, and whatever happens to clrscope."""
import ctypes
import errno
import json
import os
import signal
import subprocess
import sys

from clock import clock
import cpu_time
import harness
from harness import Case, Workload, clrscope, report, start_recording, thread_states, wait_until
from seccomp import PERF_EVENT_OPEN, PTRACE, without, without_perf

PTRACE_SEIZE = 0x4206


def tracer_of(pid, thread):
    """0: nobody traces it; None: it has ended."""
    try:
        with open(f"/proc/{pid}/task/{thread}/status", encoding="utf-8") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("TracerPid:"))
    except OSError:
        return None


def seize_and_wait(pid):
    """As a program: traces the process until its input ends."""
    result = ctypes.CDLL(None, use_errno=True).ptrace(PTRACE_SEIZE, int(pid), None, None)
    print(result, flush=True)
    sys.stdin.read()


class Stops(Case):
    def test_a_recorder_that_is_killed_lets_go(self):
        with Workload("--seconds", "600", "--kinds", "loops,exceptions,allocations", flavour="burns") as w:
            for i in range(20):
                recorder = start_recording("-p", w.pid, "--only", "cpu", "--sampler", "ptrace", "--rate", "997", "-f", "-o", self.path())
                used = harness.cpu_clock_ns(w.pid)
                wait_until(lambda used=used, i=i: harness.cpu_clock_ns(w.pid) > used + i * 7_000_000, 30, "the program runs")
                recorder.kill()
                recorder.communicate(timeout=60)
                self.assertNotIn("t", thread_states(w.pid))
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

    def test_a_recorder_that_stands_still(self):
        """SIGSTOP cannot be caught: one thread of each processor may stand then, and goes on with clrscope. Mostly none does."""
        with Workload("--seconds", "600", "--kinds", "loops,exceptions,allocations", flavour="burns") as w:
            recorder = self.start_cpu_recording("-p", w.pid, "--only", "cpu", "--sampler", "ptrace", "--rate", "997", "-f", "-o", self.path())
            self.addCleanup(recorder.kill)
            for i in range(60):
                used = harness.cpu_clock_ns(w.pid)
                wait_until(lambda used=used, i=i: harness.cpu_clock_ns(w.pid) > used + i % 7 * 3_000_000, 30, "the program runs")
                harness.stop_process(recorder.pid)
                self.assertLessEqual(thread_states(w.pid).count("t"), os.cpu_count())
                recorder.send_signal(signal.SIGCONT)
                used = harness.cpu_clock_ns(w.pid)
                wait_until(lambda used=used: harness.cpu_clock_ns(w.pid) > used + 10_000_000, 30, "the program goes on")
            self.end_recording(recorder)
            self.assertNotIn("t", thread_states(w.pid))

    def test_nothing_is_left_behind(self):
        with Workload("--seconds", "600", "--kinds", "loops,exceptions,allocations", flavour="burns") as w:
            def look():
                tracers = {tracer_of(w.pid, thread) for thread in os.listdir(f"/proc/{w.pid}/task")}
                return tracers, thread_states(w.pid).count("t"), len(os.listdir(f"/proc/{w.pid}/fd"))

            def record():
                self.assert_ok(clrscope("record", "-p", w.pid, "--only", "cpu", "--sampler", "ptrace", "--rate", "997", "-d", "0.3", "-q", "-f",
                                        "-o", self.path()))
            record()
            descriptors = look()[2]
            for _ in range(10):
                record()
                tracers, standing, _ = look()
                self.assertEqual((tracers - {None}, standing), ({0}, 0))
            wait_until(lambda: look()[2] <= descriptors, 60, f"{descriptors} descriptors, as before")

    @clock
    def test_a_program_with_signals_of_its_own(self):
        """Each 10 ms of its CPU time bring one; they come as often as without stops."""
        program = ("--seconds", "2", "--kinds", "loops", "--own-sigprof")
        with Workload(*program, flavour="burns") as w:
            alone = w.truth()
        self.assertGreater(alone["sigprof"], 50)
        with Workload(*program, "--start-on-stdin", "--hold-on-stdin", flavour="burns") as w:
            truth = self.record_to_its_end(w, self.path(), "--only", "cpu", "--sampler", "ptrace", "--rate", "997")
        self.assertGreater(truth["sigprof"] / truth["process_ns"], 0.8 * alone["sigprof"] / alone["process_ns"], (truth, alone))
        self.assertGreater(report(self.path(), "--measure", "cpu")["totals"]["samples"], 100)

    @clock
    def test_beside_live_objects(self):
        for flavour in ("burns", "burns-net9", "burns-net8"):
            with self.subTest(flavour), Workload("--start-on-stdin", "--hold-on-stdin", "--seconds", "1", "--kinds", "loops,allocations",
                                                 flavour=flavour) as w:
                truth = self.record_to_its_end(w, self.path(), "--cpu", "--live", "--sampler", "ptrace", "--rate", "997")
                self.assertIsNone(w.process.poll())
                self.assertGreater(report(self.path())["totals"]["bytes"], 0)
                rows = report(self.path(), "--measure", "cpu", "--by", "method", "-n", "1000")["rows"]
                loops = sum(row["total_cpu_ns"] for row in rows if row["method"].endswith((".LoopLong", ".LoopShort")))
                self.assertGreater(loops, 0.5 * (truth["methods"]["LoopLong"] + truth["methods"]["LoopShort"]))

    @clock
    def test_it_is_taken_where_the_kernel_refuses(self):
        path = self.path()
        for error in (errno.EPERM, errno.ENOSYS):
            with self.subTest(error), Workload("--start-on-stdin", "--hold-on-stdin", "--seconds", "1", "--kinds", "loops", flavour="burns",
                                               env=cpu_time.AT_ONCE) as w:
                recorder = start_recording("-p", w.pid, "--cpu", "-f", "-o", path, preexec_fn=without_perf(error))
                w.go()
                truth = w.truth()
                words = self.end_recording(recorder)
                self.assertIn("CPU time is sampled by stopping threads that run, for some 40 µs each: the kernel's sampler is", words)
                document = report(path, "--measure", "cpu", "--by", "method", "-n", "1000")
                self.assertEqual(document["sampler"], "ptrace")
                loop = next(row for row in document["rows"] if row["method"].endswith(".LoopLong"))
                error_ns = (loop["total_cpu_ns_high"] - loop["total_cpu_ns_low"]) / 2
                self.assertLess(abs(loop["total_cpu_ns"] - truth["methods"]["LoopLong"]), harness.MOST_HALVES * error_ns)
                self.assertNotIn("clrscope-agent", open(f"/proc/{w.pid}/maps", encoding="utf-8").read(), "nothing was loaded")
                self.assertEqual(self.check_of_cpu(w.pid, without_perf(error))["verdict"], "warn")

    def check_of_cpu(self, pid, preexec_fn):
        """`doctor`'s word on CPU time."""
        checks = json.loads(clrscope("doctor", pid, "--json", preexec_fn=preexec_fn).stdout)["checks"]
        return next(check for check in checks if check["name"] == "cpu")

    def test_where_nobody_may_sample(self):
        neither = without([PERF_EVENT_OPEN, PTRACE], errno.EPERM)
        path = self.path()
        with Workload("--start-on-stdin", flavour="burns") as w:
            for verb in (("record", "-p", w.pid, "--cpu", "-d", "1", "-o", path), ("record", "--all", "--cpu", "-d", "1", "-o", path),
                         ("watch", "--cpu", "-o", self.dir), ("top", "--all", "--cpu", "-d", "1s"), ("top", "-p", w.pid, "--cpu", "-d", "1s")):
                refused = clrscope(*verb, preexec_fn=neither)
                self.assertEqual(refused.returncode, 5, (verb, refused.stderr))
                for word in ("the kernel's sampler is refused", "allow ptrace in the container's seccomp profile", "--sampler runtime"):
                    self.assertIn(word, refused.stderr, verb)
            check = self.check_of_cpu(w.pid, neither)
            self.assertEqual(check["verdict"], "warn")
            self.assertIn("CPU time cannot be sampled: the kernel's sampler is refused", check["what"])
            self.assertIn("allow ptrace in the container's seccomp profile", check["fix"])
            # What is named `all` does without.
            self.assert_ok(clrscope("record", "-p", w.pid, "--measures", "all", "-d", "1", "-o", path, preexec_fn=neither))
        self.assertNotEqual(clrscope("report", path, "--measure", "cpu", "--json").returncode, 0)
        # A program is not started for a recording that cannot be.
        marker = self.path("started")
        refused = clrscope("record", "--cpu", "-f", "-o", path, "--", "touch", marker, preexec_fn=neither)
        self.assertEqual(refused.returncode, 5, refused.stderr)
        self.assertIn("CPU time cannot be sampled", refused.stderr)
        self.assertFalse(os.path.exists(marker))

    def test_what_forbids_it_is_reported(self):
        with Workload("--start-on-stdin", flavour="burns") as w:
            options = ("record", "-p", w.pid, "--cpu", "--sampler", "ptrace", "-d", "1", "-f", "-o", self.path())
            for error in (errno.EPERM, errno.ENOSYS):
                refused = clrscope(*options, preexec_fn=without([PTRACE], error))
                self.assertEqual(refused.returncode, 5, refused.stderr)
                self.assertIn("a seccomp filter forbids clrscope to use ptrace", refused.stderr)
            tracer = subprocess.Popen([sys.executable, __file__, str(w.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.addCleanup(tracer.stdout.close)
            self.addCleanup(tracer.kill)
            self.assertEqual(tracer.stdout.readline(), "0\n")
            refused = clrscope(*options)
            self.assertEqual(refused.returncode, 5, refused.stderr)
            self.assertIn(f"process {tracer.pid} traces process {w.pid} already", refused.stderr)
            check = self.check_of_cpu(w.pid, without_perf())
            self.assertIn(f"process {tracer.pid} traces process {w.pid} already", check["what"])
            tracer.communicate("")
            self.assert_ok(clrscope(*options))


if __name__ == "__main__":
    seize_and_wait(sys.argv[1])
