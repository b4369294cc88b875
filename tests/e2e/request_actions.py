# SPDX-License-Identifier: Apache-2.0
"""Conventional routes of MVC: which of them a request takes, and rows by action."""
import time

from clock import clock
import routes
from harness import report
from request_case import RequestCase, known, no_route

DEFAULT = "GET /{controller=Home}/{action=Index}/{id?}"
AREAS = "GET /{area:exists}/{controller=Desk}/{action=Index}/{id?}"
# Paths, and the rows that they are of by action. What is not there fits the templates as well.
PATHS = {
    "/": "GET /Home/Index/{id?}",
    "/home/index": "GET /Home/Index/{id?}",
    "/Home/About/5": "GET /Home/About/{id?}",
    "/home/ABOUT": "GET /Home/About/{id?}",
    "/home/fail": "GET /Home/Fail/{id?}",
    "/home/busy": "GET /Home/Busy/{id?}",
    "/admin": "GET /Admin/Desk/Index/{id?}",
    "/Admin/desk/index/3": "GET /Admin/Desk/Index/{id?}",
    "/api/things/3": "GET /api/things/{id}",
    "/no/such": "GET (404)",
    "/favicon.ico": "GET (404)",
    "/admin/nobody": "GET (404)",
}
FAILING = {"GET /Home/Fail/{id?}", "GET /Home/Busy/{id?}"}


class RequestActions(RequestCase):
    MEASURES = ("--exceptions",)

    def check(self, rows, truth):
        for name, sums in truth.items():
            self.assertEqual(rows[name]["count"], sums["count"], name)
            self.assertEqual(rows[name]["errors"], sums["errors"], name)
            self.assertEqual(rows[name]["statuses"], sums["statuses"], name)

    def test_which_route_a_path_takes(self):
        for flavour in routes.FLAVOURS:
            with self.subTest(flavour):
                service = self.service("--areas", flavour=flavour)

                def work(service):
                    # The recording asks ASP.NET Core for 3 s at most, and on a busy machine it begins late: the rounds go on for longer.
                    for _ in range(10):
                        self.ask({path: 10 for path in PATHS})(service)
                        time.sleep(0.5)

                ledger, path = self.record(service, work)
                self.assertIn("conventional routes", self.said)
                rows, truth = self.rows(path), known(ledger)
                self.assertEqual({name for name in rows if not name.startswith("(")} - {"GET /ledger", "GET /reset"}, set(truth))
                self.check(rows, truth)
                # /home/fail throws, and nothing else does.
                self.assertEqual({name: row["exceptions"] for name, row in rows.items() if row["exceptions"]}, {DEFAULT: 100})
                # What the program does for the first time is not in its ledger.
                if flavour == "routes":
                    for name in (DEFAULT, AREAS):
                        self.assertLess(truth[name]["bytes"], rows[name]["bytes_high"] * 1.2, name)

    def test_rows_by_action(self):
        for flavour in routes.FLAVOURS:
            with self.subTest(flavour):
                ledger, path = self.record(self.service("--areas", flavour=flavour), self.ask({path: 50 for path in PATHS}), "--actions")
                self.assertNotIn("conventional routes", self.said, "it is asked all along")
                rows = self.rows(path)
                truth = {}
                for name in PATHS.values():
                    truth[name] = truth.get(name, 0) + 50
                for name, count in truth.items():
                    self.assertEqual(rows[name]["count"], count, name)
                    self.assertEqual(rows[name]["errors"], count if name in FAILING else 0, name)
                self.assertEqual({name for name in (DEFAULT, AREAS) if name in rows}, set(), "nothing is left of the templates")
                self.assertEqual(sum(row["count"] for row in known(ledger).values()), sum(truth.values()))
                thrown = report(path, "--measure", "exceptions", "--by", "type", "--request", "Home/Fail")["rows"]
                self.assertEqual(sum(row["count"] for row in thrown), 50)
                self.assertEqual(report(path, "--measure", "exceptions", "--by", "type", "--request", "Home/About")["rows"], [])

    @clock
    def test_rows_by_action_in_windows(self):
        """Of each action as many as the runtime counts to the template, by how many were seen."""
        service = self.service("--areas")
        script = self.path("mix.lua")
        with open(script, "w", encoding="utf-8") as f:
            f.write("""
local paths, n = {"/home/about/5", "/", "/home/about/5", "/admin", "/home/about", "/no/such"}, 0
function request() n = n % #paths + 1; return wrk.format("GET", paths[n]) end
""")
        ledger, path = self.record(service, lambda s: s.wrk("/", 8, script=script), "--actions", requests="--requests")
        self.assertIn("in windows of time", self.said)
        rows = self.rows(path)
        truth = known(ledger, rows)
        about, index = rows["GET /Home/About/{id?}"]["count"], rows["GET /Home/Index/{id?}"]["count"]
        whole = truth[DEFAULT]["count"]
        left = rows.get(DEFAULT, {"count": 0})["count"]
        self.assertLess(abs(about + index + left - whole), 0.02 * whole + 5)
        # Each window sees them by turns.
        self.assertLess(abs(about / whole - 0.75), 0.05)
        self.assertLess(abs(rows["GET /Admin/Desk/Index/{id?}"]["count"] / truth[AREAS]["count"] - 1), 0.05)
        nowhere = "GET (404)" if "GET (404)" in rows else no_route("GET")
        self.assertEqual(rows[nowhere]["count"], truth[nowhere]["count"])
