#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often what a method burnt lies inside the 95 % interval that a recording of CPU time claims.

usage: cpu_intervals.py CLRSCOPE WORKLOADS [RUNS] [kernel|agent]
Each run records the workload `burns` (.NET 10), which reads its own clocks. By chance 95 of 100 are inside; fewer than 88 % of any method's runs fail.
So does a total that is more than 2 % off."""
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402

KINDS = "loops,recursion,generics,delegates,dynamic,async,native,exceptions,allocations,kernel"
ROOM = 0.01  # of a method: its clock is read at its ends, what runs around it is not


def run_once(path, sampler):
    with harness.Workload("--start-on-stdin", "--hold-on-stdin", "--seconds", "0.4", "--kinds", KINDS, flavour="burns") as w:
        recorder = harness.start_clrscope("record", "-p", w.pid, "--cpu", "--sampler", sampler, "-f", "-o", path)
        first = recorder.stderr.readline()
        if "Recording" not in first:
            raise RuntimeError(first)
        time.sleep(1)
        w.go()
        truth = w.truth()
        recorder.send_signal(signal.SIGTERM)
        _, said = recorder.communicate(timeout=60)
        if recorder.returncode != 0:
            raise RuntimeError(said)
    return truth


def main():
    harness.CLRSCOPE, harness.WORKLOADS = map(os.path.abspath, sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    sampler = sys.argv[4] if len(sys.argv) > 4 else "kernel"
    inside, tried, totals = {}, {}, 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.clrscope")
        for _ in range(runs):
            truth = run_once(path, sampler)
            document = harness.report(path, "--measure", "cpu", "--by", "method", "-n", "1000")
            totals += abs(document["totals"]["cpu_ns"] / truth["process_ns"] - 1) > 0.02
            rows = {row["method"].rpartition(".")[2].removesuffix(" [async]"): row for row in document["rows"] if row["method"].startswith("Clrscope.")}
            for name, ns in truth["methods"].items():
                row = rows.get(name, {"total_cpu_ns_low": 0, "total_cpu_ns_high": 0})
                tried[name] = tried.get(name, 0) + 1
                inside[name] = inside.get(name, 0) + (row["total_cpu_ns_low"] - ROOM * ns <= ns <= row["total_cpu_ns_high"] + ROOM * ns)
    for name in sorted(tried):
        print(f"{name:20} {inside[name]:4} of {tried[name]}")
    print(f"{sum(inside.values())} of {sum(tried.values())} inside; {totals} totals of {runs} more than 2 % off")
    low = [name for name in tried if inside[name] < 0.88 * tried[name]]
    return 1 if low or totals or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
