#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often what a route allocated lies inside the 95 % interval that a recording of requests claims.

usage: request_intervals.py CLRSCOPE WORKLOADS [RUNS] [all|windows]
Each run records the workload `routes` (.NET 10), which counts for itself, beside a background that allocates more than all requests together. For each
route with 20 samples or more the bytes of its own allocations are held to their interval. By chance 95 of 100 are inside; fewer than 88 % of any route's
runs fail. Nothing of the background may be a route's."""
import os
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402
import routes  # noqa: E402
from request_case import known  # noqa: E402

MIX = {"small": 300, "items": 300, "users": 100, "run": 100, "parallel": 60, "stream": 100, "channel": 100, "greedy": 30, "fail": 20, "socket": 4}


def rows(path, methods):
    return {row["request"]: row for row in harness.report(path, "--by", "request", "--method", methods)["rows"]}


def run_once(service, path, seed):
    recorder = harness.start_clrscope("record", "-p", service.pid, "-f", "-o", path, "--requests=all")
    time.sleep(1.5)
    service.reset()
    service.drive(MIX, threads=4, seed=seed)
    ledger = service.ledger()
    recorder.terminate()
    out, err = recorder.communicate(timeout=60)
    if recorder.returncode != 0:
        raise RuntimeError(out + err)
    return known(ledger)


def run_in_windows(service, path, _):
    """Too many requests for ids all the time: 20 s of load."""
    recorder = harness.start_clrscope("record", "-p", service.pid, "-f", "-o", path, "--requests")
    time.sleep(1.5)
    service.reset()
    loads = {"/small": 4, "/items/17": 2, "/parallel": 1, "/users/anna": 1, "/delay/20": 8, "/channel": 1}
    threads = [threading.Thread(target=service.wrk, args=(ask, 20, connections, 1)) for ask, connections in loads.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger = service.ledger()
    recorder.terminate()
    out, err = recorder.communicate(timeout=60)
    if recorder.returncode != 0:
        raise RuntimeError(out + err)
    return known(ledger)


def main():
    harness.CLRSCOPE, harness.WORKLOADS = map(os.path.abspath, sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    once = run_in_windows if sys.argv[4:] == ["windows"] else run_once
    inside, tried, counts, leaked, unbounded = {}, {}, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.clrscope")
        service = routes.Service("--background", "60000000")
        try:
            for seed in range(1, runs + 1):
                truth = once(service, path, seed)
                told, everything = rows(path, r"Routes\.Markers\."), rows(path, ".")
                for name, sums in truth.items():
                    counts += everything[name]["count"] != sums["count"]
                    row = told.get(name)
                    if row is None or row["samples"] < 20:
                        continue
                    if row["bytes_high"] is None:  # some took longer than a window, it says
                        unbounded += 1
                        continue
                    tried[name] = tried.get(name, 0) + 1
                    inside[name] = inside.get(name, 0) + (row["bytes_low"] <= sums["bytes"] <= row["bytes_high"])
                for name, row in rows(path, r"Routes\.Markers\.Background").items():
                    leaked += row["samples"] if not name.startswith("(") else 0
        finally:
            service.stop()
    for name in sorted(tried):
        print(f"{name:40} {inside[name]:4} of {tried[name]}")
    print(f"{sum(inside.values())} of {sum(tried.values())} inside; counts of {counts} rows wrong; {leaked} samples of the background at a route; "
          f"{unbounded} rows without an upper bound")
    low = [name for name in tried if tried[name] >= 20 and inside[name] < 0.88 * tried[name]]
    return 1 if low or counts or leaked or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
