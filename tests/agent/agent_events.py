# SPDX-License-Identifier: Apache-2.0
"""Exceptions, locks and waits as the agent counts them, against programs that count them themselves."""
import glob
import os
import signal
import time

from agent_case import AgentCase, has_agent, status
from harness import clrscope, report, wait_until
from pprof_file import PprofFile

# Long beside what a thread does before it waits.
LONG = ("--hold-ms", "200", "--rounds", "2")
RUNTIMES = {"": "10", "-net9": "9", "-net8": "8"}


class AgentEvents(AgentCase):
    def attached(self, flavour, *measures, program=()):
        """Attaches, lets the program do its work, takes the agent out; the program's truth. Files: FILES()."""
        work = self.workload(flavour, "--start-on-stdin", "--hold-on-stdin", *program)
        self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1s", "-o", self.path("%p-%t.pb"), *measures))
        wait_until(lambda: (status(work.pid) or {}).get("sampling"), 60, "it measures")
        work.go()
        truth = work.truth()
        self.assert_ok(clrscope("detach", "-p", work.pid))
        work.end()
        return truth

    def loaded(self, flavour, *measures, program=()):
        """The same by the variables that `env` prints: the agent alone, from the program's start to its end."""
        r = clrscope("env", "--library", self.path("agent.so"), "-o", self.path("%p-%t.pb"), "--every", "1s", *measures)
        self.assert_ok(r)
        env = dict(line.removeprefix("export ").replace("'", "").split("=", 1) for line in r.stdout.splitlines())
        work = self.workload(flavour, "--start-on-stdin", "--hold-on-stdin", *program, env=env)
        work.go()
        truth = work.truth()
        work.process.stdin.close()
        work.process.wait(30)  # its last file is written as it exits
        return truth

    def lost(self):
        return [c for path in glob.glob(self.path("*.pb")) for c in PprofFile(path).comments if c.startswith("loss:")]

    def forget(self):
        for path in glob.glob(self.path("*.pb")):
            os.unlink(path)

    def each(self, check):
        for way in (self.attached, self.loaded):
            for suffix, version in RUNTIMES.items():
                with self.subTest(way=way.__name__, runtime=version):
                    self.forget()
                    check(way, suffix, version)

    def test_exceptions_are_counted_as_the_program_counts_them(self):
        def check(way, suffix, version):
            truth = way("throws" + suffix, "--measures", "exceptions")
            p = report(self.dir, "--measure", "exceptions", "--by", "type", "-n", "0")
            again = truth["rethrows"] + (truth["rethrows_by_throw_statement"] if version == "8" else truth["rethrows_by_native_code"])
            self.assertEqual(p["totals"], {"count": truth["throws"], "rethrows": again, "inner": None, "nested": None}, self.lost())
            want = {}
            for t in truth["types"]:
                counts = want.setdefault(t["event_type"], [0, 0])
                counts[0] += t["throws"]
                counts[1] += t["events"] - t["throws"]
            self.assertEqual({row["raw"]: [row["count"], row["rethrows"]] for row in p["rows"]}, want)
            self.assertEqual(self.lost(), [])
            # Whoever reads the files without clrscope sees the same.
            columns = {}
            for path in glob.glob(self.path("*.pb")):
                f = PprofFile(path)
                self.assertEqual(f.sample_types, ["exceptions/count", "rethrows/count"])
                for values, _ in f.samples:
                    for name, value in zip(f.sample_types, values):
                        columns[name] = columns.get(name, 0) + value
            self.assertEqual(columns, {"exceptions/count": truth["throws"], "rethrows/count": again})
        self.each(check)

    def test_an_exception_belongs_to_the_method_that_throws_it(self):
        for suffix, version in RUNTIMES.items():
            with self.subTest(runtime=version):
                self.forget()
                truth = self.attached("throws" + suffix, "--measures", "exceptions", program=("--kinds", "plain,nested,filter,library"))
                throws, told = {}, {}
                for site in truth["sites"]:
                    throws[site["site"]] = throws.get(site["site"], 0) + site["throws"]
                for row in report(self.dir, "--by", "site", "-n", "0")["rows"]:
                    told[row["method"]] = told.get(row["method"], 0) + row["count"]
                self.assertEqual(told, throws)
                one = report(self.dir, "--by", "thread", "--type", "PlainError", "-n", "0")
                self.assertEqual(sum(row["count"] for row in one["rows"]),
                                 sum(t["throws"] for t in truth["types"] if "PlainError" in t["event_type"]))

    def test_locks_and_waits_are_told_once_and_as_long_as_the_program_says(self):
        def check(way, suffix, version):
            truth = way("locks" + suffix, "--measures", "locks,waits", program=LONG)
            self.check_locks(self.dir, truth)
            self.check_waits(self.dir, truth, version)
        self.each(check)

    def test_waits_are_counted_without_locks(self):
        for suffix, version in (("", "10"), ("-net8", "8")):
            with self.subTest(runtime=version):
                self.forget()
                truth = self.attached("locks" + suffix, "--measures", "waits", program=(*LONG, "--kinds", "monitor,event,join"))
                self.check_waits(self.dir, truth, version)

    def test_a_wait_that_goes_on_is_told_when_the_agent_leaves(self):
        work = self.workload("locks", "--start-on-stdin", "--hold-on-stdin", "--hang", "--kinds", "monitor", "--rounds", "1")
        self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1s", "-o", self.path("%p-%t.pb"), "--measures", "locks"))
        work.go()
        truth = work.truth()
        time.sleep(1)  # how long it waits is what is measured
        self.assert_ok(clrscope("detach", "-p", work.pid))
        rows = {row["method"]: row for row in report(self.dir, "--by", "site")["rows"]}
        self.assertGreater(rows[truth["hang"]["method"]]["wait_ns"], 1e9)
        self.assertIn("1 of them had not ended", clrscope("report", self.dir).stdout)

    def test_beside_allocations(self):
        work = self.workload("throws", "--start-on-stdin", "--hold-on-stdin", "--storm", "2000", "--seconds", "3")
        self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1s", "-o", self.path("%p-%t.pb"), "--exceptions"))
        work.go()
        truth = work.truth()
        self.assertEqual(status(work.pid)["measures"], ["allocations", "live", "gc-cpu", "exceptions"])
        self.assert_ok(clrscope("detach", "-p", work.pid))
        self.assertEqual(report(self.dir, "--measure", "exceptions")["totals"]["count"], truth["throws"])
        self.assertGreater(report(self.dir)["totals"]["bytes"], 0)

    def test_a_killed_program_leaves_the_intervals_that_ended(self):
        work = self.workload("throws", "--start-on-stdin", "--storm", "500", "--seconds", "60")
        self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1s", "-o", self.path("%p-%t.pb"), "--measures", "exceptions"))
        work.go()
        wait_until(lambda: len(glob.glob(self.path("*.pb"))) >= 3, 60, "three files")
        os.kill(work.pid, signal.SIGKILL)
        p = report(self.dir, "--measure", "exceptions", "--by", "time")
        self.assertGreater(p["totals"]["count"], 0)

    def test_attached_twice_and_changed(self):
        work = self.workload("throws", "--start-on-stdin", "--hold-on-stdin", "--storm", "500", "--seconds", "60")
        work.go()

        def events():
            return (status(work.pid) or {}).get("events", 0)
        for _ in range(2):
            self.assert_ok(clrscope("attach", "-p", work.pid, "--measures", "exceptions"))
            wait_until(lambda: events() > 100, 60, "exceptions come")
            self.assert_ok(clrscope("detach", "-p", work.pid))
            self.assertFalse(has_agent(work.pid))
        self.assert_ok(clrscope("attach", "-p", work.pid, "--measures", "locks"))
        self.assertEqual(status(work.pid)["measures"], ["locks"])
        self.assert_ok(clrscope("attach", "-p", work.pid, "--exceptions"))
        self.assertEqual(status(work.pid)["measures"], ["exceptions", "locks"])
        wait_until(lambda: events() > 100, 60, "exceptions come")
        refused = clrscope("attach", "-p", work.pid, "--measures", "allocations")
        self.assertIn("cannot be changed while it is loaded", refused.stderr)
        self.assertEqual(clrscope("attach", "-p", work.pid, "--measures", "nonsense").returncode, 2)

    def test_names_without_end_and_hostile_ones(self):
        truth = self.attached("throws", "--measures", "exceptions", program=("--hostile", "--types", "3000"))
        p = report(self.dir, "--measure", "exceptions", "--by", "type")
        # Those too large for an event of a session are told to the agent or not, as the runtime likes.
        self.assertGreaterEqual(p["totals"]["count"], truth["throws"] - truth["events_too_large"])
        self.assertLessEqual(p["totals"]["count"], truth["throws"])
        self.assertNotIn("\x1b]", clrscope("report", self.dir, "--by", "type").stdout)
