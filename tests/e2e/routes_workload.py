# SPDX-License-Identifier: Apache-2.0
"""The workload `routes` has in its ledger what its clients sent: tests of requests hold clrscope to it."""
import signal
import time
import unittest

import routes
from harness import Case, wait_until
from routes import ASKS, FLAVOURS, Ledger, Service, WebSocket

MS = 1_000_000


class RoutesWorkload(Case):
    def check_ledger(self, ledger, sent, elapsed_s):
        """Each request in the row of its route, with what it did."""
        self.assertEqual(ledger.counts(), dict(sent.counts()))
        self.assertEqual(ledger.raw["requests"], sent.total())
        self.assertEqual(ledger.raw["errors"], sent.asked["fail"])
        calls, exceptions, collections = sent.calls(), sent.sums("exceptions"), sent.sums("collections")
        for key, row in ledger.rows.items():
            marks = ledger.marks(row)
            if key == ASKS["socket"].key:
                self.assertGreater(marks.pop("SocketAlive"), 0)
            self.assertEqual(marks, ledger.bytes_of_calls(calls[key]), key)
            self.assertEqual(row["bytes"], sum(ledger.marks(row).values()), key)
            self.assertEqual(row["errors"], row["count"] if key == ASKS["fail"].key else 0, key)
            self.assertEqual(row["cancelled"], row["count"] if key == ASKS["cancel"].key else 0, key)
            self.assertEqual(row["exceptions"], exceptions[key], key)
            self.assertEqual(row["collections"], collections[key], key)
            self.check_durations(ledger, key, row, elapsed_s)
        self.assertEqual(ledger.marks(ledger.raw["outside"]), ledger.bytes_of_calls(sent.calls_after()))
        self.assertEqual(ledger.raw["earlier"]["bytes"], 0)

    def check_durations(self, ledger, key, row, elapsed_s):
        self.assertEqual(sum(n for _, n in row["durations"]), row["count"], key)
        self.assertGreater(row["shortest_ns"], 0, key)
        self.assertLess(row["longest_ns"], elapsed_s * 1e9, key)
        growth = ledger.raw["bucket_growth"]
        low = sum(n * growth**i for i, n in row["durations"])
        self.assertLessEqual(low, 1.0001 * row["duration_ns"], key)
        self.assertLessEqual(row["duration_ns"], 1.0001 * low * growth + row["count"], key)
        for q in (0, 0.5, 1):
            self.assertLessEqual(row["shortest_ns"] / growth, 1.0001 * ledger.quantile_ns(row, q), key)
            self.assertLessEqual(ledger.quantile_ns(row, q), 1.0001 * row["longest_ns"], key)

    def test_the_ledger_is_what_clients_sent(self):
        mix = {name: 10 for name in ASKS} | {"small": 100, "items": 60, "users": 40, "things": 30}
        for flavour in FLAVOURS:
            with self.subTest(flavour), Service(flavour=flavour) as service:
                for kind in ("warm", "counted"):  # a reset forgets what was before
                    service.reset()
                    start = time.monotonic()
                    sent = service.drive(mix, threads=6)
                    ledger = service.ledger()
                    self.assertEqual(dict(sent.asked), mix, kind)
                    self.check_ledger(ledger, sent, time.monotonic() - start)
                rows = ledger.rows
                # Timers go by a coarse clock of the kernel, whose ticks are 10 ms at most.
                self.assertGreaterEqual(rows[ASKS["slow"].key]["shortest_ns"], 139 * MS)
                self.assertGreaterEqual(rows[ASKS["delay"].key]["shortest_ns"], 9 * MS)
                self.assertGreaterEqual(rows[ASKS["lock"].key]["shortest_ns"], 30 * MS)
                self.assertEqual(ledger.raw["kept_objects"], 2 * mix["keep"])
                final = service.stop()
                self.assertEqual(final.rows, rows)

    def test_the_runtime_counts_the_same_bytes(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour), Service(flavour=flavour) as service:
                service.drive({"greedy": 20})
                service.reset()
                service.drive({"greedy": 100})
                ledger = service.ledger()
                total = ledger.raw["total_allocated_bytes"]
                self.assertGreater(total, 0.99 * ledger.bytes_of("Greedy"))
                self.assertLess(total, 1.02 * ledger.bytes_of("Greedy"))

    def test_waits_for_the_lock_are_counted(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour), Service(flavour=flavour) as service:
                start = time.monotonic()
                service.drive({"lock": 40}, threads=4)
                row = service.ledger().rows[ASKS["lock"].key]
                elapsed = (time.monotonic() - start) * 1e9
                # One has it for 30 ms at a time while the others want it; the first waits for nobody.
                self.assertGreater(row["contentions"], 0)
                self.assertLess(row["contentions"], 40)
                self.assertGreater(row["blocked_ns"], 0)
                self.assertLess(row["blocked_ns"], row["wait_ns"])
                self.assertLess(row["wait_ns"], row["duration_ns"])
                self.assertLess(row["duration_ns"], 4 * elapsed)

    def test_what_belongs_to_no_request_is_apart(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour), Service("--background", "100000000", "--activities", flavour=flavour) as service:
                service.reset()
                sent = service.drive({"small": 50, "after": 5})
                wait_until(lambda: self.is_at_work(service.ledger()), routes.PATIENCE, "work in the background")
                ledger = self.between_jobs(service)
                self.assertEqual(ledger.counts(), dict(sent.counts()))
                outside = ledger.marks(ledger.raw["outside"])
                self.assertEqual(outside.pop("AfterOutside"), ledger.bytes_of_calls({"AfterOutside": 5})["AfterOutside"])
                self.assertEqual(set(outside), {"BackgroundThread", "BackgroundTimer", "BackgroundLoop"})
                # Never faster than they were told to be.
                for name, count in outside.items():
                    self.assertLess(count, 1.01 * (ledger.raw["seconds"] + 0.2) * 100e6 / 3, name)
                self.assertEqual(ledger.raw["jobs"]["listened"], 0)  # nobody does

    def between_jobs(self, service):
        """A ledger whose jobs have the bytes that their number makes. It is read without a lock, and a job may end meanwhile."""
        ledgers = []

        def whole():
            ledgers.append(service.ledger())
            jobs = ledgers[-1].raw["jobs"]
            return ledgers[-1].marks(jobs) == ledgers[-1].bytes_of_calls({"JobBefore": jobs["count"], "JobAfter": jobs["count"]})
        wait_until(whole, routes.PATIENCE, "a ledger in which no job ends")
        return ledgers[-1]

    def is_at_work(self, ledger):
        outside = ledger.marks(ledger.raw["outside"])
        names = ("BackgroundThread", "BackgroundTimer", "BackgroundLoop")
        return ledger.raw["jobs"]["count"] > 5 and all(outside.get(name, 0) > 5_000_000 for name in names)

    def test_requests_that_a_reset_interrupts_are_not_in_the_new_ledger(self):
        with Service() as service:
            opened = WebSocket(service.address)
            opened.echo("before")
            service.reset(settled=False)
            wait_until(lambda: service.ledger(settled=False).raw["earlier"]["bytes"] > 0, routes.PATIENCE, "the socket allocates")
            opened.echo("after")
            opened.close()
            sent = service.drive({"small": 3})
            ledger = service.ledger()
            self.assertEqual(ledger.counts(), dict(sent.counts()))
            earlier = ledger.marks(ledger.raw["earlier"])
            self.assertEqual(earlier["SocketMessage"], ledger.bytes_of_calls({"SocketMessage": 1})["SocketMessage"])
            self.assertEqual(set(earlier), {"SocketAlive", "SocketMessage"})

    def test_it_prints_its_ledger_when_it_is_asked_to_end(self):
        with Service() as service:
            sent = service.drive({"small": 5, "items": 5}, threads=1)
            opened = WebSocket(service.address)
            opened.echo("still there")
            final = service.stop(signal.SIGTERM)
            opened.abandon()
            counts = final.counts()
            self.assertEqual(counts.pop(ASKS["socket"].key), 1)
            self.assertEqual(counts, dict(sent.counts()))
            self.assertIsInstance(final, Ledger)

    def test_for_a_time_instead_of_a_number(self):
        with Service() as service:
            service.drive({"small": 2})  # the first takes long
            service.reset()
            sent = service.drive({"small": 1}, threads=2, seconds=2)
            self.assertGreater(sent.total(), 1)
            self.assertEqual(service.ledger().counts(), dict(sent.counts()))

    @unittest.skipUnless(routes.WRK, "wrk is not installed")
    def test_wrk_receives_what_the_ledger_has(self):
        with Service() as service:
            service.drive({"small": 2})  # the first takes long: beside other tests a second or more
            service.reset()
            answers = service.wrk("/small", seconds=2, connections=4)
            count = service.ledger().rows[ASKS["small"].key]["count"]
            self.assertGreater(answers, 0)
            self.assertGreaterEqual(count, answers)
            self.assertLessEqual(count, answers + 4)
