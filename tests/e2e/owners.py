# SPDX-License-Identifier: Apache-2.0
"""Nested types are shown with their owners, as the program itself writes its types (Type.ToString)."""
import json
import os
import subprocess
import time

import harness
from harness import Case, Workload, await_recording, await_sampling, clrscope, loss, report, start_clrscope
from seccomp import without_memory

FLAVOURS = ("alloc", "alloc-net9", "alloc-net8")
LOAD = ("--mode", "nested", "--bytes", "400000000", "--rate", "300000000")
# Without the runtime's memory: two types have such a name, or one of the framework may be meant.
AMBIGUOUS = ("Twin", "Borrowed", "Entry", "Slot")


def last_part(clr_type):
    """What the runtime's events say of it: "Slot[System.Int32]" of "Shop.Box`1+Slot[System.Int32]"."""
    outer = clr_type.split("[")[0]
    return clr_type[outer.rfind("+") + 1:]


class Owners(Case):
    def check(self, truth, except_for=()):
        """Each type of the program is one row, under its whole name."""
        p = report(self.path(), "--by", "type", "-n", "0")
        rows = {}
        for row in p["rows"]:
            rows.setdefault(row["raw"], []).append(row)
        nested = 0
        lonely = {t["clr_type"] for t in truth["types"]}
        for t in truth["types"]:
            raw = t["clr_type"]
            bare = last_part(raw)
            if bare.split("[")[0] in except_for:
                if raw != bare:
                    self.assertNotIn(raw, rows, "it was guessed")
                self.assertIn(bare, rows)
                continue
            self.assertEqual(len(rows.get(raw, [])), 1, raw)
            self.assertEqual(rows[raw][0]["type"], t["type"])
            if raw != bare:
                nested += 1
                if bare not in lonely:
                    self.assertNotIn(bare, rows)
        self.assertGreaterEqual(nested, 5 if except_for else 14)
        return p

    def launch(self, flavour, *options, load=LOAD, **kwargs):
        folder = os.path.join(harness.WORKLOADS, flavour)
        command = ["dotnet", os.path.join(folder, "alloc.dll")] if flavour == "alloc" else [os.path.join(folder, "alloc")]
        r = clrscope("record", "-f", "-o", self.path(), *options, "--", *command, *load, "--whole", timeout=120, **kwargs)
        self.assert_ok(r)
        return json.loads(r.stdout.splitlines()[1])

    def test_of_a_launched_program(self):
        for flavour in FLAVOURS:
            self.check(self.launch(flavour))

    def test_of_a_running_program(self):
        for flavour in FLAVOURS:
            truth, _ = self.record(flavour, program=LOAD)
            self.check(truth)

    def test_of_counted_types(self):
        for flavour in FLAVOURS:
            truth = self.launch(flavour, "--types", "all", load=("--mode", "nested", "--bytes", "8000000", "--rate", "max"))
            p = self.check(truth)
            rows = {row["raw"]: row for row in p["rows"]}
            for t in truth["types"]:
                if t["clr_type"] != "System.Int32[]":
                    self.assertEqual(rows[t["clr_type"]]["objects"], t["objects"], t["clr_type"])
            self.assertEqual(loss(p, "unnamed_types"), 0)

    def test_of_counted_types_without_the_programs_memory(self):
        load = ("--mode", "nested", "--bytes", "8000000", "--rate", "max")
        self.check(self.launch("alloc", "--types", "all", load=load, preexec_fn=without_memory()))

    def test_without_the_programs_memory_names_that_two_types_have_stay(self):
        for flavour in FLAVOURS:
            truth, _ = self.record_without_memory(flavour)
            self.check(truth, except_for=AMBIGUOUS)

    def record_without_memory(self, flavour):
        with Workload("--start-on-stdin", "--hold-on-stdin", *LOAD, flavour=flavour) as w:
            recording = subprocess.Popen([harness.CLRSCOPE, "record", "-p", str(w.pid), "-o", self.path(), "-f"],
                                         stderr=subprocess.PIPE, text=True, preexec_fn=without_memory())
            self.addCleanup(recording.kill)
            await_recording(recording)
            time.sleep(0.5)
            w.go()
            truth = w.truth()
            time.sleep(0.5)
            words = self.end_recording(recording)
        return truth, words

    def test_of_a_single_file(self):
        truth, _ = self.record("alloc-single", program=LOAD)
        self.check(truth)
        truth, _ = self.record_without_memory("alloc-single")
        self.check(truth, except_for=AMBIGUOUS)

    def test_the_agent_writes_the_same(self):
        for flavour in FLAVOURS:
            truth, _ = self.record(flavour, "--live", program=LOAD, opened=await_sampling)
            self.check(truth)

    def test_of_live_views(self):
        with Workload("--start-on-stdin", "--hold-on-stdin", "--mode", "nested", "--seconds", "60", "--rate", "300000000") as w:
            top = start_clrscope("top", "-p", w.pid, "--jsonl", "-d", "6s", "--by", "type")
            self.addCleanup(top.kill)
            time.sleep(0.5)
            w.go()
            out, words = top.communicate(timeout=60)
            self.assertEqual(top.returncode, 0, words)
        last = json.loads(out.splitlines()[-1])
        names = [row["type"] for row in last["rows"]]
        self.assertIn("Clrscope.Workloads.Crate<int>.Slot", names)
        self.assertEqual([n for n in names if n.startswith(("Slot<", "Pin<", "Mark<", "Twin"))], [])

    def test_recordings_of_before_can_be_compared(self):
        """What knows owners and what does not are compared by the names that both know."""
        truth, _ = self.record("alloc", program=LOAD)
        os.rename(self.path(), self.path("now.clrscope"))
        self.record_without_memory("alloc")
        r = clrscope("diff", self.path(), self.path("now.clrscope"), "--by", "type", "--json", "-n", "0")
        rows = {row["type"]: row for row in json.loads(r.stdout)["rows"]}
        self.assertIn("Clrscope.Workloads.Crate<string>.Mark[,]", rows)
        self.assertIn("Twin", rows)
        self.assertNotIn("Clrscope.Workloads.Left.Twin", rows)
        self.assertGreater(rows["Twin"]["before"], 0)
        self.assertGreater(rows["Twin"]["after"], 0)
