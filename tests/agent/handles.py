# SPDX-License-Identifier: Apache-2.0
"""The handles of followed objects: where the runtime's table of handles may be changed, and that none is left behind."""
import os
import subprocess
import threading

from agent_case import FLAVOURS, AgentCase, Probe, status
import harness
from harness import clrscope, wait_until

# In SegmentResortChains, before it closes the chains of blocks into rings: of this build of libcoreclr.so, 8.0.33.
OFFSET, BUILD_ID = "3e7298", "be4af8fbe7201f286fe16d9afb6e7ac51280e11c"


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return notes.partition("Build ID: ")[2].split()[0]


class Handles(AgentCase):
    SECONDS = 60
    STAYS_S = (20, 3, 3, 3, 3, 3, 3)

    def hold(self, pid):
        holder = self.hold_threads(pid, "libcoreclr.so", OFFSET, 30)
        # It ends with the program's work, also where that does not end: nobody else can look at a traced thread.
        end = threading.Timer(self.SECONDS + 5, holder.terminate)
        end.start()
        self.addCleanup(end.cancel)
        return holder

    def test_a_detach_leaves_none(self):
        """Of a program that does not allocate any more, so that no thread of its own destroys them."""
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                work = self.workload(flavour, "--mode", "keep", "--rate", "max", "--bytes", "300e6", "--start-on-stdin", "--hold-on-stdin")
                self.assert_ok(clrscope("attach", "-p", work.pid))
                work.go()
                work.truth()
                # The agent's thread takes them in once a second.
                wait_until(lambda: status(work.pid)["handles"] > 100, 30, "objects are followed")
                self.assert_ok(clrscope("detach", "-p", work.pid))
                self.assert_ok(clrscope("attach", "-p", work.pid))
                self.assertEqual(status(work.pid)["handles_waiting"], 0)
                work.process.stdin.close()
                self.assertEqual(work.process.wait(60), 0)

    def test_collections_that_sort_the_table(self):
        """Agents come and go while collections are held where they sort the table without its lock. A handle that is destroyed by a thread
        that the collection did not stop makes such a program stand still within seconds."""
        library = os.path.join(harness.WORKLOADS, "alloc-net8", "libcoreclr.so")
        work = self.workload("alloc-net8", "--mode", "mix", "--threads", "4", "--rate", "max", "--seconds", "300",
                             "--start-on-stdin", "--stop-on-stdin", "--hold-on-stdin")
        self.assertEqual(build_id(library), BUILD_ID, "another runtime: find the place in it")
        reports = []

        def come_and_go():
            for seconds in self.STAYS_S:
                reports.append(Probe(work.pid, seconds).report())

        work.go()
        stays = threading.Thread(target=come_and_go)
        stays.start()
        wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 100, 60, "the agent samples")
        holder = self.hold(work.pid)
        stays.join(sum(self.STAYS_S) + 120)
        self.assertFalse(stays.is_alive(), harness.threads_of(work.pid))
        work.go()
        work.truth()  # or what its threads do, where it stands still
        self.assertGreater(self.held(holder), 10)
        self.assertEqual(len(reports), len(self.STAYS_S))
        for report in reports:
            self.assertTrue(report["last"])
            self.assertGreater(report["deaths"], 0)
        work.process.stdin.close()
        self.assertEqual(work.process.wait(60), 0)
