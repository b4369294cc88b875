#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Millions of stacks, each walked by the agent and by the runtime: the same functions, and no crash.

usage: agent_walk.py CLRSCOPE LIBRARY WORKLOADS FLAVOUR SAMPLES
The agent is there from the start and looks at every single allocation, in programs whose stacks hold everything that stacks of
.NET can hold. At most one stack of a thousand may differ in each of them."""
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402

CLSID = "{C15C0BE5-9A61-4B7E-8E5D-2F1F0A0C1A57}"
# Bytes that one run allocates.
MODES = {"mix": 1e9, "deep": 1e8, "generic": 5e8, "async": 5e8, "dynamic": 5e8, "funclets": 1e9, "stackalloc": 1e9,
         "interop": 1e9, "osr": 5e8, "values": 5e8, "types": 5e8}
REASONS = ("walk_new", "walk_no_rule", "walk_stub", "walk_disagree", "walk_outside", "walk_no_room")


def run(flavour, mode, seed, library):
    env = {"CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": CLSID, "CORECLR_PROFILER_PATH": library,
           "CLRSCOPE_OPTS": "exact=1,selftest=1"}
    args = ["--mode", mode, "--threads", "3", "--rate", "max", "--bytes", str(MODES[mode]), "--seconds", "120", "--seed", str(seed),
            "--start-on-stdin", "--hold-on-stdin"]
    with harness.Workload(*args, flavour=flavour, env=env) as work:
        work.go()
        work.truth()
        state = json.loads(harness.clrscope("status", "-p", work.pid, "--json").stdout)
        work.process.stdin.close()
        if work.process.wait(60) != 0:
            raise RuntimeError(f"{flavour} --mode {mode} --seed {seed} ended with {work.process.returncode}")
    return state


def main():
    harness.CLRSCOPE, library, harness.WORKLOADS = map(os.path.abspath, sys.argv[1:4])
    flavour, wanted = sys.argv[4], float(sys.argv[5])
    sums = {mode: {} for mode in MODES}
    seed, total, begin = 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        while total < wanted:
            seed += 1
            for mode in MODES:
                state = run(flavour, mode, seed, library)
                for key in ("samples", "selftest_equal", "selftest_different", "selftest_skipped", *REASONS):
                    sums[mode][key] = sums[mode].get(key, 0) + state[key]
                total += state["selftest_equal"] + state["selftest_different"]
            different = sum(s["selftest_different"] for s in sums.values())
            print(f"round {seed}: {total:,} so far, {different:,} different, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    failed = False
    for mode, s in sums.items():
        compared = s["selftest_equal"] + s["selftest_different"]
        bad = s["selftest_different"] > compared * 0.001 or compared == 0
        failed = failed or bad
        left = ", ".join(f"{s[reason]:,} {reason[5:]}" for reason in REASONS if s[reason])
        print(f"{mode:<11} {compared:>11,} compared, {s['selftest_different']:,} different; to the runtime: {left}"
              f"{'  FAILED' if bad else ''}")
    print(f"{flavour}: {total:,} stacks walked both ways in {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
