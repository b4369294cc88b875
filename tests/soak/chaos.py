#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that does everything at once (workloads/chaos), while agents come and go in it and disks stall.

usage: chaos.py CLRSCOPE WORKLOADS SECONDS [--seed N] [--only FLAVOUR[/server|/workstation]]... [--without ACTIVITY]...
       [--kind constructors|recordings|assemblies] [--alone|--sessions] [--out FOLDER]
SECONDS of torments for each of .NET 10, 9, 8 and both garbage collectors, in lives that end in different ways: by its input, or by
SIGTERM, which the program leaves to the runtime, to the system, or handles, while the disk stalls or not. Nothing may crash; the managed
heartbeat may stand still 2 s longer than the native one; results stay what they are; SIGTERM ends it within 5 s; nothing stays behind.
Lives are of three kinds, as the runtime itself cannot stand everything at once (KINDS in tests/chaos/life.py): constructors of libraries
call managed code; or threads are made by the hundred, and there are recordings; or there are collectible assemblies beside threads.
--alone: no clrscope at all, which shows what the program does by itself; --sessions: recordings without an agent, which shows what any tool
does to it. What is known of a failure lies in FOLDER (build/chaos)."""
import argparse
import ctypes
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "chaos"))
from counts import Counts  # noqa: E402
from disks import Disks  # noqa: E402
import life as lives  # noqa: E402
from life import EXIT_CODES, KINDS, Life, children_of, descriptors_of, major_of, threads_of  # noqa: E402
from torments import Torments  # noqa: E402

FLAVOURS = ["chaos", "chaos-net9", "chaos-net8"]
# How a life ends: by whom SIGTERM is handled, whether a disk stalls then; None: by its input.
ENDINGS = [None, ("runtime", False), ("report", True), ("system", True), ("report", False), None, ("system", False), ("runtime", True)]
SHORTEST, AVERAGE = 3.0, 8.0  # s of a life
MOST_CORES = 2
AGENTS_PATIENCE = 3.0  # s that the runtime's end waits for the agent's (kShutdownPatience)
PR_SET_CHILD_SUBREAPER = 36


class Combination:
    """One runtime under one garbage collector, for a while."""

    def __init__(self, options, flavour, server, number, disks):
        self.options, self.flavour, self.server, self.disks = options, flavour, server, disks
        self.name = f"{flavour}, {'server' if server else 'workstation'} GC"
        self.seed = f"{options.seed} {flavour} {server}"
        self.dice, self.number = random.Random(self.seed), number
        self.counts, self.failures = Counts(), []
        self.agents = not options.alone and not options.sessions
        self.worst = {"managed_gap_ms": 0.0, "native_gap_ms": 0.0, "excess_ms": 0.0}
        self.library = os.path.join(os.path.dirname(options.clrscope), "..", "lib", "libclrscope-agent.so")

    def plan(self):
        """[(seconds, ending)]"""
        count = max(1, int(self.options.seconds / AVERAGE))
        endings = [ENDINGS[(i + self.number) % len(ENDINGS)] for i in range(count)]
        self.dice.shuffle(endings)
        spare = max(0.0, self.options.seconds - SHORTEST * count)
        shares = [self.dice.expovariate(1) for _ in endings]
        first = min(SHORTEST, self.options.seconds / count)
        return [(first + spare * share / sum(shares), ending) for share, ending in zip(shares, endings)]

    def run(self):
        for i, (seconds, ending) in enumerate(self.plan()):
            kind = self.options.kind or list(KINDS)[(i + self.number) % len(KINDS)]
            # The runtime's thread that handles signals has its first event then, and waits for the loader's lock in cooperative mode.
            if kind == "constructors" and ending and ending[0] == "report":
                ending = ("runtime", ending[1])
            folder = os.path.join(self.options.out, f"{self.flavour}-{'server' if self.server else 'workstation'}-{i}")
            shutil.rmtree(folder, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix="chaos-") as tmp:
                failures = self.live(seconds, ending, kind, tmp, folder, f"{self.seed} {i}")
            for failure in failures:
                print(f"FAILED: {self.name}, life {i} of {seconds:.1f} s, with {kind}, "
                      f"ended by {ending or 'its input'}: {failure}", flush=True)
            self.failures += failures
            if not failures:
                shutil.rmtree(folder, ignore_errors=True)
            for core in sorted(glob.glob(os.path.join(self.options.out, "*", "core*")), key=os.path.getmtime)[MOST_CORES:]:
                os.remove(core)

    def live(self, seconds, ending, kind, tmp, folder, seed):
        self.disks.clear()
        term = ending[0] if ending else self.dice.choice(["runtime", "system", "report"])
        life = Life(self.options.workloads, self.options.without, self.flavour, self.server, term, kind, self.dice.randrange(10 ** 6),
                    tmp, folder, self.library)
        self.counts.add(f"lives with {kind}")
        try:
            life.say("go")
            torments = Torments(self.options.clrscope, life, self.disks, self.counts, seed, agents=not self.options.sessions)
            if not self.options.alone:
                torments.start()
            life.over.wait(seconds)
            if life.hangs.is_set():
                life.fail(f"it hangs: nothing more is waited for\n{life.last_words()}")
            elif life.process.poll() is not None:
                life.check_end(life.await_exit(1), expected=0)
            elif ending is None:
                self.end_by_input(life, torments)
            else:
                self.end_by_term(life, torments, *ending)
            self.take(life)
        finally:
            life.close()
            torments.end()
        self.check_left(life, tmp)
        return life.failures

    def end_by_input(self, life, torments):
        torments.end()
        self.counts.add("lives ended by their input")
        life.end_by_input()
        if life.report is None:
            if life.hangs.is_set() or life.process.poll() is None:
                life.fail("it never told what it did")
                life.close()
                return
        elif self.agents:
            self.check_gone(life)
        life.say("end")
        life.check_end(life.await_exit(20), expected=0)

    def end_by_term(self, life, torments, term, stalled):
        stalled = stalled and not self.disks.missing and self.agents
        torments.calm()
        if stalled:
            torments.attach_to("stalling")
            time.sleep(0.5)
            self.disks.tell("stall")
            time.sleep(1.5)  # an interval ends
        took = life.ended_after = life.end_by_term(stalled)
        self.counts.add(f"SIGTERM, left to the {term}" if term != "report" else "SIGTERM, handled")
        self.counts.most("longest end by SIGTERM, ms", int(1000 * took))
        if stalled:
            self.counts.add("SIGTERM while the disk stalls")
            self.disks.tell("go")
        if term == "report":
            life.report = life.await_report(10)
            if life.report is None and not life.failures:
                life.fail("it handles SIGTERM, and yet it never told what it did")
        life.check_end(life.await_exit(20), expected=EXIT_CODES[term][major_of(self.flavour)])
        torments.end()

    def check_gone(self, life):
        """Nothing of the agent's stays in a process that goes on."""
        pid = life.pid
        end = time.monotonic() + 30
        while time.monotonic() < end:
            done = subprocess.run([self.options.clrscope, "detach", "-p", str(pid)], capture_output=True, text=True, timeout=90,
                                  env={**os.environ, "TMPDIR": life.tmp})
            if done.returncode not in (0, 4, 6):
                life.fail(f"the last detach ended with {done.returncode}: {done.stderr.strip()}")
            if not self.agent_threads(pid) and not glob.glob(life.tmp + "/clrscope*"):
                break
            time.sleep(0.2)
        # The runtime lets go within five seconds.
        for _ in range(80):
            after = descriptors_of(pid)
            grown = {kind: count - life.descriptors.get(kind, 0) for kind, count in after.items()
                     if count - life.descriptors.get(kind, 0) > 1}
            if not grown and not self.agent_threads(pid):
                break
            time.sleep(0.1)
        if self.agent_threads(pid):
            life.fail("an agent's thread stays: " + lives.autopsy.of_process(pid, life.path("thread.txt"), self.library))
        if left := self.left_files(life, life.tmp):
            life.fail(f"files stay after the last detach: {left}")
        if left := self.disks.files(".part"):
            life.fail(f"half-written files stay after the last detach: {left}")
        if grown:
            life.fail(f"descriptors stay: {grown}; they were {life.descriptors}")
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            libraries = dict(line.rstrip().split(None, 5)[4:] for line in file if "clrscope-agent" in line)  # by inode
        if len(libraries) > 1:
            life.fail(f"the agent's library is mapped from {len(libraries)} files: {', '.join(libraries.values())}")
        if left := lives.children_of(pid):
            life.fail(f"children stay: {left}")

    @staticmethod
    def agent_threads(pid):
        return [name for name, _ in threads_of(pid).values() if name.startswith("clrscope")]

    @staticmethod
    def left_files(life, tmp):
        """What stays in TMPDIR and should not."""
        left = glob.glob(tmp + "/clrscope*")
        if life.process.returncode == -signal.SIGTERM or life.ended_after >= AGENTS_PATIENCE:
            # The system ends it at once, which the agent learns of only where it has a file to write; or the agent did not come to
            # its end in the time for which it may hold up the runtime's. Its socket stays, dead, and the next attach in that folder
            # removes it.
            left = [path for path in left if not path.endswith(".socket")]
        if life.clrscope_was_killed:
            # Perhaps after it had put the library there and before the runtime loaded it; the next attach takes the same file.
            left = [path for path in left if not path.endswith(".so")]
        return left

    def check_left(self, life, tmp):
        """Nothing stays of a process that has ended."""
        spooled = [path for path in self.disks.files(".pb") if os.path.getsize(path)]
        self.counts.add("profiles spooled", len(spooled))
        of_memory = [path for path in spooled if "-gccpu" not in path]
        for path in self.dice.sample(of_memory, min(3, len(of_memory))):
            read = subprocess.run([self.options.clrscope, "report", path], capture_output=True, text=True, timeout=60, check=False)
            if read.returncode not in (0, 3):
                life.fail(f"a profile cannot be read: {read.stderr.strip()}")
                shutil.copy(path, life.folder)
        left = self.left_files(life, tmp)
        if left and not life.killed:
            life.fail(f"files stay in TMPDIR after its end: {[os.path.basename(path) for path in left]}")
        end = time.monotonic() + 10
        while strays := self.strays():
            if time.monotonic() > end:
                life.fail(f"processes stay: {strays}")
                break
            time.sleep(0.1)

    def strays(self):
        """Orphans come to us, as we are their subreaper."""
        left = []
        for pid in children_of(os.getpid()):
            if pid == self.disks.process.pid:
                continue
            try:
                if os.waitpid(pid, os.WNOHANG) == (0, 0):
                    left.append(pid)
            except ChildProcessError:
                pass
        return left

    def take(self, life):
        """What it told, into the counts."""
        self.counts.add("lives")
        beats = life.beats.read()
        for key, name in (("managed_gap_ms", "managed_longest"), ("native_gap_ms", "native_longest"), ("excess_ms", "managed_excess")):
            self.worst[key] = max(self.worst[key], beats[name] * 1000)
        life.report = life.report or life.last_report()
        if life.report is None:
            return
        self.counts.add("results the same", life.report["same"])
        self.counts.add("results different", life.report["different"])
        self.counts.add("seconds that were reported on", round(life.report["seconds"]))
        self.counts.add("MB allocated", life.report["allocated_bytes"] // 1_000_000)
        for kind, count in life.report["events"].items():
            self.counts.add(kind, count)

    def check_happened(self):
        """What never happened was not tested."""
        if self.options.seconds < 30 or not self.agents or self.failures:
            return
        numbers = self.counts.numbers
        for kind in ("attach", "detach"):
            if numbers[kind] <= numbers[kind + ", refused"]:
                self.failures.append(f"{kind} never worked")
        for kind in ("results the same", "assemblies unloaded", "children forked", "calls back by constructors", "managed threads",
                     "exceptions thrown", "profiles spooled", "most samples of an agent", "SIGSTOP and SIGCONT", "record --live", "record --only cpu",
                     "recording killed"):
            if not numbers[kind] and not self.options.kind and not self.options.without:
                self.failures.append(f"there was not one of: {kind}")
        for failure in self.failures:
            print(f"FAILED: {self.name}: {failure}", flush=True)


def table(combinations):
    kinds = sorted({kind for c in combinations for kind in c.counts.numbers}, key=lambda kind: (kind.startswith("longest"), kind))
    heads = [f"{c.flavour.replace('chaos', '').lstrip('-') or 'net10'} {'srv' if c.server else 'wks'}" for c in combinations]
    rows = [["", *heads]] + [[kind, *(f"{c.counts.numbers[kind]:,}" for c in combinations)] for kind in kinds]
    for key in ("managed_gap_ms", "native_gap_ms", "excess_ms"):
        rows.append(["longest " + key.replace("_ms", ", ms"), *(f"{c.worst[key]:,.0f}" for c in combinations)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]))


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("clrscope", type=os.path.abspath)
    parser.add_argument("workloads", type=os.path.abspath)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--out")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--sessions", action="store_true")
    options = parser.parse_args()
    options.out = os.path.abspath(options.out or os.path.join(os.path.dirname(options.workloads), "chaos"))
    os.makedirs(options.out, exist_ok=True)
    return options


def main():
    options = parse()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    print(f"chaos: {options.seconds:g} s each, --seed {options.seed}", flush=True)
    done, skipped = [], 0
    with tempfile.TemporaryDirectory(prefix="chaos-disks-") as folder:
        disks = Disks(folder)
        if disks.missing:
            print(f"SKIPPED: no disk that stalls and none that is full ({disks.missing}); the agent spools to one that works", flush=True)
        try:
            for number, (flavour, server) in enumerate((f, s) for f in FLAVOURS for s in (False, True)):
                name = f"{flavour}/{'server' if server else 'workstation'}"
                if options.only and flavour not in options.only and name not in options.only:
                    continue
                if not os.path.isdir(os.path.join(options.workloads, flavour)):
                    print(f"SKIPPED: {name} was not built", flush=True)
                    skipped += 1
                    continue
                combination = Combination(options, flavour, server, number, disks)
                combination.run()
                combination.check_happened()
                done.append(combination)
                print(f"{'FAILED' if combination.failures else 'ok'}: {combination.name}, {combination.counts.numbers['lives']} lives, "
                      f"{len(combination.failures)} failures", flush=True)
        finally:
            disks.close()
    if done:
        table(done)
    failed = sum(bool(c.failures) for c in done)
    print(f"passed={len(done) - failed} failed={failed} skipped={skipped}")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
