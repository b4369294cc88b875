#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of the sampled CPU time of `burns` has stacks that lack callers.

usage: cpu_callers.py CLRSCOPE WORKLOADS [RUNS] [kernel|ptrace] [FLAVOUR,...]
Each kind of work runs in a process of its own, compiled in tiers as is the default, so that its loops are replaced while they run. The
program's own methods of each stack are compared with those that call each other there. Prints, for each kind, how much of its time has stacks that do
not reach the entry of their thread, that lack a method on the way, and that have a method that did not call. Exit code 1 when that is more than a
hundredth of all."""
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402

BURNS = "Clrscope.Workloads.Burns."
OWN = ("Kinds.", "Program.")
MAIN = [{"Program.Main"}, {"Kinds.Run"}]
SPIN = {"Kinds.Spin"}
# By kind: who calls whom, from the entry of the thread on.
PATHS = {
    "loops": [*MAIN, {"Kinds.LoopLong", "Kinds.LoopShort"}, SPIN],
    "recursion": [*MAIN, {"Kinds.Recurse"}, *[{"Kinds.Deeper"}] * 41, SPIN],
    "generics": [*MAIN, {"Kinds.Generic"}, {"Kinds.Adder.Add"}, SPIN],
    "delegates": [*MAIN, {"Kinds.ByDelegate"}, {"Kinds.ByDelegate.λ0"}, SPIN],
    "native": [*MAIN, {"Kinds.Native"}],
    "back": [*MAIN, {"Kinds.Back"}, {"Kinds.Compare"}],
    "callback": [*MAIN, {"Kinds.Callback"}, {"Kinds.Slowly"}, SPIN],
    "exceptions": [*MAIN, {"Kinds.Throwing"}],
    "allocations": [*MAIN, {"Kinds.Allocating"}],
    "garbage": [*MAIN, {"Kinds.Garbage"}],
    "osr": [*MAIN, {"Kinds.Replaced"}],
    "kernel": [*MAIN, {"Kinds.Kernel"}],
    "async": [{"Kinds.Async"}, {"Kinds.AsyncPart"}, SPIN],
    "threads": [{"Kinds.ShortThreads.λ0"}, {"Kinds.ShortThread"}, SPIN],
}
# They end with a call whose result they return: optimized code jumps there and leaves no frame.
MAY_LACK = {"Kinds.Adder.Add", "Kinds.ByDelegate.λ0"}
VERDICTS = ("right", "no entry", "lacks", "invented")


def record(path, flavour, kind, sampler):
    with harness.Workload("--start-on-stdin", "--hold-on-stdin", "--seconds", "1", "--kinds", kind, flavour=flavour) as w:
        recorder = harness.start_clrscope("record", "-p", w.pid, "--only", "cpu", "--sampler", sampler, "-f", "-o", path)
        first = recorder.stderr.readline()
        if "Recording" not in first:
            raise RuntimeError(first)
        time.sleep(0.7)
        w.go()
        w.truth()
        recorder.send_signal(signal.SIGTERM)
        _, said = recorder.communicate(timeout=60)
        if recorder.returncode != 0:
            raise RuntimeError(said)


def stacks(path):
    """Each stack, leaf first, and its time."""
    folded = path + ".folded"
    result = harness.clrscope("convert", path, "-f", "-o", folded)
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    with open(folded, encoding="utf-8") as f:
        for line in f:
            text, _, weight = line.rstrip("\n").rpartition(" ")
            yield [name.removesuffix(" [async]") for name in reversed(text.split(";"))], int(weight)


def verdict(names, path):
    """Of a stack, leaf first; None: it is not of the kind's own."""
    own = [name.removeprefix(BURNS) for name in reversed(names) if name.startswith(BURNS)]
    own = [name for name in own if name.startswith(OWN)]
    marks = set().union(*path[2 if path[0] == MAIN[0] else 0:])
    if not marks.intersection(own):
        return None
    expected = 0
    result = "right"
    for name in own:
        at = next((i for i in range(expected, len(path)) if name in path[i]), None)
        if at is None:
            return "invented"
        if any(not step <= MAY_LACK for step in path[expected:at]):
            result = "no entry" if expected == 0 else "lacks"
        expected = at + 1
    return result


def main():
    harness.CLRSCOPE, harness.WORKLOADS = map(os.path.abspath, sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    sampler = sys.argv[4] if len(sys.argv) > 4 else "kernel"
    flavours = sys.argv[5].split(",") if len(sys.argv) > 5 else ["burns", "burns-net8", "burns-net9"]
    everything = dict.fromkeys(VERDICTS, 0)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "x.clrscope")
        print(f"{'':12} {'':12} {'seconds':>8}" + "".join(f"{v:>10}" for v in VERDICTS))
        for flavour in flavours:
            for kind, path in PATHS.items():
                sums = dict.fromkeys(VERDICTS, 0)
                for _ in range(runs):
                    record(file, flavour, kind, sampler)
                    for names, weight in stacks(file):
                        if (v := verdict(names, path)) is not None:
                            sums[v] += weight
                            if v != "right" and os.environ.get("SHOW_WRONG"):
                                print(f"  {v}: {weight / 1e6:.0f} ms", " < ".join(name.removeprefix(BURNS) for name in names)[:600])
                total = sum(sums.values())
                print(f"{flavour:12} {kind:12} {total / 1e9:8.2f}" + "".join(f"{100 * n / max(total, 1):9.2f}%" for n in sums.values()), flush=True)
                for v, n in sums.items():
                    everything[v] += n
    total = sum(everything.values())
    print(f"{'all':25} {total / 1e9:8.2f}" + "".join(f"{100 * n / max(total, 1):9.2f}%" for n in everything.values()))
    return 0 if total and everything["right"] > 0.99 * total else 1


if __name__ == "__main__":
    sys.exit(main())
