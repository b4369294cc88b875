#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often what a method burnt lies inside the 95 % interval that a recording of CPU time claims.

usage: cpu_intervals.py CLRSCOPE WORKLOADS [RUNS] [MODE,...] [FLAVOUR,...]      100 runs of each mode and flavour by default
  kernel   the kernel's sampler, as whoever runs this
  user     the same as a user without privileges, at kernel.perf_event_paranoid 2 (needs root, to become one)
  seccomp  stops from outside (ptrace), as perf_event_open is refused by a filter
Each run records the workload `burns` (burns, burns-net8 or burns-net9), which reads its own clocks. By chance 95 of 100 are inside; fewer than 88 % of
any method's runs fail. So does a total that is more than 2 % off. As a user the kernel's time is a frame without callers, so that what does little else
than read (`kernel`) is left out there."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402
from nobody import Nobody, paranoid  # noqa: E402
from seccomp import without_perf  # noqa: E402

MODES = ("kernel", "user", "seccomp")
FLAVOURS = ("burns", "burns-net8", "burns-net9")
KERNEL = ",kernel"
KINDS = "loops,recursion,generics,delegates,dynamic,async,native,back,callback,exceptions,allocations,garbage,osr"
ROOM = 0.01  # of a method: its clock is read at its ends, what runs around it is not


class Runner:
    """Records one program after the other, in a folder that the user may write to."""

    def __init__(self, mode, folder):
        self.mode, self.folder = mode, folder
        self.kinds = KINDS if mode == "user" else KINDS + KERNEL
        self.options, self.install = ["--sampler", "kernel"], None
        self.env, self.clrscope, self.nobody = {**os.environ, "TMPDIR": folder}, [harness.CLRSCOPE], None
        if mode == "user":
            self.nobody = Nobody(folder)
            self.env, self.clrscope = self.nobody.env, self.nobody.clrscope
        elif mode == "seccomp":
            self.options, self.install = [], without_perf()

    def program(self, flavour):
        if self.nobody:
            return self.nobody.program(flavour)
        native = os.path.join(harness.WORKLOADS, flavour, "burns")
        return [native] if flavour != "burns" else ["dotnet", native + ".dll"]

    def once(self, flavour):
        """The truth, and the recording's file."""
        path = os.path.join(self.folder, "x.clrscope")
        with subprocess.Popen([*self.program(flavour), "--start-on-stdin", "--hold-on-stdin", "--seconds", "0.4", "--kinds", self.kinds],
                              env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as burns:
            try:
                pid = json.loads(burns.stdout.readline())["ready"]
                recorder = subprocess.Popen([*self.clrscope, "record", "-p", str(pid), "--cpu", *self.options, "-f", "-o", path],
                                            env=self.env, stderr=subprocess.PIPE, text=True, preexec_fn=self.install)
                first = recorder.stderr.readline()
                if "Recording" not in first:
                    raise RuntimeError(first + recorder.stderr.read())
                time.sleep(1)
                burns.stdin.write("go\n")
                burns.stdin.flush()
                truth = json.loads(burns.stdout.readline())
                recorder.send_signal(signal.SIGTERM)
                said = recorder.stderr.read()
                if recorder.wait(60) != 0:
                    raise RuntimeError(said)
            finally:
                burns.kill()
        return truth, path


class Tally:
    def __init__(self):
        self.inside, self.tried, self.ratios, self.totals, self.runs = {}, {}, {}, 0, 0

    def add(self, truth, path, sampler):
        document = harness.report(path, "--measure", "cpu", "--by", "method", "-n", "1000")
        if document["sampler"] != sampler:
            raise RuntimeError(f"the sampler was {document['sampler']}, not {sampler}")
        self.runs += 1
        off = document["totals"]["cpu_ns"] / truth["process_ns"] - 1
        if abs(off) > 0.02:
            self.totals += 1
            print(f"  a total is {100 * off:+.1f} % off", flush=True)
        rows = {row["method"].rpartition(".")[2].removesuffix(" [async]"): row for row in document["rows"] if row["method"].startswith("Clrscope.")}
        for name, ns in truth["methods"].items():
            row = rows.get(name, {"total_cpu_ns_low": 0, "total_cpu_ns_high": 0, "total_cpu_ns": 0})
            self.tried[name] = self.tried.get(name, 0) + 1
            self.ratios[name] = self.ratios.get(name, 0) + row["total_cpu_ns"] / ns
            if row["total_cpu_ns_low"] - ROOM * ns <= ns <= row["total_cpu_ns_high"] + ROOM * ns:
                self.inside[name] = self.inside.get(name, 0) + 1
            elif os.environ.get("SHOW_WRONG"):
                print(f"  {name}: {ns / 1e6:.0f} ms is not in [{row['total_cpu_ns_low'] / 1e6:.0f}, {row['total_cpu_ns_high'] / 1e6:.0f}]", flush=True)

    def say(self, title):
        """Whether it holds."""
        low = [name for name in self.tried if self.inside.get(name, 0) < 0.88 * self.tried[name]]
        for name in sorted(self.tried):
            print(f"  {name:20} {self.inside.get(name, 0):4} of {self.tried[name]}, {self.ratios[name] / self.tried[name]:.3f} of the truth on average")
        print(f"{title}: {sum(self.inside.values())} of {sum(self.tried.values())} inside; {self.totals} totals of {self.runs} more than 2 % off"
              + (f"; below 88 %: {', '.join(low)}" if low else ""), flush=True)
        return not low and not self.totals and bool(self.tried)


def main():
    harness.CLRSCOPE, harness.WORKLOADS = map(os.path.abspath, sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    modes = sys.argv[4].split(",") if len(sys.argv) > 4 else list(MODES)
    flavours = sys.argv[5].split(",") if len(sys.argv) > 5 else list(FLAVOURS)
    good = True
    for mode in modes:
        if mode not in MODES:
            sys.exit(f"{mode}? One of {', '.join(MODES)}")
        if mode == "user" and (not Nobody.can() or paranoid() != 2):
            print(f"SKIPPED: user needs root, setpriv and kernel.perf_event_paranoid 2, not {paranoid()}")
            continue
        for flavour in flavours:
            tally = Tally()
            with tempfile.TemporaryDirectory() as folder:
                runner = Runner(mode, folder)
                for _ in range(runs):
                    tally.add(*runner.once(flavour), "ptrace" if mode == "seccomp" else "kernel")
            good = tally.say(f"{mode}, {flavour}") and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
