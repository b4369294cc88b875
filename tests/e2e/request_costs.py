# SPDX-License-Identifier: Apache-2.0
"""`record --requests` on a web service that counts for itself: what each route cost."""
import threading

from clock import clock
import routes
from harness import MOST_HALVES, clrscope, report
from request_case import RequestCase, known, no_route

EVERYTHING = {name: 6 for name in routes.ASKS}


class Requests(RequestCase):
    MEASURES = ("--exceptions", "--locks")

    def check_counts(self, ledger, path):
        """Counts, statuses, errors and durations of every route."""
        rows, truth = self.rows(path), known(ledger)
        self.assertGreater(len(truth), 15)
        for name, sums in truth.items():
            row = rows[name]
            self.assertEqual(row["count"], sums["count"], name)
            self.assertEqual(row["statuses"], sums["statuses"], name)
            self.assertEqual(row["errors"], sums["errors"], name)
            mean_ns = sums["duration_ns"] / sums["count"]
            # A stopwatch within the request; a busy machine may stop the thread between the two. A client that goes away is
            # noticed by both in their own time.
            if mean_ns > 20e6 and "cancel" not in name:
                self.assertGreater(row["duration_ns"]["mean"], 0.95 * mean_ns, (name, row, mean_ns))
                self.assertLess(row["duration_ns"]["mean"], 1.05 * mean_ns + 30e6, (name, row, mean_ns))
                self.assertLessEqual(row["duration_ns"]["p50"], 1.04 * row["duration_ns"]["max"], name)
        return rows, truth

    def check_bytes(self, ledger, path, least):
        """Bytes of markers, by the method that allocates them; the routes with `least` bytes or more."""
        rows = self.rows(path, "--method", r"Routes\.Markers\.")
        checked = 0
        for name, sums in known(ledger, rows).items():
            if sums["bytes"] < least:
                continue
            row = rows[name]
            half = max(row["bytes_high"] - row["bytes"], row["bytes"] - row["bytes_low"])
            self.assertLess(abs(row["bytes"] - sums["bytes"]), MOST_HALVES * half, (name, row, sums, rows.get("(no request)"), self.said))
            checked += 1
        return checked, rows

    def check_outside(self, path):
        """What no request asked for is at no route, nor what one leaves behind (200 ms after its response)."""
        rows = self.rows(path, "--method", r"Routes\.Markers\.(Background|AfterOutside)")
        self.assertEqual({name for name, row in rows.items() if row["bytes"] > 0} - {"(no request)", "(after the response)"}, set())

    def test_what_each_route_cost(self):
        mix = EVERYTHING | {"small": 600, "items": 500, "parallel": 100, "channel": 200, "run": 200, "greedy": 60, "lock": 40}
        service = self.service("--background", "30000000")
        ledger, path = self.record(service, lambda s: s.drive(mix, threads=4))
        rows, truth = self.check_counts(ledger, path)
        checked, marked = self.check_bytes(ledger, path, 4e6)
        self.assertGreaterEqual(checked, 4)
        # What nobody asked for belongs to no route: a background thread, a timer and a loop allocate all the time.
        outside = ledger.raw["outside"]["bytes"]
        self.check_outside(path)
        self.assertGreater(outside, 30e6)
        self.assertGreater(marked["(no request)"]["bytes"], 0.3 * outside)
        self.assertGreaterEqual(rows["GET /throws/{n:int}"]["exceptions"], truth["GET /throws/{n:int}"]["exceptions"])
        blocked_ns = sum(row["blocked_ns"] for (route, _, _), row in ledger.rows.items() if route == "/lock/{ms:int}")
        self.assertGreater(blocked_ns, 0)
        self.assertGreater(rows["GET /lock/{ms:int}"]["lock_wait_ns"], 0.5 * blocked_ns)
        self.assertIsNone(rows["(no request)"]["count"])
        # Every view, of one route.
        items = report(path, "--by", "method", "--method", r"Routes\.Markers\.", "--request", "^GET /items")
        leaves = {row["method"] for row in items["rows"] if "Markers" in row["method"]}
        self.assertTrue(any("ItemBefore" in leaf for leaf in leaves) and any("ItemAfter" in leaf for leaf in leaves), leaves)
        self.assertFalse(any("Greedy" in leaf or "Small" in leaf for leaf in leaves), leaves)
        # The slowest.
        slow = report(path, "--slowest", "5")["rows"]
        self.assertEqual(len(slow), 5)
        self.assertEqual([row["duration_ns"] for row in slow], sorted((row["duration_ns"] for row in slow), reverse=True))
        # Of those that took so long.
        late = self.rows(path, "--slower-than", "100ms")
        self.assertIn("GET /slow", late)
        self.assertEqual(late["GET /slow"]["count"], truth["GET /slow"]["count"])
        self.assertNotIn("GET /small", {name for name, row in late.items() if (row["count"] or 0) > 5})

    @clock
    def test_many_requests_are_followed_in_windows_of_time(self):
        service = self.service("--background", "30000000")
        loads = {"/small": 4, "/items/17": 2, "/parallel": 1, "/delay/20": 4, "/throws/1": 1, "/nowhere": 1}

        def work(s):
            threads = [threading.Thread(target=s.wrk, args=(path, 14, connections, 1)) for path, connections in loads.items()]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        ledger, path = self.record(service, work, requests="--requests")
        rows = self.rows(path)
        truth = known(ledger, rows)
        for name, sums in truth.items():
            row = rows[name]
            self.assertEqual(row["count"], sums["count"], name)
            if name == no_route("GET"):
                self.assertGreaterEqual(row["statuses"]["404"], row["count"] - loads["/nowhere"])
                continue
            self.assertEqual(row["errors"], sums["errors"], name)
            self.assertEqual(row["statuses"], sums["statuses"], name)
        busy = rows["GET /small"]
        self.assertGreater(busy["watched"], 100)
        self.assertLess(busy["watched"], 0.7 * busy["count"], "some of them")
        self.assertEqual(busy["longer_than_windows"], 0)
        thrown, exact = rows["GET /throws/{n:int}"]["exceptions"], truth["GET /throws/{n:int}"]["exceptions"]
        self.assertLess(abs(thrown / exact - 1), 0.5, (thrown, exact))
        slow, mean_ns = rows["GET /delay/{ms:int}"], truth["GET /delay/{ms:int}"]["duration_ns"] / truth["GET /delay/{ms:int}"]["count"]
        self.assertLess(abs(slow["duration_ns"]["mean"] / mean_ns - 1), 0.1)
        self.assertGreater(slow["duration_ns"]["p95"], 18e6)
        checked, marked = self.check_bytes(ledger, path, 20e6)
        self.assertGreaterEqual(checked, 3)
        other = self.rows(path, "--method", r"Routes\.Markers\.Background")
        self.assertEqual({name for name, row in other.items() if row["bytes"] > 0}, {"(no request)"})
        outside = ledger.raw["outside"]["bytes"]
        rest = marked["(no request)"]
        half = max(rest["bytes_high"] - rest["bytes"], rest["bytes"] - rest["bytes_low"])
        self.assertLess(abs(rest["bytes"] - outside), MOST_HALVES * half + 0.1 * outside, (rest, outside))
        # The same bytes, by request or not.
        of_all = [report(path, "--by", by)["totals"]["bytes"] for by in ("type", "request")]
        self.assertLess(abs(of_all[1] / of_all[0] - 1), 0.05, of_all)
        text = clrscope("report", path, "--by", "request").stdout
        self.assertIn("windows of time", " ".join(text.split()))

    def test_older_runtimes(self):
        """Ticks of .NET 8 and 9 carry ids as samples do; they are biased, so that there is no interval."""
        for flavour in ("routes-net8", "routes-net9"):
            with self.subTest(flavour):
                service = self.service("--background", "30000000", flavour=flavour)
                ledger, path = self.record(
                    service, lambda s: s.drive(EVERYTHING | {"parallel": 500, "greedy": 200, "channel": 400}, threads=4))
                self.check_counts(ledger, path)
                rows, checked = self.rows(path, "--method", r"Routes\.Markers\."), 0
                for name, sums in known(ledger).items():
                    row = rows.get(name)
                    if row is None or row["samples"] < 300:
                        continue
                    self.assertLess(abs(row["bytes"] / sums["bytes"] - 1), 0.25, (name, row, sums))
                    self.assertIsNone(row["bytes_low"], name)
                    checked += 1
                self.assertGreaterEqual(checked, 1, rows)
                self.check_outside(path)
