# SPDX-License-Identifier: Apache-2.0
"""What tests of requests have in common: the service `routes` is recorded from outside while a test drives it."""
import threading
import time

import harness
import routes
from harness import Case, report, start_recording


def name_of(route, method, status):
    """What clrscope calls a row of the ledger."""
    if route is None:
        return f"{method} ({status})"
    return f"{method} {'' if route.startswith('/') else '/'}{route}"


def no_route(method):
    """What clrscope calls requests without a route that ended with several statuses."""
    return f"{method} (no route)"


def known(ledger, rows=()):
    """{name: sums} of the ledger's rows, as the report with these `rows` calls them.

    A client that goes away before its answer leaves another status (499) than the one that the ledger noted. What has no route
    is then one row of its method: `wrk` ends with a request under way for each connection.
    """
    out = {}
    for (route, method, status), row in ledger.rows.items():
        name, whole = name_of(route, method, status), no_route(method)
        if route is None and name not in rows and whole in rows:
            name = whole
        sums = out.setdefault(name, {"count": 0, "errors": 0, "bytes": 0, "duration_ns": 0, "exceptions": 0, "statuses": {}})
        for key in ("count", "errors", "bytes", "duration_ns", "exceptions"):
            sums[key] += row[key]
        sums["statuses"][str(status)] = sums["statuses"].get(str(status), 0) + row["count"]
    return out


class RequestCase(Case):
    MEASURES = ()  # other than requests
    SESSIONS = 4   # at least so many, when it is under way

    def service(self, *args, flavour="routes", env=None):
        service = routes.Service(*args, flavour=flavour, env=env)
        self.addCleanup(service.stop)
        return service

    def recorder(self, service, *options, name=None, sessions=None):
        """A recording that is under way, and its file."""
        path = self.path(f"{name or service.pid}.clrscope")
        recorder = start_recording("-p", service.pid, "-f", "-o", path, *options)
        self.addCleanup(recorder.kill)
        harness.wait_until(lambda: harness.sockets(service.pid) >= (sessions or self.SESSIONS), 60, "the sessions are open")
        time.sleep(1)
        return recorder, path

    def finish(self, recorder):
        """It ends; what it said."""
        recorder.terminate()
        out, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, out + err)
        return recorder.said + out + err

    def record(self, service, work, *options, requests="--requests=all"):
        """What the ledger says of `work`, and the recording's file. `requests`: every one, as these come faster than windows begin."""
        recorder, path = self.recorder(service, requests, *self.MEASURES, *options)
        service.reset()
        work(service)
        ledger = service.ledger()
        self.said = self.finish(recorder)
        return ledger, path

    def rows(self, path, *options):
        return {row["request"]: row for row in report(path, "--by", "request", *options)["rows"]}

    def ask(self, paths, threads=4):
        """Work: each path so often, {path: n}."""
        def work(service):
            turns = iter([path for path, n in paths.items() for _ in range(n)])
            lock = threading.Lock()
            failures = []

            def run():
                try:
                    with service.client() as client:
                        while True:
                            with lock:
                                path = next(turns, None)
                            if path is None:
                                return
                            client.get(path)
                except Exception as e:  # pylint: disable=broad-except
                    failures.append(e)

            workers = [threading.Thread(target=run) for _ in range(threads)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            self.assertEqual(failures, [])
        return work
