# SPDX-License-Identifier: Apache-2.0
"""Programs that handle null references and divisions by zero, a hundred thousand a second and more, beside all that clrscope does to a program.

The runtime makes exceptions of null references in its handler of SIGSEGV, on an alternate stack of 12 KB. On a processor with AVX-512 no other signal finds
room for its frame there at the deepest moment, and the kernel ends the program (docs/decisions/0017-cpu.md)."""
import json
import signal
import threading

import harness
from harness import Case, CpuSpan, Workload, clrscope, report

FLAVOURS = ("throws", "throws-net9", "throws-net8")


class NullReferences(Case):
    def program(self, flavour, rounds):
        """Throws and catches twice as many; one that passes unnoticed ends it."""
        self.rounds = rounds
        return Workload("--kinds", "hardware", "--rounds", str(rounds), "--without-first-chance", "--start-on-stdin", "--hold-on-stdin", flavour=flavour)

    def check_end(self, w, ledger):
        """It has done all of them, and ends as it does by itself."""
        if not ledger:
            self.fail(f"the program ended with {w.process.wait(timeout=60)}")
        self.assertEqual(json.loads(ledger)["throws"], 2 * self.rounds)
        w.go()  # it holds until then
        self.assertEqual(w.process.wait(timeout=60), 0)

    def recorded(self, *options, rounds=150_000):
        """Recordings from before the first throw until after the last: [path]."""
        paths, self.spans = [], {}
        for flavour in FLAVOURS:
            with self.subTest(flavour, options=options), self.program(flavour, rounds) as w:
                path, span = self.path(f"{flavour}.clrscope"), CpuSpan(w.pid)
                recorder = self.start_cpu_recording("-p", w.pid, *options, "-f", "-o", path)
                self.addCleanup(recorder.kill)
                span.begun()
                w.go()
                ledger = w.line("its ledger")
                # The program first: that it was ended is the finding, not what became of the recording.
                if ledger:
                    span.ending()
                    self.end_recording(recorder)
                    span.ended()
                self.check_end(w, ledger)
                paths.append(path)
                self.spans[path] = span
        return paths

    def check_samples(self, paths, sampler, measure="cpu"):
        for path in paths:
            document = report(path, "--measure", measure)
            self.assertEqual(document["sampler"], sampler)
            self.assertGreater(document["totals"]["samples"], 50)

    def check_cpu(self, sampler):
        """Sums are the system's own, and nearly all of it has samples."""
        paths = self.recorded("--only", "cpu", "--sampler", sampler, "--rate", "997")
        self.check_samples(paths, sampler)
        for path in paths:
            document = report(path, "--measure", "cpu", "--by", "method", "-n", "1000")
            self.check_cpu_total(document["totals"]["cpu_ns"], self.spans[path].within_ns, self.spans[path].around_ns)
            self.check_gap(document)

    def check_count(self, paths):
        """It is a storm, most of which the runtime's own counter has."""
        for path in paths:
            count = report(path, "--measure", "exceptions")["totals"]["count"]
            self.assertTrue(self.rounds < count < 2.1 * self.rounds, (path, count))

    def test_cpu_time_by_the_kernel(self):
        self.check_cpu("kernel")

    def test_cpu_time_by_stops(self):
        self.check_cpu("ptrace")

    def test_cpu_time_by_the_runtime(self):
        """Wall time: .NET 9 does not say who runs."""
        self.check_samples(self.recorded("--only", "cpu", "--sampler", "runtime"), "runtime", "wall")

    def test_live_objects_and_cpu_time(self):
        paths = self.recorded("--live", "--cpu", "--sampler", "ptrace", "--rate", "997")
        self.check_samples(paths, "ptrace")
        for path in paths:
            self.assertGreater(report(path)["totals"]["bytes"], 0)

    def test_exceptions(self):
        self.check_count(self.recorded("--only", "exceptions"))

    def test_all_measures(self):
        paths = self.recorded("--measures", "all", "--wall", "--sampler", "ptrace")
        self.check_samples(paths, "ptrace")
        self.check_count(paths)

    def beside(self, rounds, turn):
        """`turn(pid)` again and again, as long as the program throws."""
        for flavour in FLAVOURS:
            with self.subTest(flavour), self.program(flavour, rounds) as w:
                ledger, failed = [], []

                def read(w=w, ledger=ledger, failed=failed):
                    try:
                        ledger.append(w.line("its ledger"))
                    except AssertionError as e:
                        failed.append(e)
                reader = threading.Thread(target=read)
                w.go()
                reader.start()
                turns = []
                while reader.is_alive():
                    turns.append(turn(w.pid))
                reader.join()
                if failed:
                    raise failed[0]
                self.check_end(w, ledger[0])
                for result in turns:
                    self.assert_ok(result)
                self.assertGreater(len(turns), 1, "one was over while it threw")

    def test_stacks(self):
        with Workload("--start-on-stdin", flavour="throws") as w:
            allowed = clrscope("stacks", "-p", w.pid)
        if allowed.returncode == 5:
            self.skipTest(allowed.stderr)
        self.beside(400_000, lambda pid: clrscope("stacks", "-p", pid))

    def test_an_agent_that_comes_and_goes(self):
        def come_and_go(pid):
            attached = clrscope("attach", "-p", pid, "--every", "1s", "--measures", "live,exceptions")
            if attached.returncode == 0:
                harness.await_sampling(pid)
                return clrscope("detach", "-p", pid)
            return attached
        self.beside(500_000, come_and_go)
