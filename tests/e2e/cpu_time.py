# SPDX-License-Identifier: Apache-2.0
"""`record --cpu` on programs that burn CPU time in known methods and read their own clocks."""
import signal
import time

from harness import Case, Workload, report, start_clrscope

FLAVOURS = ("burns", "burns-net8", "burns-net9")
# Of the columns of a row: its 95 % interval is 2 standard errors, a test takes 4.
SIGMAS = 2


class CpuTime(Case):
    def record(self, flavour, *options, program=(), prefix=()):
        """The workload's truth, and the recording's file; it is over before the program is."""
        path = self.path(f"{flavour}.clrscope")
        with Workload("--start-on-stdin", "--hold-on-stdin", *program, flavour=flavour) as w:
            recorder = start_clrscope("record", "-p", w.pid, "--cpu", "-f", "-o", path, *options)
            self.addCleanup(recorder.kill)
            self.assertIn("Recording", recorder.stderr.readline())
            time.sleep(0.5)
            w.go()
            truth = w.truth()
            recorder.send_signal(signal.SIGINT)
            _, self.said = recorder.communicate(timeout=60)
            self.assertEqual(recorder.returncode, 0, self.said)
        return truth, path

    def methods(self, path, *options):
        rows = report(path, "--measure", "cpu", "--by", "method", "-n", "1000", *options)["rows"]
        return {row["method"].rpartition(".")[2].removesuffix(" [async]"): row for row in rows if row["method"].startswith("Clrscope.")}, rows

    def check_near(self, row, truth_ns, what):
        error = (row["total_cpu_ns_high"] - row["total_cpu_ns_low"]) / 2
        self.assertLess(abs(row["total_cpu_ns"] - truth_ns), SIGMAS * error + 0.01 * truth_ns, (what, row, truth_ns))

    def test_methods_use_what_they_say(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                truth, path = self.record(flavour, program=("--seconds", "0.8"))
                document = report(path, "--measure", "cpu", "--by", "method")
                total = document["totals"]["cpu_ns"]
                self.assertLess(abs(total / truth["process_ns"] - 1), 0.02, (total, truth["process_ns"]))
                methods, _ = self.methods(path)
                wrong = {}
                for name, ns in truth["methods"].items():
                    try:
                        self.check_near(methods[name], ns, name)
                    except (AssertionError, KeyError) as e:
                        wrong[name] = str(e)
                self.assertEqual(wrong, {})
