#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a change costs the programs that are looked at: another build and this one, in turn.

usage: bench/before_after.py BUILD [PAIRS] [--only record,agent,live]      BUILD: of before, such as ../old/build/release; 40 pairs by default
A .NET 10 program allocates 4 GB in all, as fast as it can, under `record`, with the agent, and with the agent that follows live objects. CPU time of the program
while it works, of `record` by then, and microseconds a sample as the agent meters its walk and fold: the median of the ratios of each pair, with the 95 % interval of a median (order statistics).
Needs build/release and build/workloads (tools/build_workloads alloc)."""
import argparse
import os
import signal
import statistics
import subprocess
import tempfile
import time

from agent import ROOT, Program, cpu_seconds, median_interval

NOW = os.path.join(ROOT, "build/release")
WORK = ["--mode", "mix", "--threads", "2", "--rate", "max", "--bytes", "4e9", "--seconds", "60", "--hold-on-stdin"]


def run(case, build, folder):
    """CPU seconds of the program, and of `record`; with the agent, microseconds a sample in place of those."""
    options = None if case == "record" else f"live={1 if case == 'live' else 0},every=2s,output={folder}/%p-%t.pb"
    program = Program("alloc", WORK, folder, options, os.path.join(build, "lib/libclrscope-agent.so"))
    recording = None
    if case == "record":
        recording = subprocess.Popen([os.path.join(build, "bin/clrscope"), "record", "-p", str(program.pid), "-q", "-f", "-o", os.path.join(folder, "x.clrscope")],
                                     env=program.env, stderr=subprocess.DEVNULL)
    time.sleep(1.5)  # the rundown is over
    before = program.cpu_seconds()
    program.go()
    program.read()
    spent = [program.cpu_seconds() - before]
    if recording:
        spent.append(cpu_seconds(recording.pid))
        recording.send_signal(signal.SIGINT)
        recording.wait()
    else:
        status = program.status(os.path.join(build, "bin/clrscope"))
        if status is None:
            raise RuntimeError("the agent does not answer")
        spent.append(status["sample_ns"] / status["samples"] / 1000)
    program.end()
    return spent


def main():
    arguments = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    arguments.add_argument("build")
    arguments.add_argument("pairs", type=int, nargs="?", default=40)
    arguments.add_argument("--only", default="record,agent,live")
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for case in arguments.only.split(","):
            old, new = [], []
            for i in range(arguments.pairs):
                for now in (False, True) if i % 2 == 0 else (True, False):
                    (new if now else old).append(run(case, NOW if now else os.path.abspath(arguments.build), folder))
            for whose, before, after in zip(("the program, s", "record, s" if case == "record" else "a sample, µs"), zip(*old), zip(*new)):
                ratio, low, high = median_interval([b / a for a, b in zip(before, after)])
                print(f"{case:7} {whose:15} {statistics.median(before):.3f} before, {statistics.median(after):.3f} now: {ratio:.3f} [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
