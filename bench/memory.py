#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clrscope's memory beside TraceLog's, on the same processes at the same time.

usage: bench/memory.py [PROCESSES] [SECONDS]
Starts PROCESSES (20) allocating programs, records them for SECONDS (60) with `record --all` and, beside it, with a program that opens
a real-time TraceLog session for each (bench/live_tracelog), and prints the peak memory of both. Both see the same
AllocationSampled events; what each counted is printed too."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CLRSCOPE = os.path.join(ROOT, "build/release/bin/clrscope")
ALLOC = os.path.join(ROOT, "build/workloads/alloc/alloc.dll")
TRACELOG = os.path.join(ROOT, "build/live_tracelog/live_tracelog.dll")
MODES = ("mix", "deep", "generic", "async", "lohpoh")


def build():
    if os.path.exists(TRACELOG):
        return
    subprocess.run(["dotnet", "publish", os.path.join(HERE, "live_tracelog"), "-c", "Release", "-o", os.path.dirname(TRACELOG),
                    "-v", "quiet", "-nodeReuse:false", "-p:UseSharedCompilation=false",
                    f"-p:ArtifactsPath={os.path.join(ROOT, 'build/.live_tracelog')}"], check=True)


def memory_mb(pid):
    with open(f"/proc/{pid}/status") as f:
        status = dict(line.split(":", 1) for line in f)
    return int(status["VmHWM"].split()[0]) / 1024


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    build()
    alive = [subprocess.Popen(["dotnet", ALLOC, "--mode", MODES[i % len(MODES)], "--rate", os.environ.get("RATE", "10000000"), "--seed", str(i),
                               "--seconds", str(seconds + 60)], stdout=subprocess.PIPE, text=True) for i in range(count)]
    try:
        pids = [str(json.loads(p.stdout.readline())["ready"]) for p in alive]
        with tempfile.TemporaryDirectory(prefix="clrscope-bench-") as folder:
            capture = os.path.join(folder, "all.clrscope")
            names = [word for pid in pids for word in ("-p", pid)]
            tracelog = subprocess.Popen(["dotnet", TRACELOG, *pids], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            tracelog.stdout.readline()
            clrscope = subprocess.Popen([CLRSCOPE, "record", *names, "-q", "-o", capture])
            time.sleep(seconds)
            ours, theirs = memory_mb(clrscope.pid), memory_mb(tracelog.pid)
            clrscope.send_signal(signal.SIGINT)
            clrscope.wait()
            tracelog.stdin.close()
            counted = json.loads(tracelog.stdout.readline())
            tracelog.wait()
            report = json.loads(subprocess.run([CLRSCOPE, "report", capture, "--json"], capture_output=True, text=True).stdout)
    finally:
        for p in alive:
            p.kill()
            p.communicate()
    print(f"{count} processes, {seconds:.0f} s")
    print(f"clrscope   {ours:7.1f} MB peak, {report['totals']['samples']} samples")
    print(f"TraceLog   {theirs:7.1f} MB peak, {counted['samples']} samples, {counted['named'] / max(1, counted['frames']):.1%} of frames named")
    print(f"ratio      {ours / theirs:7.3f}")


if __name__ == "__main__":
    main()
