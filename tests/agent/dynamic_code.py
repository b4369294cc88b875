# SPDX-License-Identifier: Apache-2.0
"""Code that stack snapshots leave out: dynamic methods, and the stubs between managed and native code."""
from agent_case import FLAVOURS, AgentCase, Probe, status
from harness import clrscope, wait_until


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
                self.assertEqual(state["walk_fallbacks"], state["walk_new"], state)
