# SPDX-License-Identifier: Apache-2.0
"""The agent's threads and code in samples of the programs that it is in."""
import os

from agent_case import AgentCase, library_path, status
import harness
from harness import clrscope, wait_until

NAME = "clrscope agent"


class OwnFrames(AgentCase):
    def check(self, work, *options):
        """Its thread waits for something to do nearly all the time."""
        self.assert_ok(clrscope("record", "-p", work.pid, "--wall", *options, "-d", "2s", "-f", "-o", self.path()))
        folded = self.path("stacks.folded")
        self.assert_ok(clrscope("convert", self.path(), "--measure", "wall", "--all-states", "-f", "-o", folded))
        with open(folded, encoding="utf-8") as file:
            stacks = [line.rpartition(" ")[0].split(";") for line in file]
        own = [stack for stack in stacks if NAME in stack]
        self.assertTrue(any("Clrscope" not in "".join(stack) for stack in own), stacks)
        for stack in own:
            self.assertIn(stack[stack.index(NAME) + 1:], ([], ["(waiting for a CPU)"]))
        frames = {frame for stack in stacks for frame in stack if "agent" in frame}
        self.assertEqual(frames, {NAME})
        rows = harness.report(self.path(), "--measure", "wall", "--by", "method", "--framework", "--all-states")["rows"]
        self.assertIn((NAME, NAME, "native"), [(row["method"], row["module"], row["kind"]) for row in rows])

    def test_of_an_agent_that_comes(self):
        for flavour in ("alloc", "alloc-musl"):
            with self.subTest(flavour):
                folder = os.path.join(harness.WORKLOADS, flavour)
                if flavour == "alloc-musl" and not os.path.exists(os.path.join(folder, "libstdc++.so.6")):
                    self.skipTest(f"{flavour} was not built: there is no runtime for musl, or no libstdc++")
                work = self.workload(flavour, "--rate", "100e6", "--seconds", "60", "--start-on-stdin",
                                     env={"LD_LIBRARY_PATH": folder})
                work.go()
                self.check(work, "--live")

    def test_of_one_whose_file_has_another_name(self):
        self.assertFalse(os.path.basename(library_path()).startswith("clrscope-agent-"))
        work = self.workload("alloc", "--rate", "100e6", "--seconds", "60", "--start-on-stdin",
                             env=self.load_variables("every=1h"))
        work.go()
        wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 0, 60, "it samples")
        self.check(work)
