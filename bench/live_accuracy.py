#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recordings of workloads/alloc tell against what it counted itself, on .NET 8, 9 and 10: rows for docs/accuracy.md.

usage: bench/live_accuracy.py [RUNS]     3 by default; build/workloads must be there"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLRSCOPE = os.path.join(ROOT, "build/release/bin/clrscope")
RUNTIMES = {"8": "alloc-net8", "9": "alloc-net9", "10": "alloc"}
HOW = {"AllocationSampled, size ÷ chance": ["--sampling", "poisson"], "AllocationTick": ["--sampling", "tick"],
       "--types low": ["--types", "low"], "--types high": ["--types", "high"], "--types all": ["--types", "all"]}
# Mode, threads, bytes. Counting every object is slow, and all lower bounds depend on how long a program runs.
PROGRAMS = (("mix", 1, 150_000_000), ("mix", 8, 150_000_000), ("periodic", 1, 150_000_000), ("lohpoh", 2, 300_000_000))


def command(flavour):
    folder = os.path.join(ROOT, "build/workloads", flavour)
    return [os.path.join(folder, "alloc")] if flavour != "alloc" else ["dotnet", os.path.join(folder, "alloc.dll")]


def table(rows, key):
    sums = {}
    for row in rows:
        sums[key(row)] = sums.get(key(row), 0) + row["bytes"]
    return sums


def figures(truth, told):
    """Total error; the error that half of all bytes are below; the worst of those with a hundredth of all bytes."""
    whole = sum(truth.values())
    errors = sorted((abs(told.get(k, 0) / b - 1), b, k) for k, b in truth.items() if b > 0)
    below = 0
    for error, b, _ in errors:
        below += b
        if below >= whole / 2:
            break
    worst = max((k for e, b, k in errors if b >= whole / 100), key=lambda k: abs(told.get(k, 0) / truth[k] - 1))
    return sum(told.get(k, 0) for k in truth) / whole - 1, error, told.get(worst, 0) / truth[worst] - 1


def measure(flavour, how, program, folder):
    mode, threads, size = program
    capture = os.path.join(folder, "out.clrscope")
    out = subprocess.run([CLRSCOPE, "record", "-q", "-f", *how, "-o", capture, "--", *command(flavour), "--mode", mode,
                          "--threads", str(threads), "--bytes", str(size), "--rate", "max"], capture_output=True, text=True,
                         check=True, timeout=300).stdout
    ledger = json.loads(out.splitlines()[1])

    def report(by):
        done = subprocess.run([CLRSCOPE, "report", capture, "--by", by, "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["rows"]
    types = figures(table(ledger["types"], lambda r: r["type"]), table(report("type"), lambda r: r["type"]))
    sites = figures(table(ledger["sites"], lambda r: (r["type"], r["site"])),
                    table(report("site"), lambda r: (r["type"], r["method"])))
    return types + sites[1:]


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("\n## Live, .NET 8, 9 and 10\n")
    print(f"`workloads/alloc` counts what it allocates; the medians of {runs} recordings from its start (`bench/live_accuracy.py`). What was told also has\n"
          "what the runtime allocated of the same types (strings and byte arrays of its start, 1 to 2 MB): that weighs most with `--types all`, which slows\n"
          "the program down so that it ends before it has allocated that much. `low` and `high` charge what was counted to the stack of the object that has the event, and each one of\n"
          "10,000 bytes or more has one: smaller ones of its type are told at its site. Not every difference is explained.\n")
    print("| program | .NET | recorded by | total | types: off | worst | sites: off | worst |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            for runtime, flavour in RUNTIMES.items():
                for name, how in HOW.items():
                    if "poisson" in how and runtime != "10":
                        continue
                    rounds = [measure(flavour, how, program, folder) for _ in range(1 if "all" in how else runs)]
                    total, off, worst, site_off, site_worst = (statistics.median(c) * 100 for c in zip(*rounds))
                    print(f"| {program[0]}, {program[1]} thread{'s' * (program[1] > 1)}, {program[2] // 1_000_000} MB | {runtime} | {name} | "
                          f"{total:+.1f} | {off:.1f} | {worst:+.1f} | {site_off:.1f} | {site_worst:+.1f} |", flush=True)


if __name__ == "__main__":
    main()
