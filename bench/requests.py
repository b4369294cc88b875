#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What following requests costs a web service.

usage: bench/requests.py [PAIRS] [--seconds S] [--modes LIST]      PAIRS: rounds of every configuration, 20 by default; S: of load in each, 4 by default
The workload `routes` under `wrk` (two connections, one route that does next to nothing), in turn alone, under `record`, under `record --requests` once it
follows requests in windows of time, and under `record --requests=all`, with what --modes names: actions and activities, too, and cpu, cpu-ptrace or wall by
itself. "again" is alone once more, which shows what chance does. The order changes from round to round.
Requests a second, the service's CPU time of each request, and the recorder's own: medians of the rounds' ratios and differences, with the 95 % interval
of a median (order statistics). Needs build/release, build/workloads (tools/build_workloads routes) and wrk."""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from agent import cpu_seconds, median_interval

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import harness  # noqa: E402
import routes  # noqa: E402

harness.CLRSCOPE = os.environ.get("CLRSCOPE", os.path.join(ROOT, "build/release/bin/clrscope"))
harness.WORKLOADS = os.environ.get("CLRSCOPE_WORKLOADS", os.path.join(ROOT, "build/workloads"))
MODES = {"alone": None, "again": None, "record": [], "windows": ["--requests"], "all": ["--requests=all"],
         "actions": ["--requests=all", "--actions"], "activities": ["--requests=all", "--activities"],
         "wall": ["--only", "wall"], "cpu": ["--only", "cpu"], "cpu-ptrace": ["--only", "cpu", "--sampler", "ptrace"]}
SETTLE_S = 1  # the rundown is over
BEFORE_S = 2  # of load, until the requests are too many to follow each


def load(service, seconds):
    """Requests a second, and seconds of the service's CPU for each."""
    before = cpu_seconds(service.pid)
    out = subprocess.run([routes.WRK, "-t1", "-c2", f"-d{seconds}s", service.url + "/small"], capture_output=True, text=True, check=True).stdout
    spent = cpu_seconds(service.pid) - before
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1)), spent / int(re.search(r"(\d+) requests in", out).group(1))


def one(service, mode, seconds, folder):
    """Requests a second, seconds of the service's CPU for each, and the recorder's CPU of a second."""
    if MODES[mode] is None:
        time.sleep(SETTLE_S)  # idle for as long as in the other modes
        return *load(service, seconds), 0
    path = os.path.join(folder, "requests.clrscope")
    recorder = subprocess.Popen([harness.CLRSCOPE, "record", "-p", str(service.pid), "-f", "--no-progress", "-o", path, *MODES[mode]],
                                stderr=subprocess.PIPE, text=True)
    time.sleep(SETTLE_S)
    if mode in ("windows", "all", "actions", "activities"):
        load(service, BEFORE_S)
    before, began = cpu_seconds(recorder.pid), time.monotonic()
    figures = *load(service, seconds), (cpu_seconds(recorder.pid) - before) / (time.monotonic() - began)
    recorder.terminate()
    said = recorder.communicate(timeout=60)[1]
    if recorder.returncode != 0:
        sys.exit(f"record {' '.join(MODES[mode])} failed: {said}")
    if mode == "windows" and "windows of time" not in said:
        sys.exit("there were too few requests for windows: " + said)
    return figures


def say(title, unit, values):
    median, low, high = median_interval(values)
    print(f"{title:56} {median:8.3f} {unit:2} [{low:.3f}, {high:.3f}]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="?", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--modes", default="alone,record,windows,all", help="in this order; the first two are what the others are compared with")
    options = parser.parse_args()
    modes = options.modes.split(",")
    rounds = {mode: [] for mode in modes}
    with tempfile.TemporaryDirectory() as folder:
        service = routes.Service()
        try:
            load(service, options.seconds)  # its methods are compiled
            for i in range(options.pairs):
                for mode in modes[i % len(modes):] + modes[:i % len(modes)]:
                    rounds[mode].append(one(service, mode, options.seconds, folder))
        finally:
            service.stop()
    print(f"{options.pairs} rounds of {options.seconds} s; {modes[0]} {statistics.median(r for r, _, _ in rounds[modes[0]]):,.0f} requests a second")
    for i, base in enumerate(modes[:2]):
        for mode in modes[i + 1:]:
            say(f"{mode}: requests a second, of those of {base}", "", [r / a for (r, _, _), (a, _, _) in zip(rounds[mode], rounds[base])])
            say(f"{mode}: CPU of a request more than {base}", "µs", [1e6 * (c - a) for (_, c, _), (_, a, _) in zip(rounds[mode], rounds[base])])
    for mode in modes:
        if MODES[mode] is not None:
            say(f"{mode}: CPU of a request, the recorder's too, of {modes[0]}", "",
                [(c + own / r) / a for (r, c, own), (_, a, _) in zip(rounds[mode], rounds[modes[0]])])
            say(f"{mode}: the recorder's own CPU, of a CPU", "%", [100 * own for _, _, own in rounds[mode]])


if __name__ == "__main__":
    main()
