# SPDX-License-Identifier: Apache-2.0
"""Programs that handle null references and divisions by zero, a hundred thousand a second and more, beside all that clrscope does to a program.

The runtime makes exceptions of null references in its handler of SIGSEGV, on an alternate stack of 12 KB. On a processor with AVX-512 no other signal finds
room for its frame there at the deepest moment, and the kernel ends the program (docs/decisions/0017-cpu.md)."""
import signal
import threading

from harness import Case, Workload, clrscope, report, start_recording
from nobody import paranoid

FLAVOURS = ("throws", "throws-net9", "throws-net8")


class NullReferences(Case):
    def program(self, flavour, rounds):
        """Throws and catches twice as many."""
        self.rounds = rounds
        return Workload("--kinds", "hardware", "--rounds", str(rounds), "--without-first-chance", "--start-on-stdin", "--hold-on-stdin", flavour=flavour)

    def check_end(self, w, truth):
        """Every one was handled, and the program ends as it does by itself."""
        self.assertEqual(truth["throws"], 2 * self.rounds, truth)
        w.go()  # it holds until then
        self.assertEqual(w.process.wait(timeout=60), 0)

    def recorded(self, *options, rounds=150_000, runtimes=FLAVOURS):
        """Recordings from before the first one until after the last: [path]."""
        paths = []
        for flavour in runtimes:
            with self.subTest(flavour, options=options), self.program(flavour, rounds) as w:
                paths.append(self.path(f"{flavour}.clrscope"))
                recorder = start_recording("-p", w.pid, *options, "-f", "-o", paths[-1])
                self.addCleanup(recorder.kill)
                w.go()
                truth = w.truth()
                recorder.send_signal(signal.SIGINT)
                _, said = recorder.communicate(timeout=60)
                self.assertEqual(recorder.returncode, 0, said)
                self.check_end(w, truth)
        return paths

    def check_samples(self, paths, sampler, measure="cpu"):
        for path in paths:
            document = report(path, "--measure", measure)
            self.assertEqual(document["sampler"], sampler)
            self.assertGreater(document["totals"]["samples"], 50)

    def check_gap(self, paths):
        """Of what the threads used, nearly all has samples."""
        for path in paths:
            document = report(path, "--measure", "cpu", "--by", "method", "-n", "1000")
            gap = sum(row["self_cpu_ns"] for row in document["rows"] if row["method"] == "(not sampled)")
            self.assertLess(gap, 0.1 * document["totals"]["cpu_ns"])

    def test_cpu_time_by_the_kernel(self):
        if paranoid() > 2:
            self.skipTest(f"perf_event_paranoid is {paranoid()}")
        paths = self.recorded("--only", "cpu", "--sampler", "kernel", "--rate", "997")
        self.check_samples(paths, "kernel")
        self.check_gap(paths)

    def test_cpu_time_by_stops(self):
        paths = self.recorded("--only", "cpu", "--sampler", "ptrace", "--rate", "997")
        self.check_samples(paths, "ptrace")
        self.check_gap(paths)

    def test_cpu_time_by_the_runtime(self):
        """Wall time: .NET 9 does not say who runs."""
        self.check_samples(self.recorded("--only", "cpu", "--sampler", "runtime"), "runtime", "wall")

    def test_live_objects_and_cpu_time(self):
        self.check_samples(self.recorded("--live", "--cpu", "--sampler", "ptrace", "--rate", "997"), "ptrace")

    def test_exceptions(self):
        for path in self.recorded("--only", "exceptions"):
            self.assertGreater(report(path, "--measure", "exceptions")["totals"]["count"], 0)

    def test_everything(self):
        self.recorded("--measures", "all", "--wall", "--sampler", "ptrace")

    def beside(self, rounds, *commands, least):
        """`commands` again and again, as long as the program throws; each succeeds `least` times at least."""
        for flavour in FLAVOURS:
            with self.subTest(flavour, commands=commands), self.program(flavour, rounds) as w:
                truth, turns = [], 0
                reader = threading.Thread(target=lambda w=w, truth=truth: truth.append(w.truth()))
                w.go()
                reader.start()
                while not truth and reader.is_alive():
                    for verb, *options in commands:
                        result = clrscope(verb, "-p", w.pid, *options)
                        self.assertEqual(result.returncode, 0, (verb, result.stderr, w.process.poll()))
                    turns += 1
                reader.join()
                self.assertGreaterEqual(turns, least)
                self.check_end(w, truth[0])

    def test_stacks(self):
        self.beside(400_000, ("stacks",), least=2)

    def test_an_agent_that_comes_and_goes(self):
        self.beside(800_000, ("attach", "--every", "1s", "--measures", "live,exceptions"), ("detach",), least=2)
