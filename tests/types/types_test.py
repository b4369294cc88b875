# SPDX-License-Identifier: Apache-2.0
"""`record --types`: what the runtime counts, against a program that counts its own allocations."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness
from harness import Case, Workload, clrscope, command, loss, report, start_clrscope, wait_until

FLAVOURS = ("alloc", "alloc-net8", "alloc-net9")
# Sizes of these differ from object to object.
VARYING = {"Clrscope.Workloads.Pixel[]"}
# The framework allocates these too.
SHARED = {"System.String", "System.Byte[]"}


class Types(Case):
    def count(self, how, *args, flavour="alloc", threads=16, size=40_000_000, record=(), env=None):
        """Records a program from its first allocation to its end; its ledger and the report by type."""
        r = clrscope("record", "--types", how, "-f", "-o", self.path(), *record, "--", *command(flavour), "--mode", "types",
                     "--whole", "--threads", threads, "--bytes", size, "--rate", "max", *args, env={**os.environ, **(env or {})})
        self.assert_ok(r)
        return json.loads(r.stdout.splitlines()[1]), report(self.path(), "--by", "type")

    def rows_of(self, truth, p):
        """(type of the ledger, its row)."""
        by_name = {row["raw"]: row for row in p["rows"]}
        for t in truth["types"]:
            if t["clr_type"] not in SHARED:
                yield t, by_name[t["clr_type"]]

    def check_equal(self, flavour, threads):
        truth, p = self.count("all", flavour=flavour, threads=threads)
        self.assertEqual(loss(p, "events_dropped"), 0)
        self.assertTrue(p["exact"])
        checked = 0
        for t, row in self.rows_of(truth, p):
            what = f"{t['type']} of {flavour}"
            if t["type"] == "Clrscope.Workloads.Pixel" and flavour == "alloc":
                # .NET 10 boxes on a path that counts nothing, and the report must say so.
                self.assertFalse(row["exact"], what)
                self.assertLess(row["objects"], t["objects"], what)
                continue
            checked += 1
            self.assertTrue(row["exact"], what)
            self.assertEqual(row["objects"], t["objects"], what)
            self.assertEqual(row["objects_high"], t["objects"], what)
            if t["type"] in VARYING:  # the main thread made some in its warm-up
                self.assertLessEqual(row["bytes_low"], t["exact_bytes"], what)
                self.assertLess(abs(row["bytes"] - t["exact_bytes"]), threads * 1224, what)  # 100 pixels
            else:
                self.assertEqual(row["bytes"], t["exact_bytes"], what)
            if not row["guessed_bytes"]:
                self.assertEqual((row["bytes_low"], row["bytes_high"]), (t["exact_bytes"],) * 2, what)
            loh = "System.Int32]" in row["raw"] and row["raw"].endswith("[]")
            self.assertEqual(row["loh_size_share"], 1 if loh else 0, what)
        self.assertGreaterEqual(checked, 12)
        # Text and bytes of the workload's own, by the site.
        sites = {(r["method"], r["type"]): r for r in report(self.path(), "--by", "site")["rows"]}
        for s in truth["sites"]:
            if s["type"] in ("string", "byte[]"):
                row = sites[(s["site"], s["type"])]
                # All but each further thread's first one, which nobody can tell from the framework's.
                self.assertLessEqual(s["objects"] - row["objects"], threads, s["site"])
                self.assertGreaterEqual(s["objects"], row["objects"], s["site"])

    def test_every_object_of_one_thread_is_counted(self):
        for flavour in FLAVOURS:
            self.check_equal(flavour, 1)

    def test_every_object_of_16_threads_is_counted(self):
        for flavour in FLAVOURS:
            self.check_equal(flavour, 16)

    def test_low_and_high_never_count_more_than_there_is(self):
        for flavour in FLAVOURS:
            for how in ("low", "high"):
                truth, p = self.count(how, flavour=flavour, threads=4)
                self.assertFalse(p["exact"])
                for t, row in self.rows_of(truth, p):
                    what = f"{t['type']}, {how}, {flavour}"
                    self.assertFalse(row["exact"], what)
                    self.assertLessEqual(row["objects"], t["objects"], what)
                    self.assertLessEqual(row["bytes"], t["exact_bytes"], what)
                    self.assertEqual(row["bytes_low"], row["bytes"], what)
                    if row["bytes_high"] is not None:  # another session on the machine may silence the ticks
                        self.assertGreaterEqual(row["bytes_high"], t["exact_bytes"], what)
                        self.assertGreaterEqual(row["objects_high"], t["objects"], what)

    def test_high_is_within_two_percent_in_total(self):
        # No event tells what was left at the end: at most 1,000 objects of a type for each thread that there is.
        for flavour in FLAVOURS:
            truth, p = self.count("high", flavour=flavour, threads=1, size=1_000_000_000)
            mine = sum(row["bytes"] for _, row in self.rows_of(truth, p))
            real = sum(t["exact_bytes"] for t, _ in self.rows_of(truth, p))
            self.assertGreater(mine, 0.98 * real, flavour)
            self.assertLessEqual(mine, real, flavour)

    def test_dropped_events_are_counted_and_end_exactness(self):
        truth, p = self.count("all", threads=8, size=150_000_000, record=("--buffersize", "1"))
        self.assertGreater(loss(p, "events_dropped"), 0)
        self.assertFalse(p["exact"])
        self.assertIn("events were lost", " ".join(p["notes"]))
        for t, row in self.rows_of(truth, p):
            self.assertLessEqual(row["objects"], t["objects"])
            self.assertFalse(row["exact"])

    def test_a_killed_program_is_not_exact(self):
        recording = start_clrscope("record", "--types", "all", "-o", self.path(), "--", *command("alloc"), "--seconds", "60", "--rate", "1000000")
        pid = json.loads(recording.stdout.readline())["ready"]
        wait_until(lambda: os.path.exists(self.path()) and (self.written("objects") or 0) > 1000, 60, "objects in the file")
        os.kill(pid, signal.SIGKILL)
        _, said = recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 128 + signal.SIGKILL, said)
        p = report(self.path())
        self.assertGreater(p["totals"]["objects"], 1000)
        self.assertFalse(p["exact"])
        self.assertIn("end of a process was not seen", " ".join(p["notes"]))

    def test_a_child_is_named_and_not_counted(self):
        """It does not wait at its start, and the runtime cannot be told later."""
        recording = start_clrscope("record", "--types", "all", "-o", self.path(), "--", *command("idle"), "--child", stdin=subprocess.PIPE)
        line = ""
        while not line.startswith("child pid"):
            line = recording.stdout.readline()
        child = int(line.split()[-1])
        _, said = recording.communicate("\n", timeout=60)
        self.assertEqual(recording.returncode, 0, said)
        self.assertIn(f"not recorded: process {child}: a runtime can only be told at its start to count", said)
        self.assertEqual(len(report(self.path())["processes"]), 1)

    def test_a_script_is_refused_with_what_works_instead(self):
        r = clrscope("record", "--types", "all", "-o", self.path(), "--", "sh", "-c", "true")
        self.assertEqual(r.returncode, 2)
        self.assertIn("--exact", r.stderr)
        self.assertFalse(os.path.exists(self.path()))
        r = clrscope("record", "--types", "all", "-o", self.path(), "--", "no-such-program")
        self.assertEqual(r.returncode, 127)

    def test_a_recording_that_ends_first_is_exact_as_far_as_it_goes(self):
        self.assert_ok(clrscope("record", "--types", "all", "-d", "3s", "-o", self.path(), "--", *command("alloc"),
                                "--seconds", "6", "--rate", "10000000"))
        p = report(self.path())
        self.assertTrue(p["exact"])
        self.assertGreater(p["totals"]["objects"], 1000)

    def test_the_loh_begins_where_the_process_says(self):
        _, p = self.count("all", threads=1, env={"DOTNET_GCLOHThreshold": "20000"})  # hexadecimal: 131,072
        counting = p["processes"][0]["counting"]
        self.assertTrue(counting["loh_threshold_known"])
        self.assertEqual(counting["loh_threshold"], 0x20000)

    def test_every_type_is_named_and_every_stack_is_there(self):
        _, p = self.count("all", threads=4)
        self.assertEqual(loss(p, "unnamed_types"), 0)
        self.assertEqual(loss(p, "unresolved_frames"), 0)
        sites = report(self.path(), "--by", "site", "--type", "Nested")["rows"]
        self.assertIn("Clrscope.Workloads.TypeSites.MakeNested", [r["method"] for r in sites])
        text = clrscope("report", self.path()).stdout
        for words in ("Exact:", "Types by bytes", "Types by count", "Average", "LOH size"):
            self.assertIn(words, text)

    def test_other_programs_and_sql_get_the_same_figures(self):
        truth, p = self.count("all", threads=1)
        row = next(row for t, row in self.rows_of(truth, p) if t["type"].endswith("Plain"))
        folded = clrscope("convert", self.path(), "-o", "-", "--format", "folded", "--weight", "objects").stdout
        mine = [line for line in folded.splitlines() if line.split(";")[-1].rsplit(" ", 1)[0] == row["type"]]
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in mine), row["objects"])
        answer = json.loads(clrscope("query", self.path(), "--json",
                                     "select objects, objects_high, bytes from types where type like '%.Plain'").stdout)
        self.assertEqual([row["objects"], row["objects"], row["bytes"]], list(answer["rows"][0].values())
                         if isinstance(answer["rows"][0], dict) else answer["rows"][0])
        counts = clrscope("query", self.path(), "--csv", "select mode, exact from counts").stdout.split()
        self.assertEqual(counts[1], "all,1")

    def test_an_attach_is_refused_with_what_works_instead(self):
        with Workload("--seconds", "30", "--rate", "1000000") as w:
            r = clrscope("record", "--types", "all", "-p", w.pid, "-d", "1s", "-o", self.path())
        self.assertEqual(r.returncode, 2)
        self.assertIn("launch", r.stderr)
        self.assertIn("sampling", r.stderr)
        self.assertFalse(os.path.exists(self.path()))

    def test_what_it_costs_is_said_beforehand(self):
        program = ("--", *command("alloc"), "--bytes", "1000")
        r = clrscope("record", "--types", "low", "-o", self.path(), *program)
        self.assertIn("slow path", r.stderr)
        self.assertEqual(clrscope("record", "-q", "--types", "low", "-f", "-o", self.path(), *program).stderr, "")


if __name__ == "__main__":
    harness.main("__main__")
