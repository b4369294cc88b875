# SPDX-License-Identifier: Apache-2.0
"""Exceptions, locks and waits of live processes, against programs that count them themselves."""
import json
import os
import shlex
import signal
import subprocess
import unittest

import harness
from clock import clock
from harness import Case, Workload, clrscope, command, loss, report, sockets, start_clrscope, start_recording, wait_until

# Long beside what a thread does before it waits.
LONG = ("--hold-ms", "200", "--rounds", "2")
RUNTIMES = {"": "10", "-net9": "9", "-net8": "8"}


def shown(of):
    """A type as the event names it, with its owner, which no other type of that name has."""
    outer = of["clr_type"].split("[")[0]
    return outer[:outer.rfind("+") + 1] + of["event_type"]


class Events(Case):
    def test_exceptions_are_counted_as_the_program_counts_them(self):
        for suffix, version in RUNTIMES.items():
            with self.subTest(runtime=version):
                truth, _ = self.record("throws" + suffix, "--only", "exceptions")
                p = report(self.path(), "--measure", "exceptions", "--by", "type")
                again = truth["rethrows"] + (truth["rethrows_by_throw_statement"] if version == "8" else truth["rethrows_by_native_code"])
                self.assertEqual((p["totals"]["count"], p["totals"]["rethrows"]), (truth["throws"], again))
                for name, mark in (("inner", 1), ("nested", 2)):
                    marked = sum(site["throws"] for site in truth["sites"] if site["marks"] & mark)
                    self.assertGreater(marked, 0)
                    self.assertEqual(p["totals"][name], marked, name)
                want = {}
                for t in truth["types"]:
                    counts = want.setdefault(shown(t), [0, 0])
                    counts[0] += t["throws"]
                    counts[1] += t["events"] - t["throws"]
                rows = {row["raw"]: [row["count"], row["rethrows"]] for row in p["rows"]}
                self.maxDiff = None
                self.assertEqual(rows, want)
                self.assertEqual(p["measure"], "exceptions")
                self.assertEqual(loss(p, "unnamed_types"), 0)

    def test_an_exception_belongs_to_the_method_that_throws_it(self):
        truth, _ = self.record("throws", "--only", "exceptions", program=("--kinds", "plain,nested,filter,library"))
        p = report(self.path(), "--by", "site")
        self.assertEqual(p["measure"], "exceptions", "what was recorded is shown")
        throws = {}
        for site in truth["sites"]:
            throws[site["site"]] = throws.get(site["site"], 0) + site["throws"]
        told = {}
        for row in p["rows"]:
            told[row["method"]] = told.get(row["method"], 0) + row["count"]
        self.assertEqual(told, throws)
        by_method = report(self.path(), "--by", "method")
        self.assertEqual(sum(row["self_count"] for row in by_method["rows"]), truth["throws"])
        self.assertGreaterEqual(max(row["total_count"] for row in by_method["rows"]), truth["throws"] / 2)
        threads = report(self.path(), "--by", "thread")
        self.assertEqual(sum(row["count"] for row in threads["rows"]), truth["throws"])
        one = report(self.path(), "--by", "thread", "--type", "PlainError")
        self.assertEqual(sum(row["count"] for row in one["rows"]), sum(t["throws"] for t in truth["types"] if "PlainError" in t["event_type"]))
        times = report(self.path(), "--by", "time:1s", "--method", "Plain")
        self.assertEqual(sum(row["count"] for row in times["rows"]), sum(row["count"] for row in one["rows"]))

    def test_messages_are_kept_only_where_they_are_asked_for(self):
        program = ("--messages", "--rounds", "200", "--kinds", "plain,inner")
        self.record("throws", "--only", "exceptions", program=program)
        r = clrscope("report", self.path(), "--by", "message")
        self.assertEqual(r.returncode, 3)
        self.assertIn("record --exceptions --messages", r.stderr)
        strings = clrscope("query", self.path(), "select count(*) from exceptions where message is not null", "--json")
        self.assertIn('"count(*)":0', strings.stdout.replace(" ", ""))

        truth, _ = self.record("throws", "--messages", "--only", "exceptions", program=program)
        p = report(self.path(), "--by", "message")
        self.assertEqual(sum(row["count"] for row in p["rows"]), truth["throws"])
        said = [row["message"] for row in p["rows"] if row["message"] and row["message"].startswith("secret-")]
        self.assertEqual(len(said), len(set(said)), "each was thrown once")
        self.assertGreater(truth["messages"], 1000)
        self.assertEqual(len({row["message"] for row in p["rows"]} - {"(other)", None}), 1000, "no more are kept")
        other = sum(row["count"] + row["rethrows"] for row in p["rows"] if row["message"] == "(other)")
        self.assertEqual(other, loss(p, "messages_capped"))
        self.assertGreater(other, 0)

    def test_locks_and_waits_are_told_once_and_as_long_as_the_program_says(self):
        for suffix, version in RUNTIMES.items():
            with self.subTest(runtime=version):
                truth, _ = self.record("locks" + suffix, "--only", "locks,waits", program=LONG)
                p = self.check_locks(self.path(), truth)
                ended = truth["contentions"] - truth["contention_stops"]
                self.assertEqual(loss(p, "waits_without_end"), ended)
                self.check_waits(self.path(), truth, version)

    def test_a_sample_of_the_owner_tells_what_it_did_meanwhile(self):
        for suffix, version in RUNTIMES.items():
            with self.subTest(runtime=version):
                kinds = "monitor" if version == "8" else "monitor,lock"
                truth, _ = self.record("locks" + suffix, "--only", "allocations,locks", program=("--busy", "--kinds", kinds, "--rounds", "8"))
                rows = {row["owner"]: row for row in report(self.path(), "--measure", "locks", "--by", "owner")["rows"]}
                for kind in truth["kinds"]:
                    holding = rows[kind["owner_os_thread_id"]]["holding"]
                    self.assertEqual(holding[0]["method"], truth["holding"], holding)
                    # The thread allocates a little before that, too, while it looks whether the others wait.
                    self.assertGreaterEqual(holding[0]["count"], 0.75 * kind["contention_stops"], holding)
                    self.assertLessEqual(sum(h["count"] for h in holding), rows[kind["owner_os_thread_id"]]["count"])
                self.assertIn(truth["holding"].split(".")[-1], clrscope("report", self.path(), "--measure", "locks", "--by", "owner").stdout)
                r = clrscope("query", self.path(), "select sum(count) n from locks where holding = '" + truth["holding"] + "'", "--json")
                self.assertGreaterEqual(json.loads(r.stdout)["rows"][0]["n"], 0.75 * truth["contention_stops"], r.stderr)
        self.record("locks", "--only", "locks", program=("--busy", "--kinds", "monitor"))
        rows = report(self.path(), "--by", "owner")["rows"]
        self.assertEqual([row["holding"] for row in rows], [None] * len(rows), "no event of the owner's has a stack")

    def test_what_native_aot_does_not_say(self):
        idle = subprocess.Popen([os.path.join(harness.WORKLOADS, "idle-aot/idle"), "--seconds", "120"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        self.addCleanup(idle.communicate)  # it ends with its input
        self.addCleanup(idle.kill)
        self.assertEqual([idle.stdout.readline().split()[0] for _ in range(2)], ["pid", "ready"])
        doctor = " ".join(clrscope("doctor", idle.pid).stdout.split())
        self.assertNotIn("sampled fairly", doctor)
        self.assertIn("the agent cannot be loaded: it was compiled with NativeAOT", doctor)
        r = clrscope("record", "-p", idle.pid, "--live", "-d", "1", "-o", self.path("live.clrscope"))
        self.assertEqual(r.returncode, 6, r.stderr)
        self.assertIn("NativeAOT", r.stderr)
        recorder = start_recording("-p", idle.pid, "-o", self.path())
        wait_until(lambda: self.written("samples"), 60, "something is allocated")
        self.assertIn("its events have no stacks", self.end_recording(recorder))
        p = report(self.path())
        self.assertEqual(loss(p, "no_stacks"), p["totals"]["samples"])
        self.assertEqual([row["type"][:8] for row in p["rows"]], ["[type 0x"] * len(p["rows"]))
        self.assertIn("NativeAOT writes none", clrscope("report", self.path()).stdout)

    def test_waits_are_recorded_without_locks(self):
        for suffix, version in (("", "10"), ("-net8", "8")):
            with self.subTest(runtime=version):
                truth, _ = self.record("locks" + suffix, "--only", "waits", program=(*LONG, "--kinds", "monitor,event,join"))
                self.check_waits(self.path(), truth, version)

    def test_a_wait_that_never_ends_is_told(self):
        for suffix, version in RUNTIMES.items():
            with self.subTest(runtime=version):
                truth, _ = self.record("locks" + suffix, "--only", "locks", program=("--hang", "--kinds", "monitor", "--rounds", "1"), hang=1.0)
                rows = {row["method"]: row for row in report(self.path(), "--by", "site")["rows"]}
                self.assertGreater(rows[truth["hang"]["method"]]["wait_ns"], 1e9)
                threads = report(self.path(), "--by", "thread", "--thread", f"^{truth['hang']['thread'][:15]}$")["rows"]
                self.assertEqual([row["name"] for row in threads], [truth["hang"]["thread"][:15]], "15 characters are what the system keeps")
                self.assertGreater(threads[0]["wait_ns"], 1e9)
                text = clrscope("report", self.path()).stdout
                self.assertIn("1 of them had not ended", text)

    def test_stacks_that_are_cut_are_counted_by_whoever_cuts_them(self):
        program = ("--storm", "50", "--depth", "700", "--seconds", "4")
        self.record("throws", "--only", "exceptions", program=program)
        p = report(self.path(), "--by", "site")
        self.assertEqual(loss(p, "truncated_stacks"), p["totals"]["count"] + p["totals"]["rethrows"], "the runtime keeps 100 frames")
        # The agent's are of 512 frames, samples of CPU time of 1,024.
        self.record("throws", "--live", "--exceptions", "--cpu", program=program)
        p = report(self.path(), "--measure", "exceptions", "--by", "site")
        self.assertGreater(p["totals"]["count"], 0)
        self.assertGreaterEqual(loss(p, "truncated_stacks"), p["totals"]["count"])
        folded = self.path("cpu.folded")
        self.assert_ok(clrscope("convert", self.path(), "-o", folded, "--measure", "cpu"))
        with open(folded, encoding="utf-8") as file:
            deep = [line for line in file if line.count("Storm.Descend;") > 90]
        self.assertGreater(len(deep), 0)
        for line in deep:
            self.assertNotEqual(line.startswith("[truncated]"), "Storm.One;" in line, line[:200])

    def test_names_without_end_and_hostile_ones(self):
        truth, _ = self.record("throws", "--only", "exceptions", program=("--hostile", "--types", "3000", "--seconds", "1"))  # no storm, and 30 MB that the runtime has room for
        p = report(self.path(), "--measure", "exceptions", "--by", "type")
        self.assertEqual(p["totals"]["count"], truth["throws"] - truth["events_too_large"], p["losses"])
        self.assertGreaterEqual(loss(p, "events_dropped"), truth["events_too_large"])
        sentences = [row["sentence"] for row in p["losses"] if row["name"] == "events_dropped"]
        self.assertTrue("larger than 64 KB" in sentences[0] or truth["events_too_large"] == 0, sentences)
        text = clrscope("report", self.path(), "--by", "type").stdout
        self.assertNotIn("\x1b]", text)
        self.assertEqual(clrscope("report", self.path(), "--by", "type", "--csv").returncode, 0)

    def test_files_hold_every_measure(self):
        self.record("locks", "--measures", "allocations,exceptions,locks,waits")
        totals = {m: report(self.path(), "--measure", m)["totals"] for m in ("locks", "waits")}
        self.assertGreater(totals["locks"]["wait_ns"], 0)
        for measure, want in totals.items():
            for weight in ("wait_ns", "count"):
                r = clrscope("convert", self.path(), "-o", "-", "--format", "folded", "--measure", measure, "--weight", weight)
                self.assert_ok(r)
                self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in r.stdout.splitlines()), want[weight])
        r = clrscope("convert", self.path(), "-o", "-", "--format", "speedscope")
        self.assert_ok(r)
        ends = {p["name"].split(" – ")[0]: p["endValue"] for p in json.loads(r.stdout)["profiles"]}
        self.assertIn("allocated bytes", ends)
        for measure, want in totals.items():
            self.assertEqual(ends[f"{measure}: waited"], want["wait_ns"])
            self.assertEqual(ends[f"{measure}: waits"], want["count"])
        for name in ("x.pb.gz", "x.html"):
            self.assert_ok(clrscope("convert", self.path(), "-o", self.path(name)))
        back = report(self.path("x.pb.gz"))
        self.assertEqual(back["totals"]["bytes"], report(self.path())["totals"]["bytes"], "of the file's values those of memory are read")

    def test_what_was_not_recorded_is_no_zero(self):
        truth, _ = self.record("throws", "--exceptions", program=("--kinds", "plain"))
        self.assertEqual(report(self.path(), "--measure", "exceptions")["totals"]["count"], truth["throws"])
        r = clrscope("report", self.path(), "--measure", "locks")
        self.assertEqual(r.returncode, 3)
        self.assertIn("record with --locks", r.stderr)
        for wrong in (("--measure", "nonsense"), ("--measure", "exceptions", "--sort", "wait_ns"), ("--measure", "exceptions", "--by", "kind"),
                      ("--measure", "exceptions", "--by", "age")):
            r = clrscope("report", self.path(), *wrong)
            self.assertEqual(r.returncode, 2, wrong)
            self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
        r = clrscope("record", "-p", "1", "--only", "exeptions")
        self.assertEqual(r.returncode, 2)
        self.assertIn("exceptions", r.stderr)

    @clock
    def test_a_storm_is_counted_by_the_runtime_and_seen_in_windows(self):
        for suffix, version in RUNTIMES.items():
            with self.subTest(runtime=version):
                program = ("--storm", "30000", "--seconds", "10", "--share", "0.1", "--threads", "2", "--without-first-chance")
                truth, _ = self.record("throws" + suffix, "--only", "exceptions", program=program)
                p = report(self.path(), "--by", "type")
                storm = p["storm"]
                self.assertEqual(storm["counter"], "exception-count")
                self.assertGreater(storm["windows"], 4)
                # Where counting begins is known to a few milliseconds of 30,000 throws a second; busy machines are slower.
                self.assertAlmostEqual(p["totals"]["count"] / truth["throws"], 1, delta=0.02)
                self.assertGreaterEqual(truth["throws"] - storm["thrown"], 10_000, "what came first was recorded whole")
                self.assertLess(storm["recorded"], 0.5 * storm["thrown"])
                rows = {row["raw"]: row for row in p["rows"]}
                for t in truth["types"]:
                    row = rows[t["event_type"]]
                    self.assertLessEqual(row["count_low"], row["count"])
                    self.assertGreaterEqual(row["count_high"], row["count"])
                    # A 95 % interval of the type's part, and once more its width: six of them are to hold in every run. How far
                    # off the whole may be is held to above.
                    width = row["count_high"] - row["count_low"]
                    part = t["throws"] * p["totals"]["count"] / truth["throws"]
                    self.assertGreaterEqual(part, row["count_low"] - width, row)
                    self.assertLessEqual(part, row["count_high"] + width, row)
                text = clrscope("report", self.path()).stdout
                self.assertIn("storm of exceptions", text)
                self.assertIn("exception-count", text)

    @clock
    def test_after_a_storm_every_exception_is_recorded_again_and_no_session_is_left(self):
        # Two bursts of 1.5 s and twelve calm seconds between them: the second one is recorded whole at first, too.
        program = ("--storm", "0", "--seconds", "15", "--burst-ms", "1500", "--pause-ms", "12000", "--without-first-chance")
        before = []
        truth, words = self.record("throws", "--only", "exceptions", program=program, ready=lambda pid: before.append(sockets(pid)),
                                   ended=lambda pid: wait_until(lambda: sockets(pid) == before[0], 60, "all sessions to be closed"))
        self.assertIn("calm again", words)
        p = report(self.path())
        self.assertAlmostEqual(p["totals"]["count"] / truth["throws"], 1, delta=0.05)
        self.assertGreaterEqual(p["totals"]["count"] - p["storm"]["thrown"], 20_000, "both began whole")

    @clock
    def test_below_the_limit_a_recording_stays_exact(self):
        truth, _ = self.record("throws", "--only", "exceptions", program=("--storm", "8000", "--seconds", "4", "--without-first-chance"))
        p = report(self.path(), "--by", "type")
        self.assertNotIn("storm", p)
        self.assertEqual(p["totals"], {"count": truth["throws"], "rethrows": 0, "inner": 0, "nested": 0})

    def held(self):
        """The processes that the capture, which is still written, has so far."""
        r = clrscope("inspect", "--json", self.path())
        return [p["pid"] for p in json.loads(r.stdout)["processes"]] if r.stdout else []

    def test_of_a_program_that_died_none_came(self):
        """Its stream ends in the middle: what the runtime had not sent, perhaps the exception that killed it, is not there, which is not the same as that there was none."""
        script = f"{shlex.join(command('alloc'))} --seconds 60 --rate 1000000 > {self.path('said')} & wait $!"
        recording = start_clrscope("record", "--exceptions", "--locks", "-o", self.path(), "--", "sh", "-c", script)
        with recording:
            wait_until(self.held, 60, "the program to be recorded")
            os.kill(self.held()[0], signal.SIGKILL)
            _, words = recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 137, words)
        self.assertRegex(words, r"note: process \d+ died; what it did last")
        self.assertEqual(loss(report(self.path()), "target_lost"), 1)
        for measure, missing in (("exceptions", "what it did last, an exception that ended it included, is missing"), ("locks", "what it did last is missing")):
            for verb in (("report",), ("convert", "-o", self.path("x.pb.gz")), ("diff", self.path())):
                r = clrscope(*verb, "--measure", measure, self.path())
                self.assertEqual(r.returncode, 3, r.stderr)
                self.assertIn("ended in the middle of its stream", r.stderr)
                self.assertIn(missing, r.stderr)
                self.assertNotIn("there were none", r.stderr)

    def test_a_program_that_does_neither_has_none(self):
        with Workload("--seconds", "30", "--rate", "20000000") as w:
            r = clrscope("record", "-p", w.pid, "-d", "2s", "-o", self.path(), "--exceptions", "--locks", "--waits")
            self.assert_ok(r)
        self.assertEqual(report(self.path(), "--measure", "exceptions")["totals"], {"count": 0, "rethrows": 0, "inner": 0, "nested": 0})
        self.assertGreater(report(self.path())["totals"]["bytes"], 0)


if __name__ == "__main__":
    unittest.main()
