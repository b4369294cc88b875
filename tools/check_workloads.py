#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the ledger of workloads/alloc against the runtime's own count, mode by mode.

The ledger must agree with GC.GetTotalAllocatedBytes: to the byte where threads allocate nothing
but what the sites make; within 0.5 % where heap padding or machinery (tasks, loading, emitting)
adds to it. The same seed and --bytes must give the same counts. The last line printed is for
tools/ci.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOC = ROOT / "build/workloads/alloc/alloc.dll"
EXACT = ("periodic", "deep", "generic")
CLOSE = {"mix": 0.005, "lohpoh": 0.005, "async": 0.01, "dynamic": 0.05}


def run(mode):
    done = subprocess.run(
        ["dotnet", ALLOC, "--mode", mode, "--bytes", "20000000", "--seconds", "30", "--rate", "max",
         "--threads", "2", "--seed", "7"], check=True, capture_output=True, text=True)
    ready, report = done.stdout.splitlines()
    assert "ready" in json.loads(ready)
    return json.loads(report)


def check(mode):
    first, second = run(mode), run(mode)
    for key in ("objects", "bytes", "types", "sites"):
        assert first[key] == second[key], f"{key} differs between two equal runs"
    for rows in (first["types"], first["sites"]):
        assert sum(row["bytes"] for row in rows) == first["bytes"]
        assert sum(row["objects"] for row in rows) == first["objects"]
    if mode in EXACT:
        extra = first["threads_allocated_bytes"] - first["bytes"]
        assert extra == 0, f"the threads allocated {extra} bytes that no site knows of"
    else:
        extra = first["total_allocated_bytes"] - first["bytes"]
        assert 0 <= extra <= CLOSE[mode] * first["bytes"], f"{extra} bytes belong to no site"
    return extra


def main():
    failed = 0
    for mode in (*EXACT, *CLOSE):
        try:
            print(f"alloc --mode {mode}: {check(mode)} bytes outside the ledger of 20000000")
        except (AssertionError, subprocess.CalledProcessError, ValueError) as error:
            failed += 1
            print(f"FAILED: alloc --mode {mode}: {error}")
    print(f"passed={len(EXACT) + len(CLOSE) - failed} failed={failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
