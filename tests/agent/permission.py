# SPDX-License-Identifier: Apache-2.0
"""The agent allows clrscope to trace the program, where kernel.yama.ptrace_scope of 1 forbids it."""
import contextlib
import json
import os
import socket
import subprocess
import unittest

from agent_case import AgentCase, Probe, agent_threads, clrscope, status, wait_until
import harness
from nobody import Nobody
from seccomp import only_ptracer, without_perf


def ptrace_scope():
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            return int(file.read())
    except OSError:
        return None


class Permission(AgentCase):
    def asked(self, path):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.sendall(b"ptracer\n")
            return s.makefile().readline().strip()

    def test_it_is_given_to_who_asks(self):
        """And to nobody else: the kernel says whose connection it is."""
        for flavour in ("alloc", "alloc-net9", "alloc-net8"):
            with self.subTest(flavour):
                work = self.workload(flavour, "--seconds", "600", "--rate", "1000000", preexec_fn=only_ptracer(os.getpid()))
                self.assert_ok(clrscope("attach", "-p", work.pid))
                path = os.path.join(self.tmp, next(name for name in os.listdir(self.tmp) if name.startswith(f"clrscope-agent-{work.pid}-")))
                self.assertEqual(self.asked(path), "ok")
                other = os.fork()
                if other == 0:
                    try:
                        os._exit(0 if self.asked(path) == "error the kernel does not allow it: Operation not permitted" else 1)
                    finally:
                        os._exit(2)
                self.assertEqual(os.waitpid(other, 0)[1], 0)
                self.assert_ok(clrscope("detach", "-p", work.pid))

    def test_an_agent_that_is_loaded_for_it_measures_nothing_and_goes(self):
        for flavour in ("alloc", "alloc-net9", "alloc-net8"):
            with self.subTest(flavour):
                work = self.workload(flavour, "--seconds", "600", "--rate", "1000000", preexec_fn=only_ptracer(os.getpid()))
                probe = Probe(work.pid, 2, "allocations=0,idle=1")
                found = status(work.pid)
                self.assertEqual((found["measures"], found["sampling"], found["failure"]), ([], False, ""))
                path = os.path.join(self.tmp, next(name for name in os.listdir(self.tmp) if name.startswith(f"clrscope-agent-{work.pid}-")))
                self.assertEqual(self.asked(path), "ok")
                probe.report()
                wait_until(lambda pid=work.pid: agent_threads(pid) == 0, 60, "the agent is gone")

    @unittest.skipUnless(ptrace_scope() == 1 and Nobody.can(), "needs kernel.yama.ptrace_scope of 1, and root, who becomes another user")
    def test_a_recording_of_cpu_time_has_it_from_the_agent(self):
        os.chmod(self.dir, 0o777)
        nobody = Nobody(self.dir)
        for flavour in ("burns", "burns-net9", "burns-net8"):
            with self.subTest(flavour), contextlib.ExitStack() as ended:
                burns = ended.enter_context(subprocess.Popen([*nobody.program(flavour), "--seconds", "600", "--kinds", "loops"], env=nobody.env,
                                                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
                ended.callback(burns.kill)
                pid = json.loads(burns.stdout.readline())["ready"]

                def run(*args):
                    return subprocess.run([*nobody.clrscope, *map(str, args)], env=nobody.env, capture_output=True, text=True, timeout=120,
                                          preexec_fn=without_perf())
                path = os.path.join(self.dir, f"{flavour}.clrscope")
                self.assertIn("but the agent allows it", " ".join(run("doctor", pid).stdout.split()))
                refused = run("top", "-p", pid, "--cpu", "-d", "1s")
                self.assertEqual(refused.returncode, 5, refused.stderr)
                self.assertIn("kernel.yama.ptrace_scope is 1", refused.stderr)
                self.assertIn("clrscope attach -p", refused.stderr)
                made = run("record", "-p", pid, "--cpu", "-d", "2s", "-o", path)
                self.assert_ok(made)
                self.assertIn(f"the agent was loaded into process {pid} for a moment", made.stderr)
                document = harness.report(path, "--measure", "cpu")
                self.assertEqual(document["sampler"], "ptrace")
                self.assertGreater(document["totals"]["samples"], 20)
                wait_until(lambda pid=pid: agent_threads(pid) == 0, 60, "the agent is gone")
                # What is there is asked, by whoever needs it.
                self.assert_ok(run("attach", "-p", pid))
                for verb in (("stacks", "-p", pid), ("top", "-p", pid, "--cpu", "-d", "1s"), ("record", "-p", pid, "--cpu", "-d", "1s", "-f", "-o", path)):
                    made = run(*verb)
                    self.assert_ok(made)
                    self.assertNotIn("agent", made.stderr, verb)
                self.assert_ok(run("detach", "-p", pid))
