# SPDX-License-Identifier: Apache-2.0
"""`record --requests`: how long requests await, and how long they wait for a thread of the pool."""
import threading
import time

from clock import clock
from harness import report
from request_case import RequestCase, known

MS = 1e6


@clock
class RequestIdle(RequestCase):
    SESSIONS = 5

    def service(self, *args, **options):
        service = super().service(*args, **options)
        # What a program does for the first time may take long: routes are compiled, and awaited by whoever comes meanwhile.
        service.drive({name: 8 for name in ("small", "delay", "lock", "run", "items")}, threads=2)
        return service

    def told(self, service, work, requests="--requests"):
        """The ledger's and the recording's rows of `work`."""
        ledger, path = self.record(service, work, requests=requests)
        return known(ledger), self.rows(path), path

    def check_kinds(self, flavour):
        service = self.service(flavour=flavour)
        mix = {"delay": 40, "small": 80, "lock": 10, "run": 20}
        truth, rows, path = self.told(service, lambda s: s.drive(mix, threads=2))
        for name in ("GET /delay/{ms:int}", "GET /small", "GET /lock/{ms:int}", "GET /run"):
            self.assertEqual(rows[name]["idle_watched"], rows[name]["count"], rows[name])
            took = truth[name]["duration_ns"]
            self.assertLessEqual(rows[name]["awaiting_ns"], 1.05 * took + 5 * MS, rows[name])
        delay = rows["GET /delay/{ms:int}"]
        # A timer may be a tick early, and comes late on a busy machine.
        self.assertGreater(delay["awaiting_ns"], delay["count"] * 16 * MS)
        self.assertGreater(delay["awaiting_ns"] + delay["queue_ns"], 0.8 * truth["GET /delay/{ms:int}"]["duration_ns"])
        # Who holds a lock, or waits for one, has a thread.
        lock = rows["GET /lock/{ms:int}"]
        self.assertGreater(truth["GET /lock/{ms:int}"]["duration_ns"], lock["count"] * 29 * MS)
        self.assertLess(lock["awaiting_ns"], 0.1 * truth["GET /lock/{ms:int}"]["duration_ns"], lock)
        self.assertLess(rows["GET /small"]["awaiting_ns"], 0.3 * truth["GET /small"]["duration_ns"] + 5 * MS, rows["GET /small"])
        slowest = report(path, "--slowest", "60")["rows"]
        for row in slowest:
            if row["request"] == "GET /delay/{ms:int}":
                self.assertGreater(row["awaiting_ns"], 10 * MS, row)
                self.assertLessEqual(row["awaiting_ns"], row["duration_ns"], row)
        self.assertEqual(sum(row["request"] == "GET /delay/{ms:int}" for row in slowest), 40)

    def test_awaits_are_told_and_blocked_threads_are_not_awaits(self):
        self.check_kinds("routes")

    def test_on_net8(self):
        self.check_kinds("routes-net8")

    def test_on_net9(self):
        self.check_kinds("routes-net9")

    def test_a_pool_without_free_threads_is_a_queue(self):
        """Requests block all threads of the pool, which has few: others wait for one."""
        service = self.service(env={"DOTNET_ThreadPool_ForceMaxWorkerThreads": "3"})
        waited = []

        def work(service):
            over = threading.Event()

            def block():
                with service.client() as client:
                    while not over.is_set():
                        client.get("/lock/20")

            blockers = [threading.Thread(target=block) for _ in range(6)]
            for blocker in blockers:
                blocker.start()
            with service.client() as client:
                for _ in range(60):
                    start = time.monotonic()
                    client.get("/small")
                    waited.append(time.monotonic() - start)
            over.set()
            for blocker in blockers:
                blocker.join()

        truth, rows, _ = self.told(service, work)
        small = rows["GET /small"]
        self.assertEqual(small["count"], 60)
        # What the client waited for and the service did not have a request for.
        outside = sum(waited) * 1e9 - truth["GET /small"]["duration_ns"]
        self.assertGreater(outside, 60 * 5 * MS, "the pool was busy")
        self.assertLess(small["queue_ns"], 1.1 * outside + 60 * MS, small)
        # It came through some work items, of which the last is known.
        self.assertGreater(small["queue_ns"], 0.15 * outside, small)

    def check_load(self, requests):
        service = self.service()
        truth, rows, _ = self.told(service, lambda s: s.wrk("/delay/20", 6, connections=60), requests)
        delay = rows["GET /delay/{ms:int}"]
        self.assertEqual(delay["count"], truth["GET /delay/{ms:int}"]["count"])
        self.assertLess(delay["idle_watched"], delay["count"], "its price is bounded")
        self.assertGreater(delay["idle_watched"], 100)
        idle = (delay["awaiting_ns"] + delay["queue_ns"]) / delay["count"]
        mean = truth["GET /delay/{ms:int}"]["duration_ns"] / delay["count"]
        self.assertGreater(idle, 0.85 * mean)
        # Its work may have been queued before it began, too.
        self.assertLess(delay["awaiting_ns"] / delay["count"], 1.1 * mean)

    def test_under_load_in_windows(self):
        self.check_load("--requests")

    def test_under_load_with_every_request(self):
        self.check_load("--requests=all")
