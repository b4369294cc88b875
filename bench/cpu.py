#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sampling its CPU time takes a .NET 10 program that computes and allocates.

usage: bench/cpu.py [ROUNDS] [--seconds S] [--modes LIST] [--threads N]      ROUNDS of every mode, 40 by default; S seconds of each, 2 by default
One process does the same piece of work again and again (`burns --steady`), in turn by itself (twice a round: alone and again) and under
  record          clrscope record --only cpu, by the kernel's sampler
  record-ptrace   the same with --sampler ptrace
  record-threads  the same by the kernel's sampler without privileges, as another user (needs root, and is not among the default modes)
  perf            perf record -F 99 -g
  dotnet-trace    dotnet-trace collect, with its default profile
The order changes with each round. CPU time of a piece, by the process's own clock, to that of the same round alone (the mean of alone and again), and
the same with the CPU time of the tool itself: medians of the rounds' ratios with the 95 % interval of a median (order statistics). `again` shows
what is noise. Needs build/release, build/workloads (tools/build_workloads burns), perf, and dotnet-trace, which is installed into build/tools."""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from agent import cpu_seconds, median_interval

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import harness  # noqa: E402
from nobody import Nobody  # noqa: E402

harness.CLRSCOPE = os.environ.get("CLRSCOPE", os.path.join(ROOT, "build/release/bin/clrscope"))
harness.WORKLOADS = os.environ.get("CLRSCOPE_WORKLOADS", os.path.join(ROOT, "build/workloads"))
ALONE = ("alone", "again")
MODES = (*ALONE, "record", "record-ptrace", "record-threads", "perf", "dotnet-trace")
DEFAULT = "alone,record,record-ptrace,perf,again,dotnet-trace"
SETTLE_S = 1.2  # the rundown is over


class Program:
    def __init__(self, threads, nobody, folder):
        self.folder = folder
        self.env = {**os.environ, "TMPDIR": folder}
        command = ["dotnet", os.path.join(harness.WORKLOADS, "burns", "burns.dll")]
        self.nobody = Nobody(folder) if nobody else None
        if nobody:
            self.env, command = self.nobody.env, self.nobody.program("burns")
        self.process = subprocess.Popen([*command, "--steady", str(threads)], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = json.loads(self.process.stdout.readline())["ready"]

    def look(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def start(self, mode):
        """The tool of that mode."""
        out = os.path.join(self.folder, mode)
        pid = str(self.pid)
        record = ["record", "-p", pid, "--only", "cpu", "-f", "--no-progress", "-o", out + ".clrscope"]
        command = {"record": [harness.CLRSCOPE, *record, "--sampler", "kernel"],
                   "record-ptrace": [harness.CLRSCOPE, *record, "--sampler", "ptrace"],
                   "record-threads": [*(self.nobody.clrscope if self.nobody else []), *record, "--sampler", "kernel"],
                   "perf": ["perf", "record", "-F", "99", "-g", "-p", pid, "-o", out + ".data"],
                   "dotnet-trace": [harness.dotnet_trace(), "collect", "-p", pid, "-o", out + ".nettrace"]}[mode]
        with open(out + ".log", "wb") as log:
            return subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def measure(program, mode, seconds):
    """CPU seconds of a piece: the program's, and the tool's."""
    tool = None if mode in ALONE else program.start(mode)
    time.sleep(SETTLE_S)
    own = cpu_seconds(tool.pid) if tool else 0
    before = program.look()
    time.sleep(seconds)
    after = program.look()
    if tool:
        if tool.poll() is not None:
            with open(os.path.join(program.folder, mode + ".log"), encoding="utf-8", errors="replace") as log:
                sys.exit(f"{mode} has ended: {log.read()}")
        own = cpu_seconds(tool.pid) - own
        tool.send_signal(signal.SIGINT)
        tool.wait(60)
        time.sleep(0.3)
    pieces = after["pieces"] - before["pieces"]
    return (after["cpu_ns"] - before["cpu_ns"]) / 1e9 / pieces, own / pieces


def say(title, ratios):
    median, low, high = median_interval([100 * (r - 1) for r in ratios])
    print(f"{title:36} {median:+7.2f} % [{low:+.2f}, {high:+.2f}]")


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job hands down that it is ignored
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", nargs="?", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--modes", default=DEFAULT, help=f"of {', '.join(MODES)}; alone and again are always among them")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    modes = options.modes.split(",")
    if set(modes) - set(MODES):
        parser.error(f"modes are {', '.join(MODES)}")
    modes += [mode for mode in ALONE if mode not in modes]
    rounds = {mode: [] for mode in modes}
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.threads, "record-threads" in modes, folder)
        try:
            time.sleep(3)  # its methods are compiled
            for i in range(options.rounds):
                for mode in modes[i % len(modes):] + modes[:i % len(modes)]:
                    rounds[mode].append(measure(program, mode, options.seconds))
        finally:
            program.end()
    alone = [(a[0] + b[0]) / 2 for a, b in zip(rounds["alone"], rounds["again"])]
    print(f"{options.rounds} rounds of {options.seconds} s; a piece takes {statistics.median(alone) * 1e6:.1f} µs of CPU alone")
    say("again, to alone", [b[0] / a[0] for a, b in zip(rounds["alone"], rounds["again"])])
    for mode in modes:
        if mode in ALONE:
            continue
        say(mode, [r[0] / a for r, a in zip(rounds[mode], alone)])
        say(f"{mode}, with the tool's own", [(r[0] + r[1]) / a for r, a in zip(rounds[mode], alone)])


if __name__ == "__main__":
    main()
