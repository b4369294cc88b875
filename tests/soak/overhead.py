#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `record --max-overhead 1%` holds on a program that allocates 2 GB/s, and how often the truth lies inside its intervals.

usage: overhead.py CLRSCOPE WORKLOADS [RUNS] [SECONDS] [OPTION …]
Options are given to `record`: with --live the agent samples, in windows of its own.
Each run attaches to a .NET 10 program that counts its own allocations. What it takes is clrscope's CPU time by its own clock, and the
events and windows by their measured prices. The upper end of the mean's 95 % interval has to be 1.5 % at most. By chance 95 of 100
totals are inside their intervals; fewer than 88 happen to a right interval once in 300 soaks (binomial), so that fails."""
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402

LIMIT, MOST = "1%", 0.015
OPTIONS = []


def run_once(path, seed, seconds):
    with harness.Workload("--seconds", str(seconds), "--rate", "2e9", "--threads", "2", "--seed", str(seed), "--start-on-stdin",
                          "--hold-on-stdin") as w:
        recording = harness.start_clrscope("record", "-p", w.pid, "-f", "-o", path, "--max-overhead", LIMIT, *OPTIONS)
        time.sleep(3.0 if "--live" in OPTIONS else 1.0)
        w.go()
        truth = w.truth()
        time.sleep(1.5 if "--live" in OPTIONS else 0.3)  # the runtime flushes ten times a second, the agent once
        recording.send_signal(signal.SIGINT)
        _, words = recording.communicate(timeout=60)
    if recording.returncode != 0:
        raise RuntimeError(words)
    return truth, harness.report(path, "--by", "type", "-n", "1000")


def mean_and_error(values):
    mean = sum(values) / len(values)
    spread = (sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1)) ** 0.5
    return mean, spread, spread / len(values) ** 0.5


def main():
    harness.CLRSCOPE, harness.WORKLOADS = map(os.path.abspath, sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 12
    OPTIONS.extend(sys.argv[5:])
    inside = types = types_inside = 0
    deviations, shares, windows, own = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, runs + 1):
            truth, profile = run_once(os.path.join(folder, "x.clrscope"), seed, seconds)
            total, allocated = profile["totals"], truth["total_allocated_bytes"]
            inside += total["bytes_low"] <= allocated <= total["bytes_high"]
            deviations.append(total["bytes"] / allocated - 1)
            overhead = profile["overhead"]
            shares.append(overhead["share"])
            own.append(sum(p["share"] for p in overhead["parts"] if p["part"] in ("clrscope", "agent")))
            windows.append(profile["windows"]["windows"] if "windows" in profile else 0)
            rows = {}
            for row in profile["rows"]:
                rows.setdefault(row["type"], []).append(row)
            for t in truth["types"]:
                found = rows.get(t["type"]) or rows.get(t["type"].split(".")[-1]) or []
                if len(found) != 1 or found[0]["samples"] < 5:
                    continue  # of several heaps: intervals do not add up
                types += 1
                types_inside += found[0]["bytes_low"] <= t["bytes"] <= found[0]["bytes_high"]
            if seed % 10 == 0:
                print(f"{seed}: {inside} inside, {100 * sum(shares) / seed:.2f} %", file=sys.stderr)
    share, share_spread, error = mean_and_error(shares)
    off, off_spread, _ = mean_and_error(deviations)
    upper = share + 1.96 * error
    print(f"took {100 * share:.2f} % of the program's CPU (spread {100 * share_spread:.2f}, at most {100 * max(shares):.2f}), {100 * sum(own) / runs:.2f} % of "
          f"it clrscope's and the agent's own; upper end of the mean {100 * upper:.2f} %\n"
          f"windows of a run: {sum(windows) / runs:.1f} on average, {min(windows)} at least\n"
          f"total inside its interval: {inside} of {runs}; off by {100 * off:+.3f} % on average, spread {100 * off_spread:.3f} %\n"
          f"types inside theirs: {types_inside} of {types} ({100 * types_inside / max(types, 1):.1f} %)")
    return 0 if inside >= 0.88 * runs and upper <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
