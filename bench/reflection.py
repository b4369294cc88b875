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
import signal
import subprocess
import sys
import tempfile

from agent import CLRSCOPE, ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "agent"))
from agent_case import await_sampling, harness  # noqa: E402
from metadata import looks_per_cpu_second  # noqa: E402


def measure(runtime, rounds, folder):
    with harness.Workload(flavour=runtime) as recorded, harness.Workload(flavour=runtime) as other:
        both = [recorded, other]
        looks_per_cpu_second(both, rounds)  # the compiler is done with it
        before = looks_per_cpu_second(both, rounds)
        recorder = subprocess.Popen([CLRSCOPE, "record", "-p", str(recorded.pid), "--live", "-o", os.path.join(folder, "x.clrscope"), "-f"],
                                    stderr=subprocess.DEVNULL)
        await_sampling(recorded.pid)
        looks_per_cpu_second([recorded], rounds)
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
        return before, looks_per_cpu_second(both, rounds)


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
            ratio = after[0] / before[0] * before[1] / after[1]
            print(f"{runtime:<16}{before[0]:>12,.0f}{after[0]:>12,.0f}{ratio:>26.2f}", flush=True)


if __name__ == "__main__":
    main()
