# SPDX-License-Identifier: Apache-2.0
"""Who awaits an async method, as the agent shows it, against a program that knows: no caller is wrong, and few are missing."""
import glob
import os
import re

from agent_case import AgentCase, status
from harness import clrscope, wait_until
from pprof_file import PprofFile

FLAVOURS = ["awaits", "awaits-net9", "awaits-net8"]
MARK = "[async] "
BROKEN = "[truncated]"
ENDS = ("async_all", "async_new_type", "async_no_box", "async_ambiguous", "async_other", "async_unreadable", "async_too_deep")


def plain(name):
    """'[async] A.B.Generic<int>.M<T>' without namespace and arguments."""
    name = name.removeprefix(MARK).removesuffix(" [async]").replace("Clrscope.Workloads.Awaits.", "")
    while "<" in name:
        shorter = re.sub(r"<[^<>]*>", "", name)
        if shorter == name:
            break
        name = shorter
    return name


class Tally:
    """Samples of each kind: right, missing (no caller, or not all), wrong."""

    def __init__(self, truth, folded):
        self.kinds = {k["kind"]: {"right": 0, "missing": 0, "broken": 0, "wrong": []} for k in truth["kinds"]}
        by_type = {f"Clrscope.Workloads.Awaits.{k['type']}[]": k for k in truth["kinds"]}
        for line in folded.splitlines():
            stack, weight = line.rsplit(" ", 1)
            *frames, of_type = stack.split(";")
            kind = by_type.get(of_type)
            if kind is None:
                continue
            self.add(kind, frames[::-1], int(weight))

    def add(self, kind, frames, weight):
        names = [plain(f) for f in frames]
        if kind["leaf"] not in names:
            return
        below = frames[names.index(kind["leaf"]) + 1:]
        told = [plain(f) for f in below if f.startswith(MARK)]
        want = [*kind["callers"], "Program.Repeat"]
        tally = self.kinds[kind["kind"]]
        if told != want[:len(told)]:
            tally["wrong"].append(told)
        elif len(told) == len(want) and len(below) == len(told):
            tally["right"] += weight
        else:
            tally["missing"] += weight
            tally["broken"] += weight if BROKEN in below else 0

    def samples(self, kind):
        k = self.kinds[kind]
        return k["right"] + k["missing"]

    def share(self):
        right = sum(k["right"] for k in self.kinds.values())
        return right / max(1, right + sum(k["missing"] for k in self.kinds.values()))

    def __str__(self):
        return "\n".join(f"{name:16} right {k['right']:6} missing {k['missing']:5} broken {k['broken']:5} wrong {k['wrong'][:2]}"
                         for name, k in self.kinds.items())


class AsyncCallers(AgentCase):
    # Of the samples whose types and code are known: some awaiter has not come to its await yet.
    LEAST = 0.95

    def follow(self, flavour, *program, env=None, seconds=8):
        """Tally of all samples from the program's start on, and the agent's counts. A stack with code or a type that is new has no callers
        yet: for how long depends on how soon the agent's thread gets a processor, so that a busy machine's program runs for longer."""
        for times in (1, 4, 16):
            tally, state = AsyncCallers.follow_once(self, flavour, *program, env=env, seconds=times * seconds)
            if AsyncCallers.new_part(state) < 0.5:
                break
        return tally, state

    def follow_once(self, flavour, *program, env, seconds):
        for path in glob.glob(self.path("*.pb")):
            os.unlink(path)
        work = self.workload(flavour, "--start-on-stdin", "--hold-on-stdin", "--seconds", str(seconds), *program, env=env)
        self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "2s", "-o", self.path("%p-%t.pb")))
        wait_until(lambda: (status(work.pid) or {}).get("sampling"), 60, "it measures")
        work.go()
        truth = work.truth()
        state = status(work.pid)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        work.end()
        folded = clrscope("convert", self.dir, "--format", "folded", "--framework", "--weight", "objects", "-o", "-")
        self.assert_ok(folded)
        return Tally(truth, folded.stdout), state

    @staticmethod
    def new_part(state):
        return (state["async_new_type"] + state["walk_new"]) / state["samples"]

    def check(self, tally, state, least=LEAST):
        for kind, k in tally.kinds.items():
            self.assertEqual(k["wrong"], [], kind)
            self.assertGreater(tally.samples(kind), 20, f"{kind}\n{tally}")
        new = AsyncCallers.new_part(state)
        self.assertLess(new, 0.5, state)
        self.assertGreater(tally.share(), least * (1 - new), f"{tally}\n{state}")

    def test_every_kind_of_chain(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                tally, state = self.follow(flavour)
                self.check(tally, state)
                # Two wait in one kind, which is told.
                self.assertGreater(state["async_several"], 0)

    def test_while_everything_moves(self):
        """Compacting collections all the time, with a small gen0; code that is never optimised, whose frames hold more."""
        for flavour in FLAVOURS:
            for env in ({"DOTNET_GCgen0size": "0x40000"}, {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"},
                        {"DOTNET_JITMinOpts": "1", "DOTNET_GCgen0size": "0x40000"}):
                with self.subTest(flavour=flavour, env=env):
                    tally, state = self.follow(flavour, "--threads", "4", "--compact", "5", env=env, seconds=4)
                    self.check(tally, state, 0.9)

    def test_what_is_missing_is_a_loss(self):
        """Types are new at first, so that some are."""
        tally, state = self.follow("awaits", seconds=3)
        missing = sum(state[end] for end in ENDS if end != "async_all")
        self.assertGreater(missing, 0)
        lines = [c for path in glob.glob(self.path("*.pb")) for c in PprofFile(path).comments if "agent_async_callers_unknown" in c]
        self.assertEqual(sum(int(line.split()[1]) for line in lines), missing)
        self.assertGreater(tally.share(), 0)

    def test_it_can_be_left_out(self):
        work = self.workload("awaits", "--start-on-stdin", "--hold-on-stdin", "--seconds", "2",
                             env=self.load_variables(f"every=1s,async=0,output={self.path('%p-%t.pb')}"))
        work.go()
        work.truth()
        state = status(work.pid)
        self.assertGreater(state["samples"], 100)
        self.assertEqual(sum(state[end] for end in ENDS), 0)
