#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording exceptions and locks costs the program.

usage: bench/events.py [PAIRS] [--only CASE,...]      PAIRS: rounds of every configuration, 20 by default
  throw    a program that throws and catches 50,000 exceptions five frames deep, alone and under `record --only exceptions`, in turn
  storm    the same program for 12 s, as fast as it can: CPU time of each throw, with and without
  wait     two threads that hand a lock to each other 10,000 times, alone and under `record --only locks`
  throw-agent, wait-agent  the same with the agent in place of the recording: `attach --measures exceptions`, `locks`
  neither  a program that allocates 5 GB and does neither, under `record` and under `record --exceptions --locks`
CPU time of the program while it works; nanoseconds an event, and for `neither` the ratio: medians of the differences of the rounds, with the
95 % interval of a median (order statistics). Needs build/release and build/workloads (tools/build_workloads throws locks alloc)."""
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
CLRSCOPE = os.environ.get("CLRSCOPE", os.path.join(ROOT, "build/release/bin/clrscope"))
THROWS, WAITS = 50_000, 10_000
STORM = ["throws", "--storm", "0", "--seconds", "12", "--without-first-chance"]
THROWER = ["throws", "--storm", "0", "--count", str(THROWS), "--seconds", "60", "--without-first-chance"]
WAITER = ["locks", "--ping-pong", "--count", str(WAITS), "--seconds", "60"]
# The program, without and with what is measured, how many events it makes.
CASES = {
    "throw": (THROWER, None, ["record", "--only", "exceptions"], THROWS),
    "throw-agent": (THROWER, None, ["attach", "--measures", "exceptions"], THROWS),
    "storm": (STORM, None, ["record", "--only", "exceptions"], -1),
    "wait": (WAITER, None, ["record", "--only", "locks"], WAITS),
    "wait-agent": (WAITER, None, ["attach", "--measures", "locks"], WAITS),
    "neither": (["alloc", "--mode", "mix", "--threads", "1", "--rate", "max", "--bytes", "5e9", "--seconds", "60"], ["record"], ["record", "--exceptions", "--locks"], 0),
}


def run(arguments, recorded, folder):
    """CPU seconds of the program's work. `recorded`: the verb that measures it, and its options; None: nobody does."""
    dll = os.path.join(ROOT, "build/workloads", arguments[0], arguments[0] + ".dll")
    program = subprocess.Popen(["dotnet", dll, *arguments[1:], "--start-on-stdin", "--hold-on-stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    pid = json.loads(program.stdout.readline())["ready"]
    recording = None
    if recorded is not None and recorded[0] == "record":
        recording = subprocess.Popen([CLRSCOPE, *recorded, "-p", str(pid), "-q", "-o", os.path.join(folder, f"{pid}.clrscope")])
        time.sleep(1.5)  # the rundown is over
    elif recorded is not None:
        subprocess.run([CLRSCOPE, *recorded, "-p", str(pid), "--every", "1s", "-o", os.path.join(folder, "%p-%t.pb")], check=True, stderr=subprocess.DEVNULL)
        time.sleep(0.5)  # its session has begun
    before = cpu_seconds(pid)
    program.stdin.write("go\n")
    program.stdin.flush()
    done = json.loads(program.stdout.readline())
    spent = cpu_seconds(pid) - before
    if "throws" in done and "12" in arguments:  # a storm: as many as it can
        spent /= done["throws"]
    if recording:
        recording.send_signal(signal.SIGINT)
        recording.wait()
    program.stdin.close()
    program.wait()
    program.stdout.close()
    return spent


def main():
    arguments = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    arguments.add_argument("pairs", type=int, nargs="?", default=20)
    arguments.add_argument("--only", default=",".join(CASES))
    arguments = arguments.parse_args()
    pairs = arguments.pairs
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.only.split(","):
            program, without, options, events = CASES[name]
            alone, recorded = [], []
            for i in range(pairs):
                for on in (False, True) if i % 2 == 0 else (True, False):
                    (recorded if on else alone).append(run(program, options if on else without, folder))
            if events < 0:
                ratio, low, high = median_interval([b / a for a, b in zip(alone, recorded)])
                print(f"{name:8} alone {statistics.median(alone) * 1e9:,.0f} ns each, recorded {ratio:.3f} times as much [{low:.3f}, {high:.3f}]")
            elif events:
                each, low, high = median_interval([(b - a) / events * 1e9 for a, b in zip(alone, recorded)])
                print(f"{name:11} alone {statistics.median(alone) / events * 1e9:,.0f} ns each, recording adds {each:,.0f} ns [{low:,.0f}, {high:,.0f}]")
            else:
                ratio, low, high = median_interval([b / a for a, b in zip(alone, recorded)])
                print(f"{name:11} without {statistics.median(alone):.3f} s CPU, with {ratio:.3f} times as much [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
