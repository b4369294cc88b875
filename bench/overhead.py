#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recordings take a .NET 10 program that allocates, by its own CPU clock: alone, under `record`, and under `record --max-overhead`.

usage: bench/overhead.py [ROUNDS] [--rate BYTES_PER_S|max] [--bytes N] [--mode mix|deep] [--threads N] [--limit 1%]      12 rounds by default
The program does the same work each time; all three in turn, in an order that changes with each round. Of each: the median of the rounds'
ratios to the program alone, with the 95 % interval of a median (order statistics), the same with clrscope's own CPU time added, and what
clrscope says. `per sample` is what is left when the program alone is taken off, clrscope's own CPU aside.
Needs build/release and build/workloads (tools/build_workloads alloc)."""
import argparse
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

from agent import CLRSCOPE, Program, cpu_seconds, median_interval


def run(options, arguments, folder):
    """CPU seconds of the program and of `record` while it works, samples, and what clrscope says that it took."""
    work = ["--mode", arguments.mode, "--threads", arguments.threads, "--rate", arguments.rate, "--bytes", arguments.bytes, "--seconds", "120",
            "--hold-on-stdin"]
    program = Program("alloc", work, folder)
    recording = None
    if options is not None:
        recording = subprocess.Popen([CLRSCOPE, "record", "-p", str(program.pid), "-f", "--no-progress", "-o", os.path.join(folder, "x.clrscope"),
                                      *options], env=program.env, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)  # the rundown is over
    before, own = program.cpu_seconds(), cpu_seconds(recording.pid) if recording else 0
    program.go()
    program.read()
    cpu = program.cpu_seconds() - before
    own = cpu_seconds(recording.pid) - own if recording else 0
    words = ""
    if recording:
        recording.send_signal(signal.SIGINT)
        words = recording.communicate()[1]
    program.end()
    samples = re.search(r"([\d,]+) samples", words)
    told = re.search(r"Overhead: about ([\d.]+) %", words)
    return cpu, own, int(samples[1].replace(",", "")) if samples else 0, float(told[1]) if told else 0


def main():
    arguments = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    arguments.add_argument("rounds", type=int, nargs="?", default=12)
    arguments.add_argument("--rate", default="2e9")
    arguments.add_argument("--bytes", default="20e9")
    arguments.add_argument("--mode", default="mix")
    arguments.add_argument("--threads", default="2")
    arguments.add_argument("--limit", default="1%")
    arguments = arguments.parse_args()
    modes = {"alone": None, "record": [], "limit": ["--max-overhead", arguments.limit]}
    results = {mode: [] for mode in modes}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(arguments.rounds):
            for mode in list(modes) if i % 2 == 0 else reversed(list(modes)):
                results[mode].append(run(modes[mode], arguments, folder))
    alone = [r[0] for r in results["alone"]]
    print(f"alone: {statistics.median(alone):.3f} s of CPU")
    for mode in ("record", "limit"):
        rows = results[mode]
        ratio = median_interval([r[0] / a for r, a in zip(rows, alone)])
        both = median_interval([(r[0] + r[1]) / a for r, a in zip(rows, alone)])
        samples = statistics.median(r[2] for r in rows)
        each = statistics.median((r[0] - a) / max(r[2], 1) for r, a in zip(rows, alone)) * 1e6
        print(f"{mode:7} {ratio[0]:.3f} [{ratio[1]:.3f}, {ratio[2]:.3f}]; with clrscope's own {both[0]:.3f} [{both[1]:.3f}, {both[2]:.3f}]; "
              f"{samples:.0f} samples, {each:.2f} us per sample; says {statistics.median(r[3] for r in rows):.1f} %")


if __name__ == "__main__":
    main()
