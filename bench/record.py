#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `clrscope record` costs beside a program that allocates as fast as it can, and how soon the first table is there."""
import json
import os
import resource
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLRSCOPE = os.path.join(ROOT, "build/release/bin/clrscope")
ALLOC = os.path.join(ROOT, "build/workloads/alloc/alloc.dll")
OUT = os.path.join(ROOT, "build/bench-record.clrscope")


def start(*args):
    p = subprocess.Popen(["dotnet", ALLOC, *args], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    return p, json.loads(p.stdout.readline())["ready"]


def run(*command):
    begin = time.monotonic()
    pid = os.posix_spawn(CLRSCOPE, [CLRSCOPE, *map(str, command)], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status


def main():
    p, pid = start("--seconds", "60", "--rate", "max", "--threads", "2")
    time.sleep(1)
    wall, cpu, rss, _ = run("record", "-p", pid, "-d", "10s", "-f", "-o", OUT)
    report = json.loads(subprocess.run([CLRSCOPE, "report", OUT, "--json"], capture_output=True, text=True).stdout)
    rate = report["totals"]["bytes"] / report["duration_s"]
    dropped = sum(x["count"] for x in report["losses"] if x["name"] in ("events_dropped", "blocks_discarded"))
    print(f"record, 10 s at {rate / 1e9:.2f} GB/s: clrscope's CPU {100 * cpu / wall:.1f} % of a core, peak memory {rss:.0f} MB, {dropped} events dropped")
    times = []
    for _ in range(5):
        begin = time.monotonic()
        run("record", "-p", pid, "-d", "1s", "-f", "-o", OUT)
        run("report", OUT)
        times.append(time.monotonic() - begin)
    print(f"from Enter to the first table with -d 1s: {min(times):.2f} to {max(times):.2f} s")
    p.kill()
    helps = sorted(run("--help")[0] for _ in range(20))
    print(f"clrscope --help: median {1000 * helps[10]:.1f} ms")


if __name__ == "__main__":
    main()
