# SPDX-License-Identifier: Apache-2.0
"""The program's own code on the agent's thread: handlers of the commands that a session's begin and end bring to event sources."""
import signal

from agent_case import AgentCase, start_clrscope, status, wait_until

FLAVOURS = ["commands", "commands-net9", "commands-net8"]


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

    def test_what_is_started_there_takes_signals(self):
        """Threads and processes inherit the mask of signals from who starts them: a process that nobody can end with SIGTERM would come of it."""
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                ledger = self.recorded(flavour, "masks")
                self.assertEqual(set(ledger["signals_of_handler"] + ledger["signals_of_its_thread"]), {ledger["signals_of_main"]})
                self.assertEqual(set(ledger["signals_of_its_child"]), {ledger["signals_of_child"]})
