#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`clrscope gcstats` beside TraceEvent's GC computer on one trace with many collections: whole processes, interleaved.

usage: bench/gc.py [ROUNDS] [COLLECTIONS]
Records the trace first (COLLECTIONS calls of GC.Collect, 100,000 by default, GC keyword at level 4), then per round runs each
command once: wall time, CPU time and peak memory. TraceEvent's run computes its collections and asks for a few columns of each."""
import os
import resource  # noqa: F401  (os.wait4)
import statistics
import subprocess
import sys
import time

import parse

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CLRSCOPE = os.path.join(ROOT, "build/release/bin/clrscope")
ORACLE = os.path.join(ROOT, "build/oracle/oracle.dll")
FOLDER = os.path.join(ROOT, "build/bench")


def record(collections):
    trace = os.path.join(FOLDER, f"gc-{collections}.nettrace")
    if os.path.exists(trace):
        return trace
    os.makedirs(FOLDER, exist_ok=True)
    env = {**os.environ, "DOTNET_EnableEventPipe": "1", "DOTNET_EventPipeOutputPath": trace, "DOTNET_EventPipeCircularMB": "400",
           "DOTNET_EventPipeConfig": "Microsoft-Windows-DotNETRuntime:1:4", "DOTNET_EventPipeOutputStreaming": "1"}
    subprocess.run(["dotnet", os.path.join(ROOT, "build/workloads/gc/gc.dll"), "--collections", str(collections)], env=env,
                   check=True, stdout=subprocess.DEVNULL, timeout=550)
    return trace


def run(command):
    """Wall and CPU seconds and peak MB of one process."""
    start = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: status {status}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    collections = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    parse.build_oracle()
    subprocess.run([os.path.join(ROOT, "tools/build_workloads"), "gc"], check=True)
    trace = record(collections)
    dotnet = subprocess.run(["which", "dotnet"], capture_output=True, text=True).stdout.strip()
    page, capture = os.path.join(FOLDER, "gc.html"), os.path.join(FOLDER, "gc.clrscope")
    subprocess.run([CLRSCOPE, "convert", trace, "-f", "-o", capture], check=True, capture_output=True)
    commands = {
        "clrscope gcstats": [CLRSCOPE, "gcstats", trace],
        "clrscope gcstats of its capture": [CLRSCOPE, "gcstats", capture],
        "clrscope gcstats -o gc.html": [CLRSCOPE, "gcstats", trace, "-f", "-o", page],
        "TraceEvent's GC computer": [dotnet, ORACLE, trace, "--gc"],
    }
    taken = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            taken[name].append(run(command))
    print(f"{collections:,} collections, {os.path.getsize(trace) / 1e6:.0f} MB; capture {os.path.getsize(capture) / 1e6:.1f} MB, "
          f"page {os.path.getsize(page) / 1e6:.1f} MB; medians of {rounds}")
    for name, runs in taken.items():
        wall, cpu, memory = (statistics.median(r[i] for r in runs) for i in range(3))
        print(f"  {name:32} {wall:7.2f} s  {cpu:7.2f} s CPU  {memory:6.0f} MB")
    ratio = [statistics.median(b[i] / a[i] for a, b in zip(taken["clrscope gcstats"], taken["TraceEvent's GC computer"])) for i in (0, 1)]
    print(f"  TraceEvent takes {ratio[0]:.1f} times as long, {ratio[1]:.1f} times the CPU")


if __name__ == "__main__":
    main()
