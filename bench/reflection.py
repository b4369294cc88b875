#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast reflection is in a program after a recording with the agent, beside a program that nobody records.

usage: bench/reflection.py [ROUNDS] [--runtime reflects,reflects-net9,reflects-net8]      24 rounds by default
Both programs take turns, round by round, before the recording and after it, when the agent is out again. Of each program: methods whose
attributes it read in a second of its CPU time. The table has the medians and the ratio of after to before of the recorded program, divided
by that of the other. CLRSCOPE=PATH measures another build. Needs build/release and build/workloads (tools/build_workloads
--self-contained reflects)."""
import argparse
import os
import sys
import tempfile

from agent import CLRSCOPE, ROOT

sys.path[:0] = [os.path.join(ROOT, "tests", "agent"), os.path.join(ROOT, "tests", "e2e")]
import harness  # noqa: E402
from metadata import ratio_of, speeds_around_a_recording  # noqa: E402


def measure(runtime, rounds, folder):
    with harness.Workload(flavour=runtime) as recorded, harness.Workload(flavour=runtime) as other:
        return speeds_around_a_recording(recorded, other, os.path.join(folder, "x.clrscope"), rounds)


def main():
    arguments = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    arguments.add_argument("rounds", type=int, nargs="?", default=24)
    arguments.add_argument("--runtime", default="reflects,reflects-net9,reflects-net8")
    arguments = arguments.parse_args()
    harness.CLRSCOPE, harness.WORKLOADS = CLRSCOPE, os.path.join(ROOT, "build/workloads")
    print(f"{'program':<16}{'before':>12}{'after':>12}{'ratio, beside the other':>26}")
    with tempfile.TemporaryDirectory() as folder:
        for runtime in arguments.runtime.split(","):
            before, after = measure(runtime, arguments.rounds, folder)
            print(f"{runtime:<16}{before[0]:>12,.0f}{after[0]:>12,.0f}{ratio_of(before, after):>26.2f}", flush=True)


if __name__ == "__main__":
    main()
