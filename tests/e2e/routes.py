# SPDX-License-Identifier: Apache-2.0
"""Drives the workload `routes`: a web service that knows what each of its routes did, and clients that know what they asked for."""
import base64
import collections
import dataclasses
import http.client
import itertools
import json
import math
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import threading
import time
import urllib.parse

from harness import Workload, wait_until

FLAVOURS = ("routes", "routes-net8", "routes-net9")
PREFIX = "Clrscope.Workloads.Routes.Markers."
WRK = shutil.which("wrk")
PATIENCE = 120  # seconds; then something is wrong


@dataclasses.dataclass(frozen=True)
class Ask:
    """A kind of request: what is sent, and what the ledger must have of it. {n} in a path is another number each time."""
    path: str
    route: str | None  # the template; None: there is none
    marks: dict = dataclasses.field(default_factory=dict)  # calls by name of the method that allocates, besides Middleware
    method: str = "GET"
    status: int = 200
    body: str | None = None
    how: str = "request"  # the method of Client that does it
    after: dict = dataclasses.field(default_factory=dict)  # such calls that belong to no request
    exceptions: int = 0
    collections: int = 0

    @property
    def key(self):
        return (self.route, self.method, self.status)


CONVENTIONAL = "{controller=Home}/{action=Index}/{id?}"
ASKS = {
    "small": Ask("/small", "/small", {"Small": 1}),
    "items": Ask("/items/{n}", "/items/{id:int}", {"ItemBefore": 1, "ItemAfter": 1}),
    "post": Ask("/items", "/items", {"ItemPosted": 1}, method="POST", status=201, body='{"name":"one"}'),
    "users": Ask("/users/user{n}", "/users/{name}", {"UserFilter": 1, "User": 1}),
    "delay": Ask("/delay/20", "/delay/{ms:int}", {"DelayBefore": 1, "DelayAfter": 1}),
    "run": Ask("/run", "/run", {"RunTask": 1, "RunWhenAll": 3}),
    "parallel": Ask("/parallel", "/parallel", {"ParallelBody": 16}),
    "stream": Ask("/stream", "/stream", {"StreamItem": 10}),
    "channel": Ask("/channel", "/channel", {"ChannelProduced": 10, "ChannelConsumed": 10}),
    "files": Ask("/files/folder/{n}/page.txt", "/files/{**path}", {"File": 1}),
    "things": Ask("/api/things/{n}", "api/things/{id}", {"Thing": 1}),
    "index": Ask("/", CONVENTIONAL, {"HomeIndex": 1}),
    "about": Ask("/home/about/{n}", CONVENTIONAL, {"HomeAbout": 1}),
    "fail": Ask("/fail", "/fail", {"Fail": 1}, status=500, exceptions=1),
    "notfound": Ask("/notfound", "/notfound", {"NotFound": 1}, status=404),
    "unmatched": Ask("/no/such/place/{n}", None, status=404),
    "wrong_method": Ask("/small", None, method="DELETE", status=405),
    "cancel": Ask("/cancel/600000", "/cancel/{ms:int}", {"CancelBefore": 1}, status=499, how="cancel"),
    "throws": Ask("/throws/3", "/throws/{n:int}", {"Throws": 3}, exceptions=3),
    "lock": Ask("/lock/30", "/lock/{ms:int}", {"Lock": 1}),
    "gc": Ask("/gc", "/gc", {"Collect": 1}, collections=1),
    "slow": Ask("/slow", "/slow", {"Slow": 2}),
    "greedy": Ask("/greedy", "/greedy", {"Greedy": 1}),
    "keep": Ask("/keep", "/keep", {"Keep": 1}),
    "hold": Ask("/hold/{n}", "/hold/{group:int}", {"Hold": 2}),
    "after": Ask("/after", "/after", {"AfterInside": 1}, after={"AfterOutside": 1}),
    "socket": Ask("/ws", "/ws", {"SocketMessage": 3}, status=101, how="socket"),  # and SocketAlive while it is open
}


class WebSocket:
    """One connection to /ws: open from here to `close`."""

    def __init__(self, address, path="/ws"):
        self.socket = socket.create_connection(address, timeout=PATIENCE)
        self.input = self.socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: {address[0]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.status = int(self.input.readline().split()[1])
        while self.input.readline().strip():
            pass

    def echo(self, text):
        self._send(1, text.encode())
        return self._receive()[1].decode()

    def close(self):
        self._send(8, struct.pack(">H", 1000))
        while self._receive()[0] != 8:
            pass
        self.abandon()

    def abandon(self):
        """Without a word."""
        self.input.close()
        self.socket.close()

    def _send(self, opcode, data):
        assert len(data) < 126
        mask = os.urandom(4)
        self.socket.sendall(bytes((0x80 | opcode, 0x80 | len(data))) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def _receive(self):
        first, length = self.input.read(2)
        assert length < 126
        return first & 15, self.input.read(length)


class Sent:
    """What clients asked for: by name of the request, and how long they waited for the answers."""

    def __init__(self):
        self.asked = collections.Counter()
        self.seconds = collections.defaultdict(list)

    def add(self, name, seconds):
        self.asked[name] += 1
        self.seconds[name].append(seconds)

    def merge(self, other):
        self.asked += other.asked
        for name, seconds in other.seconds.items():
            self.seconds[name] += seconds

    def total(self):
        return sum(self.asked.values())

    def counts(self):
        """Requests by (route, method, status)."""
        counts = collections.Counter()
        for name, n in self.asked.items():
            counts[ASKS[name].key] += n
        return counts

    def sums(self, what):
        """Of `exceptions` or `collections`, by (route, method, status)."""
        sums = collections.Counter()
        for name, n in self.asked.items():
            sums[ASKS[name].key] += n * getattr(ASKS[name], what)
        return sums

    def calls(self):
        """Calls of methods that allocate: {(route, method, status): {name of the method: calls}}."""
        calls = collections.defaultdict(collections.Counter)
        for name, n in self.asked.items():
            ask = ASKS[name]
            calls[ask.key]["Middleware"] += n
            for mark, times in ask.marks.items():
                calls[ask.key][mark] += n * times
        return calls

    def calls_after(self):
        calls = collections.Counter()
        for name, n in self.asked.items():
            for mark, times in ASKS[name].after.items():
                calls[mark] += n * times
        return calls


class Client:
    """One connection that is kept alive, and others where a request needs its own."""

    def __init__(self, address):
        self.address = address
        self.connection = http.client.HTTPConnection(*address, timeout=PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def do(self, name, number, sent):
        ask = ASKS[name]
        start = time.monotonic()
        status = getattr(self, ask.how)(ask, ask.path.replace("{n}", str(number)))
        if status != ask.status:
            raise AssertionError(f"{name}: {status} instead of {ask.status}")
        sent.add(name, time.monotonic() - start)

    def get(self, path):
        self.connection.request("GET", path)
        return self.connection.getresponse().read()

    def request(self, ask, path):
        self.connection.request(ask.method, path, body=ask.body, headers={"Content-Type": "application/json"} if ask.body else {})
        response = self.connection.getresponse()
        response.read()
        return response.status

    def cancel(self, ask, path):
        """Leaves once the service is at it."""
        token = os.urandom(8).hex()
        with socket.create_connection(self.address, timeout=PATIENCE) as other:
            other.sendall(f"GET {path}?token={token} HTTP/1.1\r\nHost: {self.address[0]}\r\n\r\n".encode())
            self.get(f"/begun/{token}")
        return ask.status  # that nobody receives

    def socket(self, ask, path):
        opened = WebSocket(self.address, path)
        for i in range(ask.marks["SocketMessage"]):
            if opened.echo(f"message {i}") != f"message {i}":
                raise AssertionError("another echo than what was sent")
        opened.close()
        return opened.status


class Ledger:
    """What the service says that it did; `raw` is its JSON, which workloads/routes/Report.cs explains."""

    def __init__(self, raw):
        self.raw = raw
        self.rows = {(r["route"], r["method"], r["status"]): r for r in raw["routes"] if not r["control"]}
        self.sites = {site["method"].removeprefix(PREFIX): site for site in raw["sites"]}

    @staticmethod
    def marks(tally):
        """Bytes by name of the method, of a row, `outside`, `earlier` or `jobs`."""
        return {mark["method"].removeprefix(PREFIX): mark["bytes"] for mark in tally["marks"]}

    def counts(self):
        return {key: row["count"] for key, row in self.rows.items()}

    def routes(self):
        """{route: {count, bytes, duration_ns}} over methods and statuses."""
        routes = {}
        for (route, _, _), row in self.rows.items():
            sums = routes.setdefault(route, {"count": 0, "bytes": 0, "duration_ns": 0})
            for name in sums:
                sums[name] += row[name]
        return routes

    def bytes_of(self, name):
        """Of one method, wherever it was called."""
        tallies = [*self.raw["routes"], self.raw["outside"], self.raw["earlier"], self.raw["jobs"]]
        return sum(self.marks(tally).get(name, 0) for tally in tallies)

    def bytes_of_calls(self, calls):
        return {name: n * self.sites[name]["objects"] * self.sites[name]["object_bytes"] for name, n in calls.items()}

    def quantile_ns(self, row, q):
        """From below: within a bucket, which is 1 % wide."""
        rank = max(math.ceil(q * row["count"]), 1)
        for i, n in row["durations"]:
            rank -= n
            if rank <= 0:
                return self.raw["bucket_growth"] ** i
        return 0.0


class Service(Workload):
    """The service on a free port. `flavour`: one of FLAVOURS."""

    def __init__(self, *args, flavour="routes", env=None):
        super().__init__(*args, flavour=flavour, env=env)
        self.url = self.ready["url"]
        parts = urllib.parse.urlsplit(self.url)
        self.address = (parts.hostname, parts.port)

    def client(self):
        return Client(self.address)

    def get(self, path):
        with self.client() as client:
            return client.get(path)

    def ledger(self, settled=True):
        """`settled`: once the ledger has all requests that were answered, and what goes on after them; sockets must be closed."""
        found = None

        def complete():
            nonlocal found
            found = Ledger(json.loads(self.get("/ledger")))
            return found.raw["in_flight"] == 0 and found.raw["pending"] == 0

        if settled:
            wait_until(complete, PATIENCE, "the ledger has all requests")
        else:
            complete()
        return found

    def reset(self, settled=True):
        """The ledger begins anew."""
        if settled:
            self.ledger()
        self.get("/reset")

    def drive(self, mix, threads=4, seconds=None, seed=1):
        """Asks for {name of ASKS: how often}, shuffled, over `threads` connections; for so many seconds again and again. What was sent."""
        names = [name for name, n in mix.items() for _ in range(n)]
        random.Random(seed).shuffle(names)
        deadline = None if seconds is None else time.monotonic() + seconds
        turns = iter(enumerate(names if seconds is None else itertools.cycle(names)))
        lock = threading.Lock()
        sent, failures = Sent(), []

        def run():
            mine = Sent()
            try:
                with self.client() as client:
                    while not failures and (deadline is None or time.monotonic() < deadline):
                        with lock:
                            turn = next(turns, None)
                        if turn is None:
                            break
                        client.do(turn[1], turn[0], mine)
            except Exception as e:  # pylint: disable=broad-except
                failures.append(e)
            with lock:
                sent.merge(mine)

        workers = [threading.Thread(target=run) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]
        return sent

    def wrk(self, path, seconds, connections=8, threads=2, script=None):
        """How many answers wrk (which must be there: WRK) received. Requests that it leaves at its end are not among them, one for each connection at most."""
        options = ["-s", script] if script else []
        result = subprocess.run([WRK, "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", *options, self.url + path],
                                capture_output=True, text=True, timeout=seconds + PATIENCE, check=True)
        return int(re.search(r"(\d+) requests in", result.stdout)[1])

    def stop(self, how=None):
        """Closes its input, or sends the signal `how`. The ledger that it prints then."""
        if how is None:
            self.process.stdin.close()
        else:
            self.process.send_signal(how)
        final = Ledger(self.truth())
        code = self.process.wait(timeout=PATIENCE)
        if code != 0:
            raise AssertionError(f"the service ended with {code}")
        return final
