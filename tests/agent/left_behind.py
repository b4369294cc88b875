# SPDX-License-Identifier: Apache-2.0
"""The agent's socket in folders of programs that died."""
import glob
import os
import re
import signal
import socket

from agent_case import AgentCase, status
import harness
from harness import clrscope, start_clrscope, start_recording, wait_until
from surroundings import Confined, may_unshare


class LeftBehind(AgentCase):
    def sockets(self):
        return glob.glob(os.path.join(self.tmp, "clrscope-*"))

    def start(self):
        work = self.workload("alloc", "--rate", "50e6", "--seconds", "60", "--start-on-stdin")
        work.go()
        return work

    def launch(self, seconds):
        return start_clrscope("record", "--live", "-o", self.path(), "--", "dotnet",
                              os.path.join(harness.WORKLOADS, "alloc", "alloc.dll"), "--rate", "50e6", "--seconds",
                              seconds)

    def kill_in_a_recording(self, pid):
        recording = start_recording("-p", pid, "--live", "-o", self.path())
        self.assertEqual(len(self.sockets()), 1)
        os.kill(pid, signal.SIGKILL)
        _, words = recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 0, words)
        self.assertIn("died", words)
        self.assertEqual(self.sockets(), [])

    def test_a_recording_of_a_program_that_dies(self):
        self.kill_in_a_recording(self.start().pid)

    def test_a_launched_program_that_dies(self):
        recording = self.launch("60")
        wait_until(lambda: glob.glob(os.path.join(self.tmp, "*.socket")), 60, "the agent listens")
        path, = glob.glob(os.path.join(self.tmp, "*.socket"))
        os.kill(int(re.search(r"agent-(\d+)-", path)[1]), signal.SIGKILL)
        recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 128 + signal.SIGKILL)
        self.assertEqual(self.sockets(), [])

    def test_a_program_that_dies_with_its_mount_namespace(self):
        if not may_unshare():
            self.skipTest("namespaces of its own are for root")
        del os.environ["TMPDIR"]  # AgentCase restores it
        work = Confined(f"mount --bind {self.tmp} /tmp", "--rate", "50e6", "--seconds", "60", "--start-on-stdin")
        self.addCleanup(work.end)
        work.go()
        self.kill_in_a_recording(work.pid)

    def test_the_next_one_removes_what_is_dead_and_nothing_else(self):
        alive = self.start()
        self.assert_ok(clrscope("attach", "-p", alive.pid))
        kept = self.sockets()
        text, other = (os.path.join(self.tmp, f"clrscope-agent-{n}-1.socket") for n in (1, 2))
        with open(text, "w", encoding="ascii") as file:
            file.write("somebody's")
        kept.append(text)
        if os.geteuid() == 0:
            with socket.socket(socket.AF_UNIX) as closed:
                closed.bind(other)
            os.chown(other, 12345, 12345)
            kept.append(other)
        fresh = self.start()
        for how in ("attach", "launch"):
            with self.subTest(how):
                dead = self.start()
                self.assert_ok(clrscope("attach", "-p", dead.pid))
                dead.process.kill()
                dead.process.wait()
                self.assertEqual(len(self.sockets()), len(kept) + 1)
                if how == "attach":
                    self.assert_ok(clrscope("attach", "-p", fresh.pid))
                    self.assert_ok(clrscope("detach", "-p", fresh.pid))
                else:
                    recording = self.launch("0.1")
                    _, words = recording.communicate(timeout=60)
                    self.assertEqual(recording.returncode, 0, words)
                self.assertEqual(sorted(self.sockets()), sorted(kept))
        self.assertIsNotNone(status(alive.pid))
