# SPDX-License-Identifier: Apache-2.0
"""Code that stack snapshots leave out: dynamic methods, and the stubs between managed and native code."""
import os
import subprocess
import time

from agent_case import FLAVOURS, AgentCase, Probe, library_path, status
from harness import clrscope, wait_until


def offset_of(function):
    """In the agent's library; hexadecimal."""
    symbols = subprocess.run(["nm", "-C", library_path()], capture_output=True, text=True, check=True).stdout
    return next(line.split()[0] for line in symbols.splitlines() if line.partition(" t ")[2].startswith(function + "("))


class DynamicCode(AgentCase):
    # Each suspension is for all code that is new: a program that runs the same code again and again needs one or two.
    MOST_SUSPENSIONS = 10

    def measure(self, flavour, mode):
        work = self.workload(flavour, "--mode", mode, "--threads", "2", "--rate", "max", "--bytes", "2e9", "--seconds", "60",
                             "--start-on-stdin", "--hold-on-stdin")
        probe = Probe(work.pid, 60)
        work.go()
        work.truth()
        wait_until(lambda: status(work.pid)["unnamed_code"] == 0, 30, "all code is looked up")
        state = status(work.pid)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        report = probe.report()
        work.end()
        self.assertLessEqual(state["suspensions"], self.MOST_SUSPENSIONS, state)
        self.assertEqual(state["suspended_ns"] != 0, state["suspensions"] != 0, state)
        return state, report

    def test_dynamic_methods_have_names(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                _, report = self.measure(flavour, "dynamic")
                samples = report["total"]["samples"]
                # Each makes three objects of nine.
                for method in ("EmittedAllocate", "lambda_method"):
                    named = sum(count for leaf, count in report["leaves"].items() if leaf.startswith(f"[dynamic] {method}"))
                    self.assertGreater(named, samples * 0.1, report["leaves"])

    def test_stubs_are_walked_past(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                state, _ = self.measure(flavour, "interop")
                # Every stack has a stub. Beside code that is new, the runtime walks those whose return address it has replaced, as it
                # stops a thread for a collection that is at work, and this one allocates before it returns.
                self.assertEqual(state["walk_fallbacks"], state["walk_new"] + state["walk_stub"], state)
                self.assertLess(state["walk_stub"], 0.001 * state["samples"], state)

    # The other activities of `chaos`; lambdas are made and dropped, and collections free them.
    WITHOUT = "Assemblies,Libraries,Forks,Threads,Fibers,Exceptions,Signals"
    HOLD_MS = 3000

    def test_nobody_waits_for_an_agent_that_stands_still_in_a_look_up(self):
        """Whoever unloads a dynamic method waits for the agent's thread in cooperative mode: for one call of the runtime. Between two
        calls the agent's thread may be stopped for as long as one likes."""
        for flavour in ("chaos", "chaos-net8"):
            with self.subTest(flavour):
                folder = self.path(flavour)
                os.mkdir(folder)
                work = self.workload(flavour, "--folder", folder, "--without", self.WITHOUT)
                self.assert_ok(clrscope("attach", "-p", work.pid))
                work.go()
                wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 100, 60, "the agent samples")
                holder = self.hold_threads(work.pid, "clrscope-agent", offset_of("clrscope::agent::Names::Describe"), self.HOLD_MS,
                                           "clrscope-agent")
                time.sleep(4.5 * self.HOLD_MS / 1e3)  # stand still, again and again
                self.assertGreater(self.held(holder), 2)
                self.assert_ok(clrscope("detach", "-p", work.pid))
                work.process.stdin.write("end\n")
                work.process.stdin.flush()
                truth = work.truth()
                work.process.stdin.close()
                self.assertEqual(work.process.wait(60), 0)
                self.assertEqual((truth["different"], truth["stuck"]), (0, []), truth)
                self.assertGreater(truth["events"]["dynamic methods"], 100)
                # Its heartbeat against a native one: what the machine does to both is left out.
                self.assertLess(truth["excess_ms"], self.HOLD_MS / 2, truth)
