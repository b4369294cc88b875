# SPDX-License-Identifier: Apache-2.0
"""Requests that run again for an error page: the runtime counts them to the page, and reports to the routes that they are of."""
import time

import routes
from harness import clrscope
from request_case import RequestCase, known

PAGES = {f"{method} {page}" for method in ("GET", "DELETE", "POST") for page in ("/error", "/status/{code:int}")}


class ErrorPages(RequestCase):
    def service(self, *args, **options):
        return super().service("--error-pages", *args, **options)

    def check(self, ledger, path):
        rows = self.rows(path)
        truth = known(ledger, rows)
        self.assertEqual({name for name in rows if not name.startswith("(")} - {"GET /ledger", "GET /reset"}, set(truth))
        for name, sums in truth.items():
            for key in ("count", "errors", "statuses"):
                self.assertEqual(rows[name][key], sums[key], (name, key, self.said))
            self.assertEqual(rows[name]["reexecuted"], sum(n for status, n in sums["statuses"].items() if int(status) >= 400), name)
            self.assertFalse(rows[name]["statuses_estimated"], name)
        return rows

    def test_each_request_counts_at_its_own_route(self):
        """In a moment that is too short to ask the program: there is one way in which the counts fit."""
        paths = {"/small": 40, "/fail": 50, "/home/about/1": 30, "/notfound": 70, "/no/such": 90, "/api/things/1": 20}
        for flavour in routes.FLAVOURS:
            with self.subTest(flavour):
                ledger, path = self.record(self.service(flavour=flavour), self.ask(paths))
                rows = self.check(ledger, path)
                self.assertEqual(rows["GET /fail"]["errors"], 50)
                text = " ".join(clrscope("report", path, "--by", "request").stdout.split())
                self.assertIn("210 ran again for an error page (GET /error, GET /status/{code:int})", text)

    def test_what_each_request_allocates_is_its_own_routes(self):
        for flavour in routes.FLAVOURS:
            with self.subTest(flavour):
                _, path = self.record(self.service(flavour=flavour), self.ask({"/fail": 3000, "/small": 3000}))
                rows = self.rows(path, "--method", r"Markers\.Fail")
                self.assertGreater(rows["GET /fail"]["samples"], 0)
                self.assertEqual({name for name, row in rows.items() if row["samples"]}, {"GET /fail"})

    def test_programs_are_asked_which_requests_they_are(self):
        """Routes that fail as often with another status each: only the program can tell which."""
        paths = ("/small", "/fail", "/notfound", "/home/about/1")
        for flavour in routes.FLAVOURS:
            with self.subTest(flavour):
                service = self.service(flavour=flavour)

                def work(service):
                    for _ in range(12):
                        self.ask({path: 25 for path in paths})(service)
                        time.sleep(0.5)

                ledger, path = self.record(service, work)
                self.assertIn("EndpointMatched", self.said)
                self.check(ledger, path)

    def test_in_windows_of_time(self):
        service = self.service()
        script = self.path("mix.lua")
        with open(script, "w", encoding="utf-8") as f:
            f.write("""
local paths, n = {"/small", "/fail", "/small", "/notfound", "/users/a", "/no/such"}, 0
function request() n = n % #paths + 1; return wrk.format("GET", paths[n]) end
""")
        connections = 8
        ledger, path = self.record(service, lambda s: s.wrk("/", 12, connections, script=script), requests="--requests")
        self.assertIn("in windows of time", self.said)
        rows = self.rows(path)
        self.assertEqual(PAGES & set(rows), set())
        for name, sums in known(ledger, rows).items():
            row = rows[name]
            if name in ("GET /ledger", "GET /reset"):
                continue
            # wrk ends with a request under way for each connection.
            room = 2 * connections
            self.assertLessEqual(abs(row["count"] - sums["count"]), room, name)
            self.assertLessEqual(abs(row["errors"] - sums["errors"]), room, (name, row, sums))
            for status, n in sums["statuses"].items():
                self.assertLessEqual(abs(row["statuses"].get(status, 0) - n), room, (name, status, row["statuses"], sums))
