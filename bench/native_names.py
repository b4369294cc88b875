#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the names of native code take of clrscope while it records.

usage: bench/native_names.py [ROUNDS] [--seconds S]      5 rounds by default, of 5 s each
`burns --steady 2` (.NET 10) is recorded with --only cpu. CPU time of the thread that finds names, which is known by its nice value, and of clrscope as a whole, by their own clocks, read every 20 ms: what
was used last before the end. With it how many addresses of native code were seen, and how many have a name. Needs build/release and build/workloads (tools/build_workloads burns)."""
import argparse
import glob
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLRSCOPE = os.environ.get("CLRSCOPE", os.path.join(ROOT, "build/release/bin/clrscope"))
WORKLOADS = os.environ.get("CLRSCOPE_WORKLOADS", os.path.join(ROOT, "build/workloads"))
NICE = "10"


def clocks(pid):
    """Nanoseconds of CPU time: of all threads, and of those that give way."""
    spent = given = 0
    for task in glob.glob(f"/proc/{pid}/task/*"):
        try:
            with open(task + "/stat", encoding="ascii") as stat, open(task + "/schedstat", encoding="ascii") as clock:
                nice, ns = stat.read().rpartition(")")[2].split()[16], int(clock.read().split()[0])
        except (OSError, IndexError):
            continue
        spent += ns
        given += ns if nice == NICE else 0
    return spent, given


def record(pid, seconds, path):
    with subprocess.Popen([CLRSCOPE, "record", "-p", str(pid), "--only", "cpu", "-d", f"{seconds}s", "-q", "-o", path]) as tool:
        last = (0, 0)
        while tool.poll() is None:
            now = clocks(tool.pid)
            last = tuple(map(max, last, now))
            time.sleep(0.02)
    return last


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    o = parser.parse_args()
    program = subprocess.Popen(["dotnet", os.path.join(WORKLOADS, "burns", "burns.dll"), "--steady", "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pid = json.loads(program.stdout.readline())["ready"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(o.rounds):
            path = os.path.join(folder, f"{i}.clrscope")
            whole, names = record(pid, o.seconds, path)
            with sqlite3.connect(path) as db:
                named = db.execute("select count(*) from place where symbol != ''").fetchone()[0]
            said = json.loads(subprocess.run([CLRSCOPE, "query", path, "--json", "select count(*) as n from addresses where kind in ('native', 'runtime') and module is not null"],
                                             capture_output=True, text=True, check=True).stdout)["rows"][0]["n"]
            rows.append((whole / 1e6, names / 1e6))
            print(f"clrscope {whole / 1e6:6.1f} ms, names {names / 1e6:5.1f} ms of it; {named} of {said} native addresses have one", flush=True)
    program.stdin.close()
    program.kill()
    program.wait()
    print(f"medians: clrscope {statistics.median(r[0] for r in rows):.1f} ms, names {statistics.median(r[1] for r in rows):.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
