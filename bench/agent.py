#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the agent costs a .NET 10 program that allocates 1 to 2 GB/s.

usage: bench/agent.py [PAIRS] [--only cpu,memory,total,exact]      PAIRS: rounds of every configuration, 40 by default
  cpu     the same work without a profiler, with the runtime's own event read and dropped by an EventPipe session, with the agent,
          and with the agent that follows live objects: in turn, in an order that changes with each round. CPU time of the whole
          process while it works; the median of the ratios of each round, with the 95 % interval of a median (order statistics).
          Also nanoseconds per sample, walk and fold, as the agent metered them.
  memory  resident memory and GC pauses of a program that keeps 1.95 GB, some 19,000 sampled objects, without and with the agent.
  total   27 GB by 4 threads: the profile's total against the program's own count.
  exact   CPU time while every object is counted, and after that was stopped, which leaves the runtime's slow allocation helpers.
Needs build/release and build/workloads (tools/build_workloads alloc leaks)."""
import json
import os
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLRSCOPE = os.environ.get("CLRSCOPE", os.path.join(ROOT, "build/release/bin/clrscope"))
LIBRARY = os.path.join(ROOT, "build/release/lib/libclrscope-agent.so")
CLSID = "{C15C0BE5-9A61-4B7E-8E5D-2F1F0A0C1A57}"
WORK = ["--mode", "mix", "--threads", "2", "--rate", "max", "--bytes", "2e9", "--seconds", "60"]


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)  # the process's CPU clock, as clock_getcpuclockid() makes it


class Program:
    """A workload that waits for a line before it begins, and another before it exits."""

    def __init__(self, workload, args, folder, options=None, library=LIBRARY):
        self.env = {**os.environ, "TMPDIR": folder}
        if options is not None:
            self.env |= {"CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": CLSID, "CORECLR_PROFILER_PATH": library,
                         "CLRSCOPE_OPTS": options}
        dll = os.path.join(ROOT, "build/workloads", workload, workload + ".dll")
        self.process = subprocess.Popen(["dotnet", dll, *args, "--start-on-stdin"], env=self.env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.read()["ready"]

    def read(self):
        return json.loads(self.process.stdout.readline())

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def cpu_seconds(self):
        return cpu_seconds(self.pid)

    def rss_mb(self):
        with open(f"/proc/{self.pid}/smaps_rollup", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Rss:")) / 1024

    def status(self, clrscope=CLRSCOPE):
        out = subprocess.run([clrscope, "status", "-p", str(self.pid), "--json"], env=self.env, capture_output=True, text=True)
        return json.loads(out.stdout) if out.returncode == 0 else None

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class EventSession:
    """Asks the runtime for AllocationSampled, reads what comes and drops it."""

    def __init__(self, pid, folder):
        path = next(os.path.join(folder, f) for f in os.listdir(folder) if f.startswith(f"dotnet-diagnostic-{pid}-"))
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        name = "Microsoft-Windows-DotNETRuntime\0"
        provider = struct.pack("<QII", 0x80000000000, 4, len(name)) + name.encode("utf-16-le") + struct.pack("<I", 0)
        payload = struct.pack("<IIBI", 64, 1, 0, 1) + provider
        self.socket.sendall(b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 20 + len(payload), 2, 3, 0) + payload)
        head = self.socket.recv(28, socket.MSG_WAITALL)
        if head[16:18] != b"\xff\x00":
            raise RuntimeError("the runtime refused the session")
        self.bytes = 0
        self.thread = threading.Thread(target=self.drain, daemon=True)
        self.thread.start()

    def drain(self):
        buffer = bytearray(1 << 20)
        try:
            while (n := self.socket.recv_into(buffer)) > 0:
                self.bytes += n
        except OSError:
            pass


def work_once(configuration, folder):
    options = {"agent": f"every=1s,live=0,output={folder}/%p-%t.pb", "live": f"every=1s,output={folder}/%p-%t.pb"}.get(configuration)
    program = Program("alloc", [*WORK, "--hold-on-stdin"], folder, options)
    session = EventSession(program.pid, folder) if configuration == "event" else None
    time.sleep(0.2)
    before, start = program.cpu_seconds(), time.monotonic()
    program.go()
    truth = program.read()
    cpu, wall = program.cpu_seconds() - before, time.monotonic() - start
    status = program.status() if options else None
    program.end()
    if session is not None:
        session.thread.join(10)
        if session.bytes < 100_000:
            raise RuntimeError(f"the session brought {session.bytes} bytes: no events")
    for name in os.listdir(folder):
        if name.endswith(".pb"):
            os.unlink(os.path.join(folder, name))
    return cpu, truth["total_allocated_bytes"] / wall / 1e9, status


def median_interval(values):
    """Median and the order statistics that hold it with 95 %."""
    values = sorted(values)
    n = len(values)
    low, chance = 0, 0.5 ** n
    below = chance
    while below + chance * (n - low) / (low + 1) <= 0.025:
        chance *= (n - low) / (low + 1)
        below += chance
        low += 1
    low = low if below <= 0.025 else 0
    return statistics.median(values), values[low], values[n - 1 - low]


def measure_cpu(pairs, folder):
    names = ["none", "event", "agent", "live"]
    cpu, status = {n: [] for n in names}, {n: [] for n in names}
    speed = []
    order = random.Random(1)
    for name in names:
        work_once(name, folder)  # caches
    for i in range(pairs):
        for name in order.sample(names, len(names)):
            taken, rate, said = work_once(name, folder)
            cpu[name].append(taken)
            status[name].append(said)
            if name == "none":
                speed.append(rate)
        print(f"  round {i + 1}: " + ", ".join(f"{n} {cpu[n][-1]:.3f} s" for n in names), file=sys.stderr)
    print(f"{pairs} rounds, {statistics.median(speed):.2f} GB/s, {statistics.median(cpu['none']):.2f} s of CPU without a profiler")

    def ratio(a, b):
        return "{:.3f} [{:.3f}, {:.3f}]".format(*median_interval([x / y for x, y in zip(cpu[a], cpu[b])]))

    for a, b in (("event", "none"), ("agent", "none"), ("live", "none"), ("agent", "event"), ("live", "event")):
        print(f"CPU, {a} / {b}: {ratio(a, b)}")
    for name in ("agent", "live"):
        means = [s["sample_ns"] / s["samples"] for s in status[name]]
        print(f"walk and fold, {name}: median of means {statistics.median(means):.0f} ns a sample, worst {max(means):.0f}; "
              f"{status[name][-1]['samples']} samples a run, {status[name][-1]['walk_fallbacks']} walked by the runtime")


def hoard_once(folder, options):
    program = Program("leaks", ["--hoard", "1.95e9", "--pauses", "300"], folder, options)
    program.go()
    program.read()
    time.sleep(1.5)  # an interval
    status, rss = (program.status() if options else None), program.rss_mb()
    program.go()
    pause = program.read()
    program.end()
    return rss, pause["pause_us_p25"], pause["pause_us_p50"], status


def measure_memory(rounds, folder):
    none, agent = [], []
    for _ in range(rounds):
        none.append(hoard_once(folder, None))
        agent.append(hoard_once(folder, f"every=1s,output={folder}/%p-%t.pb"))
    handles = agent[-1][3]["handles"]

    def difference(i):
        return statistics.median(a[i] - n[i] for a, n in zip(agent, none))

    print(f"{rounds} pairs at {handles} handles: memory {difference(0):+.1f} MB (median; "
          f"{statistics.median(n[0] for n in none):.0f} MB without); pause of a GC of generation 0: p25 {difference(1):+.1f} us, "
          f"median {difference(2):+.1f} us (of {statistics.median(n[2] for n in none):.0f})")


def exact_once(configuration, folder):
    program = Program("alloc", [*WORK, "--hold-on-stdin"], folder, None if configuration == "none" else "every=1s,exact=1")
    if configuration == "stopped":
        subprocess.run([CLRSCOPE, "detach", "-p", str(program.pid)], env=program.env, capture_output=True, check=False)
        while not program.status()["stopped"]:
            time.sleep(0.02)
    before = program.cpu_seconds()
    program.go()
    program.read()
    cpu = program.cpu_seconds() - before
    program.end()
    return cpu


def measure_exact(rounds, folder):
    names = ["none", "counting", "stopped"]
    cpu = {name: [] for name in names}
    order = random.Random(1)
    for _ in range(rounds):
        for name in order.sample(names, len(names)):
            cpu[name].append(exact_once(name, folder))
    for name in names[1:]:
        ratio = "{:.3f} [{:.3f}, {:.3f}]".format(*median_interval([a / b for a, b in zip(cpu[name], cpu["none"])]))
        print(f"CPU, exact, {name} / none: {ratio} ({rounds} rounds)")


def measure_total(folder):
    args = ["--mode", "mix", "--threads", "4", "--rate", "max", "--bytes", "27e9", "--seconds", "120", "--hold-on-stdin"]
    program = Program("alloc", args, folder)
    path = os.path.join(folder, "total.clrscope")
    recorder = subprocess.Popen([CLRSCOPE, "record", "-p", str(program.pid), "--live", "-f", "-o", path], env=program.env,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while program.status() is None:
        if recorder.poll() is not None:
            raise RuntimeError("clrscope record did not get to the program: is the machine quiet?")
        time.sleep(0.05)
    start = time.monotonic()
    program.go()
    truth = program.read()
    wall = time.monotonic() - start
    time.sleep(0.5)
    recorder.send_signal(signal.SIGINT)
    recorder.wait(60)
    program.end()
    report = subprocess.run([CLRSCOPE, "report", path, "--json"], capture_output=True, text=True)
    total, real = json.loads(report.stdout)["totals"], truth["total_allocated_bytes"]
    print(f"{real / 1e9:.2f} GB by 4 threads in {wall:.1f} s: told {total['bytes'] / 1e9:.2f} GB, "
          f"{100 * (total['bytes'] / real - 1):+.2f} % (interval {100 * (total['bytes_low'] / real - 1):+.2f} to "
          f"{100 * (total['bytes_high'] / real - 1):+.2f} %)")


def main():
    args = sys.argv[1:]
    only = ["cpu", "memory", "total", "exact"]
    if "--only" in args:
        at = args.index("--only")
        only = args[at + 1].split(",")
        del args[at:at + 2]
    pairs = int(args[0]) if args else 40
    with tempfile.TemporaryDirectory(prefix="clrscope-bench-") as folder:
        if "cpu" in only:
            measure_cpu(pairs, folder)
        if "memory" in only:
            measure_memory(max(1, min(5, pairs // 8)), folder)
        if "total" in only:
            measure_total(folder)
        if "exact" in only:
            measure_exact(pairs, folder)


if __name__ == "__main__":
    main()
