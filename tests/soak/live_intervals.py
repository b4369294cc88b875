#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the truth lies inside the 95 % interval that a live recording claims.

usage: live_intervals.py CLRSCOPE WORKLOADS [RUNS]
Each run attaches to a .NET 10 program that counts its own allocations. By chance 95 of 100 are inside; fewer than 88 happen to
a right interval once in 300 soaks (binomial), so that fails."""
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402


def run_once(path, seed):
    with harness.Workload("--bytes", "300000000", "--rate", "max", "--threads", "2", "--seed", str(seed), "--start-on-stdin",
                          "--hold-on-stdin") as w:
        recording = harness.start_clrscope("record", "-p", w.pid, "-f", "-o", path)
        time.sleep(1.0)
        w.go()
        truth = w.truth()
        time.sleep(0.3)  # the runtime flushes ten times a second
        recording.send_signal(signal.SIGINT)
        _, words = recording.communicate(timeout=60)
    if recording.returncode != 0:
        raise RuntimeError(words)
    return truth, harness.report(path, "--by", "type", "-n", "1000")


def main():
    harness.CLRSCOPE, harness.WORKLOADS = map(os.path.abspath, sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    inside = types = types_inside = 0
    deviations = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, runs + 1):
            truth, profile = run_once(os.path.join(folder, "x.clrscope"), seed)
            total, allocated = profile["totals"], truth["total_allocated_bytes"]
            inside += total["bytes_low"] <= allocated <= total["bytes_high"]
            deviations.append(total["bytes"] / allocated - 1)
            rows = {}
            for row in profile["rows"]:
                rows.setdefault(row["type"], []).append(row)
            for t in truth["types"]:
                found = rows.get(t["type"]) or rows.get(t["type"].split(".")[-1]) or []
                if len(found) != 1 or t["bytes"] < 5 * 102400:
                    continue  # of several heaps: intervals do not add up; or fewer than 5 samples are expected
                types += 1
                types_inside += found[0]["bytes_low"] <= t["bytes"] <= found[0]["bytes_high"]
    mean = sum(deviations) / runs
    spread = (sum((d - mean) ** 2 for d in deviations) / max(runs - 1, 1)) ** 0.5
    print(f"total inside its interval: {inside} of {runs}; per type: {types_inside} of {types} "
          f"({100 * types_inside / max(types, 1):.1f} %); total off by {100 * mean:+.2f} % on average, spread {100 * spread:.2f} %")
    return 0 if inside >= 0.88 * runs else 1


if __name__ == "__main__":
    sys.exit(main())
