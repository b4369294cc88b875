#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much slower a program that does nothing but allocate gets under `record --types`: interleaved rounds, the program's own time.

usage: bench/types.py [ROUNDS] [MODE]...     modes of workloads/alloc; default: 7 rounds of mix and types
"""
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLRSCOPE = os.path.join(ROOT, "build/release/bin/clrscope")
ALLOC = os.path.join(ROOT, "build/workloads/alloc/alloc.dll")
OUT = os.path.join(ROOT, "build/bench-types.clrscope")
HOW = {"nothing": None, "sampling": [], "low": ["--types", "low"], "high": ["--types", "high"], "all": ["--types", "all"]}


def run(how, mode):
    """The program's ledger, and what was lost."""
    program = ["dotnet", ALLOC, "--mode", mode, "--threads", "1", "--bytes", "400000000", "--rate", "max"]
    if HOW[how] is None:
        out = subprocess.run(program, capture_output=True, text=True, check=True).stdout
        return json.loads(out.splitlines()[1]), 0
    out = subprocess.run([CLRSCOPE, "record", "-q", *HOW[how], "-f", "-o", OUT, "--", *program],
                         capture_output=True, text=True, check=True).stdout
    report = json.loads(subprocess.run([CLRSCOPE, "report", OUT, "--json"], capture_output=True, text=True).stdout)
    dropped = sum(x["count"] for x in report["losses"] if x["name"] in ("events_dropped", "blocks_discarded"))
    return json.loads(out.splitlines()[1]), dropped


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    for mode in sys.argv[2:] or ["mix", "types"]:
        seconds, dropped, objects = {how: [] for how in HOW}, dict.fromkeys(HOW, 0), 0
        for _ in range(rounds):
            for how in HOW:
                truth, lost = run(how, mode)
                objects = truth["objects"]
                seconds[how].append(truth["seconds"])
                dropped[how] += lost
        print(f"{mode}: {objects:,} objects, {rounds} rounds, one thread")
        for how in HOW:
            ratios = sorted(a / b for a, b in zip(seconds[how], seconds["nothing"]))
            median = statistics.median(seconds[how])
            print(f"  {how:9} {median:6.3f} s ({median / objects * 1e9:5.0f} ns an object)  x {statistics.median(ratios):5.2f} "
                  f"(from {ratios[0]:.2f} to {ratios[-1]:.2f})  {dropped[how]} events dropped")


if __name__ == "__main__":
    main()
