# SPDX-License-Identifier: Apache-2.0
"""Programs that have EventSource or Meter switched off: what is not known of them is not shown as nothing."""
import json
import os
import shutil
import threading
import time
import unittest

import harness
import routes
from harness import clrscope, loss, report
from request_case import RequestCase

EVENT_SOURCE = "System.Diagnostics.Tracing.EventSource.IsSupported"
METER = "System.Diagnostics.Metrics.Meter.IsSupported"


class EventSources(RequestCase):
    SESSIONS = 2

    def without(self, switch, flavour="routes"):
        """The service with that switch off; its executable."""
        source = os.path.join(harness.WORKLOADS, flavour)
        if not os.path.exists(source):
            raise unittest.SkipTest(f"{flavour} is not built: tools/build_workloads --self-contained")
        folder = shutil.copytree(source, self.path(flavour))
        self.config = os.path.join(folder, "routes.runtimeconfig.json")
        with open(self.config, encoding="utf-8") as file:
            config = json.load(file)
        config["runtimeOptions"]["configProperties"][switch] = False
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return os.path.join(folder, "routes")

    def fails(self, path, *options):
        """What `report` says, of requests that are not known."""
        result = clrscope("report", path, *options)
        self.assertEqual((result.returncode, result.stdout), (3, ""), result.stderr)
        return result.stderr

    def test_requests_of_a_program_without_event_sources_are_said_to_be_unknown(self):
        for flavour in routes.FLAVOURS:
            with self.subTest(flavour):
                service = self.service(flavour=self.without(EVENT_SOURCE, flavour))
                ledger, path = self.record(service, self.ask({"/greedy": 20, "/fail": 5}), "--exceptions", requests="--requests")
                self.assertEqual(sum(row["count"] for row in ledger.rows.values()), 25)
                self.assertEqual(self.said.count("has EventSource switched off"), 1, self.said)
                r = report(path)
                self.assertEqual(loss(r, "event_sources_off"), 1, r["losses"])
                self.assertGreater(r["totals"]["bytes"], 0)
                self.assertEqual(report(path, "--measure", "exceptions")["totals"]["count"], 5)
                for options in (("--by", "request"), ("--measure", "requests"), ("--slowest", "3")):
                    self.assertIn("has EventSource switched off", self.fails(path, *options))

    def test_doctor_and_live_views_say_it(self):
        service = self.service(flavour=self.without(EVENT_SOURCE))
        checks = {c["name"]: c for c in json.loads(clrscope("doctor", service.pid, "--json").stdout)["checks"]}
        self.assertEqual(checks["events"]["verdict"], "warn")
        self.assertIn(EVENT_SOURCE, checks["events"]["what"])
        self.assertIn("<EventSourceSupport>true</EventSourceSupport>", checks["events"]["fix"])
        top = clrscope("top", "-p", service.pid, "--pool", "--by", "request", "--jsonl", "-d", "3s")
        self.assert_ok(top)
        self.assertEqual(top.stderr.count("has EventSource switched off"), 1, top.stderr)
        last = json.loads(top.stdout.splitlines()[-1])
        self.assertEqual([p["pool_threads"] for p in last["processes"]], [None])
        metrics = harness.start_clrscope("metrics", "-p", service.pid, "--pool", "--requests", "--listen", "127.0.0.1:0")
        self.addCleanup(metrics.kill)
        patience = threading.Timer(60, metrics.kill)
        self.addCleanup(patience.cancel)
        patience.start()
        said = ""
        while "has EventSource switched off" not in said:
            line = metrics.stderr.readline()
            self.assertNotEqual(line, "", said)
            said += line

    def test_silence_of_a_program_whose_configuration_is_not_seen_is_told_as_what_it_may_be(self):
        service = self.service(flavour=self.without(EVENT_SOURCE))
        os.remove(self.config)
        _, path = self.record(service, lambda s: (self.ask({"/small": 50})(s), time.sleep(6)), requests="--requests")
        self.assertIn("no event of ASP.NET Core comes from process", self.said)
        self.assertIn("or has EventSource switched off", self.said)
        self.assertEqual(loss(report(path, "--by", "request"), "event_sources_silent"), 1)
        self.assertIn("none came; a program that has EventSource switched off", self.fails(path, "--measure", "requests"))

    def test_an_idle_service_is_not_accused(self):
        service = self.service()
        recorder, path = self.recorder(service, "--requests")
        time.sleep(6)
        self.assertNotIn("EventSource", self.finish(recorder))
        for name in ("event_sources_off", "event_sources_silent", "request_counts_missing"):
            self.assertEqual(loss(report(path), name), 0)
        self.assertIn("there were none", self.fails(path, "--measure", "requests"))

    def test_errors_of_requests_that_the_runtime_does_not_count_are_unknown(self):
        service = self.service(flavour=self.without(METER))
        _, path = self.record(service, lambda s: (self.ask({"/fail": 50})(s), time.sleep(6)), requests="--requests")
        self.assertIn(METER, self.said)
        row = self.rows(path)["GET /fail"]
        self.assertEqual((row["count"], row["errors"], row["statuses"]), (50, None, None))
        self.assertEqual(loss(report(path), "request_counts_missing"), 1)
