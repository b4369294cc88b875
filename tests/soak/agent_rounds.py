#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent goes into one process under load and out again, hundreds of times: nothing of it stays behind.

usage: agent_rounds.py CLRSCOPE WORKLOADS FLAVOUR ROUNDS
The program allocates on two threads, computing the same thing over and over; it counts results that differ. Its memory, threads,
descriptors and mappings are read before each round; the median of the last fifth is held to that of the second."""
import glob
import json
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402

# What may be more after hundreds of rounds. The program's own heap breathes by some MB.
SLACK = {"rss_mb": 12, "threads": 2, "descriptors": 1, "mappings": 12}


def read_state(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = dict(line.split(":", 1) for line in file)
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        mappings = file.read().count("\n")
    return {"rss_mb": int(status["VmRSS"].split()[0]) / 1024, "threads": int(status["Threads"]),
            "descriptors": len(os.listdir(f"/proc/{pid}/fd")), "mappings": mappings}


def around(pid, samples):
    begin = time.monotonic()
    result = harness.clrscope("attach", "-p", pid)
    if time.monotonic() - begin > 2:
        print(f"round {len(samples)}: attaching took {time.monotonic() - begin:.1f} s", flush=True)
    if result.returncode == 0:
        time.sleep(0.05)
        state = json.loads(harness.clrscope("status", "-p", pid, "--json").stdout)
        samples.append(state["samples"])
        result = harness.clrscope("detach", "-p", pid)
    if result.returncode != 0:
        raise RuntimeError(result.stderr)


def median(states, key):
    return statistics.median(state[key] for state in states)


def main():
    harness.CLRSCOPE, harness.WORKLOADS = map(os.path.abspath, sys.argv[1:3])
    flavour, rounds = sys.argv[3], int(sys.argv[4])
    args = ["--mode", "check", "--threads", "2", "--rate", "200e6", "--seconds", "1e6", "--start-on-stdin", "--stop-on-stdin"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        with harness.Workload(*args, flavour=flavour) as alone:
            alone.go()
            time.sleep(2)
            alone.go()  # any line stops it
            expected = alone.truth()
        states, samples, longest = [], [], 0.0
        with harness.Workload(*args, flavour=flavour) as work:
            work.go()
            for _ in range(rounds):
                states.append(read_state(work.pid))
                begin = time.monotonic()
                around(work.pid, samples)
                longest = max(longest, time.monotonic() - begin)
            time.sleep(6)  # the runtime lets go of the last round's agent within five seconds
            after = read_state(work.pid)
            left = glob.glob(os.path.join(folder, "clrscope*"))
            work.go()
            truth = work.truth()
            ended = work.process.wait(30)
    fifth = max(1, rounds // 5)
    early, late = states[fifth:2 * fifth], states[-fifth:]
    failed = []
    for key, slack in SLACK.items():
        grown = median(late, key) - median(early, key)
        print(f"{key}: {median(early, key):.0f} at first, {median(late, key):.0f} at last, {after[key]:.0f} after")
        if grown > slack:
            failed.append(f"{key} grew by {grown:.0f}")
    print(f"{flavour}: {rounds} rounds, {sum(samples):,} samples taken, longest round {longest:.1f} s, "
          f"{truth['same']:,} results as ever, {truth['different']} different")
    if truth["different"] or truth["checksum"] != expected["checksum"]:
        failed.append(f"the program computes something else: {truth['checksum']} instead of {expected['checksum']}")
    if left:
        failed.append(f"files were left: {left}")
    if ended != 0:
        failed.append(f"the program ended with {ended}")
    print("; ".join(failed) or "nothing stays behind")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
