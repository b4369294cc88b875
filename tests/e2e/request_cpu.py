# SPDX-License-Identifier: Apache-2.0
"""`record --cpu --requests`: what CPU time each route's requests use, on whatever thread they run."""
import threading
import unittest

from clock import clock
import harness
import routes
from harness import report
from request_case import RequestCase
from routes import FLAVOURS

MS = 1e6
BURN = "GET /burn/{ms:int}"
BURNS = 1700  # as long as the load


class RequestCpu(RequestCase):
    MEASURES = ("--cpu",)

    def service(self, *args, **options):
        service = super().service(*args, **options)
        service.drive({name: 8 for name in ("small", "delay", "run")}, threads=2)
        self.ask({"/burn/2": 8})(service)
        return service

    def record(self, service, work, *options, requests="--requests"):
        try:
            return super().record(service, work, *options, requests=requests)
        except TimeoutError:
            self.skipTest("the kernel's sampler cannot be had here")

    def check_burns(self, row, known_ns, each_ns=0.1 * MS):
        """`known_ns` by the route itself; what the server needs for each request comes on top."""
        error = (row["cpu_ns_high"] - row["cpu_ns_low"]) / 2
        self.assertGreater(row["cpu_ns"], known_ns - 2 * error, row)
        self.assertLess(row["cpu_ns"], known_ns + 2 * error + each_ns * row["count"] + 0.05 * known_ns, row)

    @clock
    def test_each_route_has_what_its_requests_used(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                service = self.service(flavour=flavour)
                _, path = self.record(service, self.ask({"/burn/40": 80, "/delay/20": 100, "/small": 200}, threads=3))
                rows = self.rows(path)
                self.check_burns(rows[BURN], 80 * 40 * MS)
                self.assertLess(rows["GET /delay/{ms:int}"]["cpu_ns"], 0.2 * rows[BURN]["cpu_ns"])
                cpu = report(path, "--measure", "cpu", "--by", "request")
                self.assertEqual({row["request"]: row["cpu_ns"] for row in cpu["rows"]}[BURN], rows[BURN]["cpu_ns"])
                self.assertAlmostEqual(sum(row["cpu_ns"] for row in cpu["rows"]) / cpu["totals"]["cpu_ns"], 1, delta=1e-6)
                methods = report(path, "--measure", "cpu", "--by", "method", "--request", BURN)["rows"]
                burn = next(row for row in methods if row["method"].endswith("Os.Burn"))
                self.assertGreater(burn["total_cpu_ns"], 0.85 * rows[BURN]["cpu_ns"])

    @unittest.skipUnless(routes.WRK, "wrk is not there: nothing asks so often")
    @clock
    def test_in_windows_of_time(self):
        """At a rate that asks too much of a program, requests and what threads do for them are told in windows."""
        service = self.service()
        recorder, path = self.recorder(service, "--requests", *self.MEASURES)
        load = threading.Thread(target=service.wrk, args=("/small", 22, 2, 1))
        load.start()
        self.ask({"/burn/10": BURNS}, threads=2)(service)
        load.join()
        self.finish(recorder)
        rows = self.rows(path)
        row = rows[BURN]
        self.assertEqual(row["count"], BURNS)
        self.assertGreater(row["idle_watched"], 10, row)
        self.assertLessEqual(row["cpu_ns_low"], row["cpu_ns"], row)
        known_ns = BURNS * 10 * MS
        if row["cpu_ns_high"] is not None:
            half = (row["cpu_ns_high"] - row["cpu_ns_low"]) / 2
            self.assertLess(abs(row["cpu_ns"] - known_ns), harness.MOST_HALVES * half + 0.05 * known_ns, row)
        else:
            # Too few windows to know how they differ. Where a busy machine lets a request take as long as a window, what it did late rests on the few
            # that were watched so long: nothing is claimed, and a gross error is all that can be seen.
            self.assertLess(max(row["cpu_ns"] / known_ns, known_ns / row["cpu_ns"]), 2, row)
        self.assertGreater(rows["GET /small"]["cpu_ns"], 0, rows["GET /small"])

    def test_without_requests_it_is_not_told(self):
        service = self.service()
        recorder, path = self.recorder(service, *self.MEASURES, sessions=2)
        self.ask({"/burn/10": 10})(service)
        self.finish(recorder)
        result = harness.clrscope("report", path, "--measure", "cpu", "--by", "request")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("record with --requests", result.stderr)
