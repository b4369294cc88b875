# SPDX-License-Identifier: Apache-2.0
"""Every .NET process of the machine at once: `record --all` while processes start and end at random.

  every_process.py --clrscope FILE --workloads FOLDER [--processes 50] [--seconds 600] [--seed 1]

runs the long form and prints its figures; `tests/e2e/run` runs a short one.
"""
import glob
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from clock import clock
import harness
from harness import Case, Workload, clrscope, loss, open_sessions, report, start_recording, wait_until

# A process that is there for so long after its socket appeared has to be in the capture.
LIVES_S = 2.0
# An estimate may be this many standard errors off: by chance once in 30 million, and a soak looks at thousands.
SIGMAS = 5.5


class Life:
    """One process: begins, allocates from the moment it is told to, ends by itself or is killed."""

    def __init__(self, number, rng, longest_s):
        self.number = number
        self.counts = rng.random() < 0.6  # waits until it is recorded, counts, and ends by itself
        self.killed = not self.counts and rng.random() < 0.5
        self.lives = rng.uniform(0.1, 3.0) if rng.random() < 0.3 else rng.uniform(3.0, longest_s)
        self.rate = 10 ** rng.uniform(5.5, 7.5)
        self.pid = None
        self.seen_s = 0.0  # how long it was there after its socket appeared
        self.truth = None

    @property
    def key(self):
        return self.pid, str(self.number)

    def arguments(self):
        args = ["--seed", str(self.number), "--rate", f"{self.rate:.0f}", "--seconds", f"{self.lives:.2f}"]
        return args + (["--start-on-stdin", "--hold-on-stdin"] if self.counts else [])

    def run(self):
        dll = os.path.join(harness.WORKLOADS, "alloc", "alloc.dll")
        process = subprocess.Popen(["dotnet", dll, *self.arguments()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = process.pid
        try:
            while not glob.glob(f"{tempfile.gettempdir()}/dotnet-diagnostic-{process.pid}-*-socket") and process.poll() is None:
                time.sleep(0.02)
            appeared = time.monotonic()
            process.stdout.readline()  # ready
            if self.counts:
                time.sleep(max(0.0, LIVES_S - (time.monotonic() - appeared)))
                process.stdin.write("go\n")
                process.stdin.flush()
                line = process.stdout.readline()
                self.truth = json.loads(line) if line else None
                time.sleep(0.5)  # its events are sent ten times a second
            elif self.killed:
                time.sleep(self.lives)
                process.kill()
            else:
                process.stdout.readline()
            self.seen_s = time.monotonic() - appeared
        finally:
            process.stdin.close()
            process.stdout.read()
            process.wait()
            process.stdout.close()


class Machine:
    """Keeps `processes` alive until the time is over."""

    def __init__(self, processes, seed, longest_s):
        self.rng, self.longest_s = random.Random(seed), longest_s
        self.lives = []
        self.running = set()
        self.processes = processes

    def run_for(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.running = {t for t in self.running if t.is_alive()}
            while len(self.running) < self.processes:
                life = Life(len(self.lives) + 1, self.rng, self.longest_s)
                self.lives.append(life)
                thread = threading.Thread(target=life.run)
                thread.start()
                self.running.add(thread)
                time.sleep(self.rng.uniform(0, 0.1))
            time.sleep(0.02)

    def end(self):
        for t in self.running:
            t.join()


def status_kb(pid, key):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(key))


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def soak(test, path, processes, seconds, seed, longest_s=20.0):
    """Runs and checks; returns figures. `longest_s`: the longest life of a process."""
    recording = start_recording("--all", "-n", "alloc", "-o", path, "--no-progress")
    machine = Machine(processes, seed, longest_s)
    try:
        machine.run_for(seconds)
        machine.end()
    finally:
        time.sleep(1.0)
        cpu, peak_mb = cpu_s(recording.pid), status_kb(recording.pid, "VmHWM") / 1024
        recording.send_signal(signal.SIGINT)
        _, words = recording.communicate(timeout=60)
    test.assertEqual(recording.returncode, 0, words)
    heading = report(path, "--by", "process", "-n", "0")
    # A pid may come again within minutes: the program's own number tells who is who.
    who = [(p["pid"], ((p["command_line"] or "") + " ").partition("--seed ")[2].partition(" ")[0]) for p in heading["processes"]]
    recorded = dict(zip(who, heading["processes"]))
    rows = {who[r["process_index"]]: r for r in heading["rows"]}
    due = [life for life in machine.lives if life.seen_s >= LIVES_S]
    missing = [life.pid for life in due if life.key not in recorded]
    test.assertEqual(missing, [], f"of {len(due)} processes")
    for life in due:
        test.assertEqual(recorded[life.key]["name"], "alloc")
    # What the runtime dropped shows as dropped events; nothing was discarded by us, and no session was cut but those
    # of processes that were killed, or on their way out when they were joined.
    test.assertEqual(loss(heading, "blocks_discarded"), 0)
    dropped = loss(heading, "events_dropped")
    cut = [life.arguments() for life in due if not life.killed and not recorded[life.key]["complete"]]
    test.assertEqual(cut, [])
    counted = [life for life in due if life.truth]
    for life in counted if dropped == 0 else []:
        row, truth = rows[life.key], life.truth["total_allocated_bytes"]
        sigma = (row["bytes_high"] - row["bytes_low"]) / (2 * 1.96)
        test.assertLess(abs(row["bytes"] - truth), SIGMAS * sigma + 3e6, f"process {life.pid}")
    return {"processes": len(machine.lives), "recorded": len(recorded), "due": len(due), "counted": len(counted),
            "samples": heading["totals"]["samples"], "events_dropped": dropped, "cpu_s": round(cpu, 2),
            "wall_s": round(heading["duration_s"], 1), "peak_mb": round(peak_mb, 1),
            "capture_mb": round(os.path.getsize(path) / 2**20, 2)}


class EveryProcess(Case):
    @clock
    def test_ten_processes_that_come_and_go_are_all_recorded(self):
        figures = soak(self, self.path(), 10, 12, seed=1, longest_s=8.0)
        print(figures, file=sys.stderr)
        self.assertGreater(figures["due"], 10)
        self.assertLess(figures["peak_mb"], 200)

    def test_a_process_in_a_folder_of_its_own_is_found(self):
        tmp = os.path.join(self.dir, "tmp")
        os.mkdir(tmp)
        recording = start_recording("--all", "-n", "alloc", "-o", self.path())
        with Workload("--seconds", "30", "--rate", "50000000", env={"TMPDIR": tmp}) as w:
            wait_until(lambda: open_sessions(w.pid), 60, "it is recorded")
            time.sleep(1.0)
            recording.send_signal(signal.SIGINT)
            _, words = recording.communicate(timeout=60)
            self.assertEqual(recording.returncode, 0, words)
            self.assertIn(w.pid, [p["pid"] for p in report(self.path())["processes"]])

    def test_a_process_in_a_container_is_found_when_it_starts(self):
        # Its own pid and mount namespaces, and a /tmp that nobody else sees.
        shell = (f"unset TMPDIR; mount --bind {harness.WORKLOADS} /mnt && mount -t tmpfs tmpfs /tmp && cd / && sleep 1 && "
                 "exec dotnet /mnt/alloc/alloc.dll --seconds 31")
        unshare = ["unshare", "--fork", "--pid", "--mount", "--mount-proc", "--kill-child"]
        if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
            self.skipTest("making namespaces is not permitted here")
        recording = start_recording("--all", "-n", "alloc", "-o", self.path())
        container = subprocess.Popen([*unshare, "sh", "-c", shell], stdout=subprocess.PIPE, text=True)
        try:
            self.assertIn("ready", container.stdout.readline())
            wait_until(lambda: self.written("samples") > 20, 60, "samples are in the file")
            recording.send_signal(signal.SIGINT)
            _, words = recording.communicate(timeout=60)
            self.assertEqual(recording.returncode, 0, words)
            p = report(self.path())
            self.assertGreater(p["totals"]["samples"], 20)
        finally:
            container.kill()
            container.communicate()

    @clock
    def test_one_that_floods_is_drained_and_the_others_do_not_feel_it(self):
        recording = start_recording("--all", "-n", "alloc", "-o", self.path())
        with Workload("--rate", "max", "--threads", "2", "--mode", "deep", "--seconds", "6"):
            with Workload("--bytes", "50000000", "--start-on-stdin", "--hold-on-stdin") as quiet:
                wait_until(lambda: open_sessions(quiet.pid), 60, "the quiet one is recorded")
                quiet.go()
                truth = quiet.truth()["total_allocated_bytes"]
                time.sleep(0.5)
                recording.send_signal(signal.SIGINT)
                _, words = recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 0, words)
        row = next(r for r in report(self.path(), "--by", "process")["rows"] if r["pid"] == quiet.pid)
        sigma = (row["bytes_high"] - row["bytes_low"]) / (2 * 1.96)
        self.assertLess(abs(row["bytes"] - truth), SIGMAS * sigma + 3e6)

    def test_nobody_to_record_is_said(self):
        r = clrscope("record", "--all", "-n", "no-such-program", "-d", "1s", "-o", self.path())
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn("no .NET process", r.stderr)

    def test_one_that_is_stopped_is_told_and_joined_when_it_goes_on(self):
        with Workload("--seconds", "60", "--rate", "50000000") as w:
            harness.stop_process(w.pid)
            recording = start_recording("--all", "-n", "alloc", "-o", self.path())
            time.sleep(2.0)
            os.kill(w.pid, signal.SIGCONT)
            wait_until(lambda: open_sessions(w.pid), 60, "it is recorded")
            time.sleep(3.0)
            recording.send_signal(signal.SIGINT)
            _, words = recording.communicate(timeout=60)
            self.assertIn("stopped", words)
            self.assertGreater(report(self.path())["totals"]["samples"], 100)

    def test_another_users_process_is_told_once_and_left_alone(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become somebody else")
        with Workload("--seconds", "60", "--rate", "50000000") as w:
            out = os.path.join(tempfile.gettempdir(), "clrscope-nobody-all.clrscope")
            self.addCleanup(lambda: os.path.exists(out) and os.remove(out))
            r = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", harness.CLRSCOPE, "record",
                                "--all", "-d", "3s", "-f", "-o", out], capture_output=True, text=True)
            if "Permission denied" in r.stderr and r.returncode == 126:
                self.skipTest("the binary lies where nobody may not go")
            self.assertEqual(r.returncode, 3, r.stderr)
            # The first five of a user are named, others of the machine's among them.
            told = [line for line in r.stderr.splitlines() if str(w.pid) in line or " more: " in line]
            self.assertEqual(len(told), 1, r.stderr)
            self.assertIn("user", told[0])


def main():
    import argparse
    import unittest
    a = argparse.ArgumentParser()
    a.add_argument("--clrscope", required=True)
    a.add_argument("--workloads", required=True)
    a.add_argument("--processes", type=int, default=50)
    a.add_argument("--seconds", type=float, default=600)
    a.add_argument("--seed", type=int, default=1)
    args = a.parse_args()
    harness.CLRSCOPE, harness.WORKLOADS = os.path.abspath(args.clrscope), os.path.abspath(args.workloads)
    with tempfile.TemporaryDirectory(prefix="clrscope-soak-") as folder:
        figures = soak(unittest.TestCase(), os.path.join(folder, "all.clrscope"), args.processes, args.seconds, args.seed)
    print(json.dumps(figures))
    if figures["peak_mb"] >= 200:
        sys.exit("more than 200 MB")


if __name__ == "__main__":
    main()
