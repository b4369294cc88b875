# SPDX-License-Identifier: Apache-2.0
"""The program's own code on the agent's thread: handlers of the commands that a session's begin and end bring to event sources."""
import glob
import json
import os
import signal
import time

import harness
from agent_case import AgentCase, clrscope, start_clrscope, status, wait_until

FLAVOURS = ["commands", "commands-net9", "commands-net8"]


def has_heartbeat(pid):
    for path in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            if "clrscope-heartbeat" in os.readlink(path):
                return True
        except OSError:
            pass
    return False


class Commands(AgentCase):
    def recorded(self, flavour, act):
        """The ledger of a program after a recording, which it outlives."""
        work = self.workload(flavour, act)
        recorder = start_clrscope("record", "-p", work.pid, "--live", "--exceptions", "-o", self.path(f"{flavour}.clrscope"))
        self.addCleanup(recorder.kill)
        wait_until(lambda: work.process.poll() is not None or (status(work.pid) or {}).get("sampling"), 60, "the agent samples")
        self.assertIsNone(work.process.poll(), "the program goes on")
        recorder.send_signal(signal.SIGINT)
        _, words = recorder.communicate(timeout=120)
        self.assertEqual(recorder.returncode, 0, words)
        work.go()
        ledger = work.truth()
        self.assertEqual(work.process.wait(60), 0)
        self.assertGreaterEqual(ledger["commands"], 4)  # of two sessions
        return ledger

    def test_a_null_reference_is_handled_there(self):
        """It arrives as a signal. The kernel ends a process where the signal of a fault is blocked."""
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                ledger = self.recorded(flavour, "null")
                self.assertEqual(ledger["null_references"], ledger["commands"])

    def test_a_collection_can_stop_it_there(self):
        """The runtime stops a thread of managed code by a signal. All others wait for it as long as it cannot be stopped."""
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                ledger = self.recorded(flavour, "spin")
                for collections in ledger["collections_while_spinning"]:
                    self.assertGreaterEqual(collections, 20)

    def test_status_says_which_call_does_not_return(self):
        """The agent's thread waits for the session that begins, the session for the handler. Nobody is left who answers."""
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                work = self.workload(flavour, "hold")
                begun = time.monotonic()
                attaching = start_clrscope("attach", "-p", work.pid)
                self.addCleanup(attaching.kill)
                wait_until(lambda: has_heartbeat(work.pid), 60, "the agent has a heartbeat")
                told = clrscope("status", "-p", work.pid, "--json")
                self.assertEqual(told.returncode, 1)
                self.assertRegex(told.stderr, rf"the agent of process {work.pid} does not answer: its thread has been in "
                                              r"EventPipeStartSession for \d+\.\d s\n$")
                answer = json.loads(told.stdout)
                since_ms = answer.pop("since_ms")
                self.assertEqual(answer, {"schema_version": 1, "pid": work.pid, "answers": False, "call": "EventPipeStartSession",
                                          "in_call": True, "process_stopped": False})
                self.assertLess(since_ms / 1000, time.monotonic() - begun)
                work.go()  # the handler returns
                wait_until(lambda: (status(work.pid) or {}).get("sampling"), 60, "the agent samples")
                answer = status(work.pid)
                self.assertTrue(answer["answers"])
                self.assertEqual(answer["longest_call"], "EventPipeStartSession")
                self.assertGreaterEqual(answer["longest_call_ns"], since_ms * 1_000_000)
                self.assertEqual(attaching.wait(60), 0, attaching.stderr.read())
                work.go()
                work.truth()
                self.assertEqual(work.process.wait(60), 0)

    def test_status_says_that_the_program_is_stopped(self):
        work = self.workload("commands", "null")
        self.assertEqual(clrscope("attach", "-p", work.pid).returncode, 0)
        self.addCleanup(os.kill, work.pid, signal.SIGCONT)
        harness.stop_process(work.pid)
        told = clrscope("status", "-p", work.pid, "--json")
        self.assertEqual(told.returncode, 1)
        self.assertTrue(json.loads(told.stdout)["process_stopped"])
        self.assertIn("does not answer: the process is stopped, by a signal or a debugger", told.stderr)
        os.kill(work.pid, signal.SIGCONT)
        self.assertTrue(status(work.pid)["answers"])
        self.assertEqual(clrscope("detach", "-p", work.pid).returncode, 0)

    def test_what_is_started_there_takes_signals(self):
        """Threads and processes inherit the mask of signals from who starts them: a process that nobody can end with SIGTERM would come of it."""
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                ledger = self.recorded(flavour, "masks")
                self.assertEqual(set(ledger["signals_of_handler"] + ledger["signals_of_its_thread"]), {ledger["signals_of_main"]})
                self.assertEqual(set(ledger["signals_of_its_child"]), {ledger["signals_of_child"]})
