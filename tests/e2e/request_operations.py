# SPDX-License-Identifier: Apache-2.0
"""What requests call, and what a program does apart from requests (`--activities`), on a web service that counts both."""
import threading
import time

import routes
from clock import clock
from harness import clrscope, report
from request_case import RequestCase

CALLS, FAN, STEPS = "GET /calls/{n:int}/{ms:int}", "GET /fan/{n:int}/{ms:int}", "GET /steps/{n:int}/{ms:int}"
STEP, CONSUME = "step (Clrscope.Steps)", "activity consume (Clrscope.Queue)"
# What each operation of a route waits for at least, and those of the queue's consumer.
WAITS_MS = {CALLS: 40, FAN: 60, STEPS: 30, "GET /refused": 0, None: 20}
# The runtime's timers go by CLOCK_MONOTONIC_COARSE, and may be early by one of its ticks.
TICK_NS = time.clock_getres(6) * 1e9


class RequestOperations(RequestCase):
    SESSIONS = 3

    def told(self, flavour, work, *options, service_options=(), requests="--requests=all"):
        """The ledger of `work`, its operations by (route, operation), and the recording's file."""
        ledger, path = self.record(self.service(*service_options, flavour=flavour), work, *options, requests=requests)
        operations = {(o["route"] and f"GET {o['route']}", o["operation"]): o for o in ledger.raw["operations"]}
        return ledger, operations, path

    def children(self, path, *options):
        """{row: {operation: what is told of it}}"""
        rows = report(path, "--by", "request", *options)["rows"]
        return {row["request"]: {c["operation"]: c for c in row["children"]} for row in rows}, {row["request"]: row for row in rows}

    def check(self, ledger, child, truth, route):
        self.assertEqual(child["count"], truth["count"], route)
        self.assertEqual(child["errors"], truth["errors"], route)
        self.check_duration(ledger, child, truth, route)

    def check_duration(self, ledger, row, truth, route):
        """An operation lies within the ledger's stopwatch, which also counts the exception of one that fails and whatever has the processor
        meanwhile; what it waits for lies within the operation. Quantiles are those of buckets, 3.4 and 1 % wide."""
        p50, median_ns = row["duration_ns"]["p50"], ledger.quantile_ns(truth, 0.5)
        self.assertLess(p50, 1.05 * median_ns, (route, row, median_ns))
        self.assertGreater(p50, 0.95 * (1e6 * WAITS_MS[route] - TICK_NS), (route, row, median_ns))
        self.assertGreaterEqual(row["duration_ns"]["p99"], p50, route)

    LOAD = {"/calls/3/40": 40, "/fan/3/60": 30, "/refused": 5, "/steps/2/30": 20, "/small": 20}

    def test_calls_of_other_services(self):
        for flavour in routes.FLAVOURS:
            with self.subTest(flavour):
                ledger, truth, path = self.told(flavour, self.ask(self.LOAD | {"/enqueue/2/20": 3}))
                children, rows = self.children(path)
                self.assertEqual(len(truth), 6, truth.keys())
                for (route, operation), row in truth.items():
                    if operation.startswith("HTTP "):
                        self.check(ledger, children[route or "(no request)"][operation], row, route)
                self.assertEqual(children["GET /small"], {})
                self.assertEqual(children[STEPS], {}, "nobody asked for activities")
                self.assertEqual(set(children[CALLS]), {operation for route, operation in truth if route == CALLS})
                # Nothing of it is done to a program without being asked for.
                self.assertFalse(ledger.raw["listeners"])
                self.assertFalse(any(name.startswith("activity ") for name in rows))
                self.assertNotIn("traceparent", self.said)
                text = clrscope("report", path, "--by", "request").stdout
                self.assertIn("└ HTTP 127.0.0.1:1", text)
                # Of some of the requests, it is not known.
                slow = report(path, "--by", "request", "--slower-than", "1ms")["rows"]
                self.assertEqual({row["children"] is None for row in slow}, {True})

    def test_activities(self):
        for flavour in routes.FLAVOURS:
            with self.subTest(flavour):
                load = self.LOAD | {"/enqueue/4/20": 10}
                ledger, truth, path = self.told(flavour, self.ask(load), "--activities", service_options=("--activities",))
                children, rows = self.children(path)
                self.assertTrue(ledger.raw["listeners"])
                self.assertIn("traceparent", self.said)
                self.check(ledger, children[STEPS][STEP], truth[STEPS, STEP], STEPS)
                consumed = truth[None, "consume (Clrscope.Queue)"]
                self.assertEqual(rows[CONSUME]["count"], consumed["count"])
                self.check_duration(ledger, rows[CONSUME], consumed, None)
                for (route, operation), row in truth.items():
                    if operation.startswith("HTTP "):
                        self.check(ledger, children[route or CONSUME][operation], row, route)
                # The requests are counted as before; activities have neither a status nor an error.
                for name in (CALLS, FAN, STEPS):
                    self.assertEqual(rows[name]["count"], sum(r["count"] for (route, _, _), r in ledger.rows.items() if f"GET {route}" == name))
                self.assertIsNone(rows[CONSUME]["errors"])
                self.assertGreaterEqual(rows["activity job (Clrscope.Jobs)"]["count"], ledger.raw["jobs"]["count"])
                # Listened to is counted as a job begins, the job as it ends, and one may be under way.
                self.assertIn(ledger.raw["jobs"]["listened"] - ledger.raw["jobs"]["count"], (0, 1))
                # What an activity allocates is its own.
                rows = report(path, "--by", "request", "--method", r"Markers\.(Job|Consumed)")["rows"]
                marked = {row["request"]: row["bytes"] for row in rows if row["bytes"]}
                # What begins while the recording ends is followed no more.
                ended = marked.pop("(no request)", 0)
                self.assertEqual(set(marked) - {CONSUME}, {"activity job (Clrscope.Jobs)"})
                self.assertLess(ended, 0.3 * marked["activity job (Clrscope.Jobs)"])
                # ASP.NET Core's own activity of a request, and that of a call, are told by it once.
                self.assertFalse(any("HttpRequest" in operation for operations in children.values() for operation in operations))

    @clock
    def test_in_windows_of_time_they_are_scaled(self):
        ledger, truth, path = self.told("routes", self.in_windows, requests="--requests")
        children, rows = self.children(path)
        row = rows[CALLS]
        self.assertGreater(row["watched"], 50)
        self.assertLess(row["watched"], 0.9 * row["count"], "some of them")
        (operation, child), = children[CALLS].items()
        exact = truth[CALLS, operation]
        self.assertLess(abs(child["count"] / exact["count"] - 1), 0.4, (child, exact["count"]))
        self.assertLess(abs(child["duration_ns"]["p50"] / ledger.quantile_ns(exact, 0.5) - 1), 0.35)

    def in_windows(self, service):
        # So many that they are followed in windows, and some that call.
        threads = [threading.Thread(target=service.wrk, args=("/small", 13, 8, 1)),
                   threading.Thread(target=service.wrk, args=("/calls/2/5", 13, 8, 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
