# SPDX-License-Identifier: Apache-2.0
"""`record --requests` on a service that is not at ease: many streams, many requests in flight, sockets without end, tools that come and go under full load."""
import json
import os
import re
import subprocess
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from clock import clock
import harness
import routes
from harness import MOST_HALVES, start_clrscope
from request_case import RequestCase, known

# Over one connection: `argv[1]` streams at a time, `argv[2]` of each path in `argv[3...]`. Prints how many of each status there were.
STREAMS = """
const http2 = require('http2');
const [url, wide, each, ...paths] = process.argv.slice(1);
const client = http2.connect(url);
const asks = [];
for (let i = 0; i < each; ++i) asks.push(...paths);
const seen = {};
let open = 0;
function next() {
  while (open < wide && asks.length > 0) {
    ++open;
    const stream = client.request({':path': asks.pop()});
    stream.on('response', headers => { seen[headers[':status']] = (seen[headers[':status']] || 0) + 1; });
    stream.resume();
    stream.on('close', () => {
      --open;
      if (open === 0 && asks.length === 0) client.close(() => console.log(JSON.stringify(seen)));
      else next();
    });
  }
}
next();
"""


class RequestHazards(RequestCase):
    def service(self, *args, **more):
        service = routes.Service(*args, **more)
        self.addCleanup(service.stop)
        return service

    def check_counts(self, ledger, path):
        rows = self.rows(path)
        for name, sums in known(ledger).items():
            self.assertEqual(rows[name]["count"], sums["count"], name)
            self.assertEqual(rows[name]["errors"], sums["errors"], name)
        return rows

    def test_many_streams_of_one_connection(self):
        """HTTP/2: requests of one connection at the same time."""
        service = routes.Service(env={**os.environ, "Kestrel__EndpointDefaults__Protocols": "Http2"})
        self.addCleanup(service.process.kill)
        recorder, path = self.recorder(service, "--requests=all")
        paths = ["/items/17", "/delay/20", "/parallel", "/stream", "/small", "/nowhere"]
        result = subprocess.run(["node", "-e", STREAMS, service.url, "90", "200", *paths], capture_output=True, text=True, timeout=120, check=True)
        self.assertEqual(json.loads(result.stdout), {"200": 1000, "404": 200})
        ledger = routes.Ledger(json.loads(subprocess.run(["curl", "-s", "--http2-prior-knowledge", service.url + "/ledger"],
                                                         capture_output=True, text=True, timeout=60, check=True).stdout))
        self.finish(recorder)
        rows = self.check_counts(ledger, path)
        truth = known(ledger)
        marked = self.rows(path, "--method", r"Routes\.Markers\.")
        for name in ("GET /parallel", "GET /stream", "GET /items/{id:int}"):
            row = marked[name]
            if truth[name]["bytes"] > 4e6:
                half = max(row["bytes_high"] - row["bytes"], row["bytes"] - row["bytes_low"])
                self.assertLess(abs(row["bytes"] - truth[name]["bytes"]), MOST_HALVES * half, (name, row, truth[name]))
        self.assertGreater(rows["GET /delay/{ms:int}"]["duration_ns"]["p50"], 18e6)

    @clock
    def test_sockets_without_end_and_thousands_in_flight(self):
        service = self.service("--background", "20000000")
        early = [routes.WebSocket(service.address) for _ in range(5)]  # before the recording: their ids are not known
        recorder, path = self.recorder(service, "--requests=all")
        service.reset(settled=False)
        late = [routes.WebSocket(service.address) for _ in range(10)]
        load = subprocess.Popen([routes.WRK, "-t1", "-c4000", "-d6s", "--timeout", "20s", service.url + "/delay/3000"], stdout=subprocess.PIPE, text=True)
        time.sleep(2)
        before = service.ledger(settled=False)
        self.assertGreater(before.raw["in_flight"], 1500, "so many at one time")
        out, _ = load.communicate(timeout=60)
        self.assertNotIn("Non-2xx", out)
        for socket in late:
            self.assertEqual(socket.echo("still there"), "still there")
        with open(f"/proc/{recorder.pid}/status", encoding="utf-8") as f:
            peak_kb = int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])
        self.assertLess(peak_kb, 300_000)
        harness.wait_until(lambda: service.ledger(settled=False).raw["in_flight"] <= len(early) + len(late), 60, "nothing else is in flight")
        ledger = service.ledger(settled=False)
        self.finish(recorder)
        rows = self.rows(path)
        delay = known(ledger)["GET /delay/{ms:int}"]
        self.assertEqual(rows["GET /delay/{ms:int}"]["count"], delay["count"])
        self.assertGreater(rows["GET /delay/{ms:int}"]["duration_ns"]["p50"], 2.9e9)
        sockets = [row for name, row in rows.items() if "/ws" in name]
        self.assertEqual(len(sockets), 1, rows)
        self.assertEqual((sockets[0]["count"], sockets[0]["unfinished"]), (0, len(late)))
        for socket in early + late:
            socket.close()

    def test_tools_come_and_go_under_full_load(self):
        service = self.service()
        service.wrk("/small", 2)
        service.reset()
        enough = threading.Event()

        def keep_loading():
            answers = Counter()
            while not enough.is_set():
                answers.update(subprocess_wrk(service, "/items/5", 6))
            return answers

        pool = ThreadPoolExecutor()
        load = pool.submit(keep_loading)
        recordings = 0
        try:
            for options in 2 * (["--requests"], ["--requests=all", "--exceptions"]):
                path = self.path(f"{recordings}.clrscope")
                recorder = start_clrscope("record", "-p", service.pid, "-q", "-f", "-d", "3s", "-o", path, *options)
                out, err = recorder.communicate(timeout=60)
                self.assertEqual(recorder.returncode, 0, out + err)
                rows = self.rows(path)
                self.assertIn("GET /items/{id:int}", rows)
                row = rows["GET /items/{id:int}"]
                self.assertGreater(row["count"], 0)
                self.assertEqual(row["errors"], 0)
                recordings += 1
        finally:
            enough.set()
            answers = load.result()
            pool.shutdown()
        self.assertEqual(answers["bad"], 0, answers)
        ledger = known(service.ledger())["GET /items/{id:int}"]
        self.assertEqual(ledger["errors"], 0)
        self.assertGreaterEqual(ledger["count"], answers["requests"])

    def test_two_recordings_at_the_same_time(self):
        """The runtime has one set of histograms for all tools: both count what came while they were there."""
        service = self.service()
        first, one = self.recorder(service, "--requests=all", name="one")
        second, two = self.recorder(service, "--requests=all", name="two")
        time.sleep(2)
        service.reset()
        service.drive({"small": 300, "items": 200, "delay": 20, "unknown": 10} if "unknown" in routes.ASKS else {"small": 300, "items": 200, "delay": 20})
        ledger = service.ledger()
        self.finish(first)
        service.drive({"small": 50})
        self.finish(second)
        truth = known(ledger)
        for path, more in ((one, 0), (two, 50)):
            rows = self.rows(path)
            for name, sums in truth.items():
                self.assertEqual(rows[name]["count"], sums["count"] + (more if name == "GET /small" else 0), (path, name))

    @clock
    def test_storms_of_exceptions_by_route(self):
        """What each route throws in a storm: with every request followed, and in windows of both kinds."""
        for requests in ("--requests=all", "--requests"):
            with self.subTest(requests):
                service = self.service()

                def work(service):
                    loads = [threading.Thread(target=service.wrk, args=(path, 10, 4, 1)) for path in ("/throws/20", "/small")]
                    for load in loads:
                        load.start()
                    for load in loads:
                        load.join()

                ledger, path = self.record(service, work, "--exceptions", requests=requests)
                self.assertIn("throws more than", self.said, "a storm")
                self.assertEqual("tracked in windows of time" in self.said, requests == "--requests")
                rows, truth = self.rows(path), known(ledger)
                throws = truth["GET /throws/{n:int}"]
                self.assertGreater(throws["exceptions"], 60_000)
                self.assertLess(abs(rows["GET /throws/{n:int}"]["exceptions"] / throws["exceptions"] - 1), 0.3)
                self.assertLess(rows["GET /small"]["exceptions"], 0.01 * throws["exceptions"])
                self.assertEqual(rows["GET /throws/{n:int}"]["count"], throws["count"])


def subprocess_wrk(service, path, seconds):
    """How many answers there were, and how many were none or wrong."""
    result = subprocess.run([routes.WRK, "-t1", "-c8", f"-d{seconds}s", "--timeout", "60s", service.url + path], capture_output=True, text=True, timeout=seconds + 60, check=True)
    bad = sum(int(n) for line in result.stdout.splitlines() if "Socket errors" in line or "Non-2xx" in line for n in re.findall(r"\d+", line.split(":", 1)[1]))
    return {"requests": int(re.search(r"(\d+) requests in", result.stdout)[1]), "bad": bad}
