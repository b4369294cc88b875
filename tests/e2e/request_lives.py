# SPDX-License-Identifier: Apache-2.0
"""`record --live --requests`: what stays alive of what each route allocated, on a web service that counts for itself."""
import json
import os
import subprocess
import threading
import time
import unittest
import urllib.parse

from clock import clock
import harness
import routes
from harness import MOST_HALVES, clrscope, report, start_clrscope, start_recording
from request_case import RequestCase, known

HOLD, MARKS = "GET /hold/{group:int}", r"Routes\.Markers\."
NO_ROUTE = {"(no request)", "(after the response)", "(other)"}


class Lives(RequestCase):
    def record(self, service, work, requests="--requests=all"):
        """What the ledger says of `work`, its last collections included, and the recording's file."""
        path = self.path(f"lives-{service.pid}.clrscope")
        recorder = start_recording("-p", service.pid, "--live", requests, "--exceptions", "-o", path)
        self.addCleanup(recorder.kill)
        time.sleep(1)
        service.reset()
        self.held_before = service.ledger().raw["background_held_bytes"]  # of all that the program has done
        work(service)
        service.ledger()
        for _ in range(3):  # of generation 2: what is garbage is gone, what stays has survived one
            service.drive({"gc": 1}, threads=1)
        ledger = service.ledger()
        time.sleep(1.5)  # the agent tells what lives each second
        recorder.terminate()
        out, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, out + err)
        self.held_after = service.ledger().raw["background_held_bytes"]
        return ledger, path

    def lives(self, path, *options):
        """Rows of live objects by route; of each name only one."""
        rows = report(path, "--live", "--by", "request", *options)["rows"]
        self.assertEqual(len({row["request"] for row in rows}), len(rows))
        return {row["request"]: row for row in rows}

    def check_near(self, row, truth):
        self.check_within(row, truth, truth)

    def check_within(self, row, least, most):
        """What goes on all along: the agent saw some of what was before the work, and of what came after it."""
        half = max(row["bytes_high"] - row["bytes"], row["bytes"] - row["bytes_low"])
        self.assertGreater(row["bytes"], least - MOST_HALVES * half, (row, least))
        self.assertLess(row["bytes"], most + MOST_HALVES * half, (row, most))

    def check_counts(self, ledger, path):
        rows = {row["request"]: row for row in report(path, "--by", "request")["rows"]}
        for name, sums in known(ledger).items():
            self.assertEqual(rows[name]["count"], sums["count"], name)
            self.assertEqual(rows[name]["statuses"], sums["statuses"], name)
        return rows

    def test_what_each_route_keeps(self):
        service = self.service("--background", "20000000", "--holds", "2000000")
        mix = {"hold": 60, "keep": 3000, "greedy": 40, "small": 300, "items": 300, "delay": 30, "channel": 60, "fail": 10,
               "throws": 20, "parallel": 60, "unmatched": 10}
        ledger, path = self.record(service, lambda s: s.drive(mix, threads=4))
        # What each route did, as without the agent.
        rows = self.check_counts(ledger, path)
        truth = known(ledger)
        marked = {row["request"]: row for row in report(path, "--by", "request", "--method", MARKS)["rows"]}
        for name in (HOLD, "GET /greedy", "GET /keep", "GET /parallel"):
            self.check_near(marked[name], truth[name]["bytes"])
        self.assertGreaterEqual(rows["GET /throws/{n:int}"]["exceptions"], truth["GET /throws/{n:int}"]["exceptions"])
        # What stays of it.
        held, kept = ledger.raw["held_bytes"], ledger.raw["kept_bytes"]
        self.assertEqual(held, truth[HOLD]["bytes"] - truth[HOLD]["count"] * 1_024)
        lives = self.lives(path, "--method", MARKS)
        self.check_near(lives[HOLD], held)
        self.check_near(lives["GET /keep"], kept)
        self.check_within(lives["(no request)"], ledger.raw["background_held_bytes"] - self.held_before, self.held_after)
        # The last array that any marker made is still in its sink.
        for name, row in lives.items():
            if name not in (HOLD, "GET /keep", "(no request)"):
                self.assertLessEqual(row["samples"], 1, row)
        background = self.lives(path, "--method", r"Markers\.Background")
        self.assertEqual(set(background) - NO_ROUTE, set())
        self.assertEqual(set(self.lives(path, "--method", r"Markers\.Hold$")), {HOLD})
        # The same bytes, by route or not.
        totals = [report(path, "--live", "--by", by)["totals"]["bytes"] for by in ("type", "request", "age")]
        self.assertEqual(len(set(totals)), 1, totals)
        self.assertAlmostEqual(sum(row["bytes"] for row in self.lives(path).values()), totals[0], delta=len(lives) + 20)
        self.check_filters(path, lives)
        # Arrays: before the JIT has inlined Kept.Add, that is the method which the queue's segments belong to.
        sql = json.loads(clrscope("query", path, "--json", "select request, sum(samples) n from live where type = 'byte[]' and "
                                  "(method like '%Markers.Hold' or method like '%Markers.BackgroundHeld') group by 1").stdout)["rows"]
        arrays = self.lives(path, "--method", r"Markers\.(Hold|BackgroundHeld)$", "--type", r"^byte\[\]$")
        self.assertEqual({row["request"] or "(no request)": row["n"] for row in sql},
                         {name: arrays[name]["samples"] for name in (HOLD, "(no request)")})
        self.assertEqual(rows[HOLD]["live_bytes"], self.lives(path)[HOLD]["bytes"])
        text = clrscope("report", path, "--live", "--by", "request")
        self.assert_ok(text)
        self.assertIn(HOLD, text.stdout)

    def check_filters(self, path, lives):
        """--request narrows every live view."""
        for view in (("--by", "type"), ("--by", "site"), ("--by", "method"), ("--tree",), ("--by", "age"), ("--by", "generation"),
                     ("--by", "stack")):
            narrowed = report(path, "--live", *view, "--request", "^GET /hold", "--method", MARKS)
            self.assertEqual(narrowed["totals"]["bytes"], lives[HOLD]["bytes"], view)
            words = json.dumps(narrowed["rows"])
            self.assertFalse("Markers.Keep" in words or "Markers.BackgroundHeld" in words, view)
        ages = report(path, "--live", "--by", "age", "--request", "^GET /hold", "--method", MARKS)["rows"]
        self.assertEqual(sum(row["samples"] for row in ages), lives[HOLD]["samples"])
        nobody = clrscope("report", path, "--live", "--by", "type", "--request", "^GET /hold", "--slower-than", "1ms")
        self.assertEqual(nobody.returncode, 2)
        self.assertIn("--slower-than cannot narrow live objects", nobody.stderr)

    @clock
    def test_leaks_tell_and_are_narrowed_by_route(self):
        service = self.service("--holds", "2000000")
        _, path = self.record(service, lambda s: s.drive({"hold": 1, "delay": 40, "gc": 1}, threads=4, seconds=14))
        every = json.loads(clrscope("leaks", path, "--json", "--method", MARKS).stdout)["suspects"]
        of_hold = json.loads(clrscope("leaks", path, "--json", "--request", "^GET /hold", "--method", MARKS).stdout)["suspects"]
        sites = {row["site"].rpartition(".")[2]: row for row in every if row["type"] == "byte[]"}
        self.assertEqual([request["request"] for request in sites["Hold"]["requests"]], [HOLD])
        self.assertEqual([request["request"] for request in sites["BackgroundHeld"]["requests"]], ["(no request)"])
        self.assertEqual(sites["Hold"]["verdict"], "growing")
        self.assertEqual({row["site"].rpartition(".")[2] for row in of_hold if row["live_samples"] > 1}, {"Hold"})
        same = [next(row for row in rows if row["site"].endswith(".Hold") and row["type"] == "byte[]") for rows in (every, of_hold)]
        for figure in ("live_bytes", "added_bytes", "slope_bytes_per_s", "verdict"):
            self.assertEqual(same[0][figure], same[1][figure], figure)
        text = clrscope("leaks", path, "--method", r"Markers\.Hold$")
        self.assert_ok(text)
        self.assertIn(f"of {HOLD} (100", text.stdout)

    def test_older_runtimes(self):
        """Ticks are biased: no interval, and no claim but a rough one."""
        for flavour in ("routes-net8", "routes-net9"):
            with self.subTest(flavour):
                service = self.service("--background", "20000000", "--holds", "2000000", flavour=flavour)
                ledger, path = self.record(service, lambda s: s.drive({"hold": 60, "greedy": 60, "small": 200, "items": 200}, threads=4))
                self.check_counts(ledger, path)
                lives = self.lives(path, "--method", MARKS)
                self.assertLess(abs(lives[HOLD]["bytes"] / ledger.raw["held_bytes"] - 1), 0.35, lives)
                self.assertIsNone(lives[HOLD]["bytes_low"])
                self.assertLessEqual(lives.get("GET /greedy", {"samples": 0})["samples"], 1)
                self.assertEqual(set(self.lives(path, "--method", r"Markers\.Background")) - NO_ROUTE, set())
                self.assertEqual(set(self.lives(path, "--method", r"Markers\.Hold$")), {HOLD})

    @unittest.skipUnless(routes.WRK, "wrk is not there: nothing asks so often")
    @clock
    def test_in_windows_of_time_a_route_has_a_part_and_says_so(self):
        service = self.service("--background", "20000000", "--holds", "1000000")

        def work(s):
            busy = threading.Thread(target=s.wrk, args=("/keep", 12, 6, 1))
            busy.start()
            s.drive({"hold": 1, "delay": 10}, threads=2, seconds=11)
            busy.join()

        ledger, path = self.record(service, work, requests="--requests")
        rows = {row["request"]: row for row in report(path, "--by", "request")["rows"]}
        self.assertGreater(rows["GET /keep"]["watched"], 0, "windows were opened")
        for name, sums in known(ledger).items():
            self.assertEqual(rows[name]["count"], sums["count"], name)
        lives = self.lives(path, "--method", MARKS)
        kept = lives["GET /keep"]
        self.assertGreater(kept["samples"], 10)
        self.assertIsNone(kept["bytes_high"])
        self.assertLess(kept["bytes_low"], ledger.raw["kept_bytes"])
        rest = lives["(no request)"]
        self.assertEqual(rest["bytes_low"], 0)
        self.assertGreater(rest["bytes_high"], ledger.raw["background_held_bytes"])
        every = ledger.raw["kept_bytes"] + ledger.raw["held_bytes"] + ledger.raw["background_held_bytes"]
        self.check_near(report(path, "--live", "--by", "type", "--method", MARKS)["totals"], every)
        self.assertEqual(set(self.lives(path, "--method", r"Markers\.Background")), {"(no request)"})
        text = " ".join(clrscope("report", path, "--live", "--by", "request").stdout.split())
        self.assertIn("at least this much", text)

    def test_a_launched_program(self):
        path = self.path("launched.clrscope")
        recorder = start_clrscope("record", "--live", "--requests=all", "-o", path, "--", "dotnet",
                                  os.path.join(harness.WORKLOADS, "routes", "routes.dll"), stdin=subprocess.PIPE)
        self.addCleanup(recorder.kill)
        address = urllib.parse.urlsplit(json.loads(recorder.stdout.readline())["url"])
        with routes.Client((address.hostname, address.port)) as client:
            for i in range(60):
                client.get(f"/hold/{i}")
            for _ in range(3):
                client.get("/gc")
            time.sleep(1.5)
            held = json.loads(client.get("/ledger"))["held_bytes"]
        out, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, out + err)
        lives = self.lives(path, "--method", MARKS)
        self.check_near(lives[HOLD], held)
        self.assertEqual(set(self.lives(path, "--method", r"Markers\.Hold$")), {HOLD})

    def test_what_cannot_be_had_is_refused(self):
        service = self.service()
        path = self.path("plain.clrscope")
        self.assert_ok(clrscope("record", "-p", service.pid, "--live", "-d", "2s", "-o", path))
        for options in (("--by", "request"), ("--request", "GET")):
            refused = clrscope("report", path, "--live", *options)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("requests", refused.stderr)
        both = clrscope("record", "-p", service.pid, "--live", "--requests", "--sampling", "tick", "-d", "1s", "-o", self.path("t.clrscope"))
        self.assertEqual(both.returncode, 2)
        self.assertIn("--sampling", both.stderr)
