#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clrscope's memory beside TraceLog's, on the same processes at the same time.

usage: bench/memory.py [PROCESSES] [SECONDS]
Starts PROCESSES (20) programs, every other one a web service under load, records them for SECONDS (60) with one `record` and, beside
it, with a program that opens a real-time TraceLog session for each (bench/live_tracelog), and prints the peak memory of both:
resident, and private (without the pages of files). Then TraceLog converts each process's stream from a file, one at a time. Both see the same AllocationSampled events; what each counted is printed too."""
import glob
import http.client
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import parse

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CLRSCOPE = os.path.join(ROOT, "build/release/bin/clrscope")
WEB = os.path.join(ROOT, "build/workloads/web/web.dll")
ALLOC = os.path.join(ROOT, "build/workloads/alloc/alloc.dll")
TRACELOG = os.path.join(ROOT, "build/live_tracelog/live_tracelog.dll")
MODES = ("mix", "deep", "generic", "async", "lohpoh")


def build():
    parse.build_oracle()
    if os.path.exists(TRACELOG):
        return
    subprocess.run(["dotnet", "publish", os.path.join(HERE, "live_tracelog"), "-c", "Release", "-o", os.path.dirname(TRACELOG),
                    "-v", "quiet", "-nodeReuse:false", "-p:UseSharedCompilation=false",
                    f"-p:ArtifactsPath={os.path.join(ROOT, 'build/.live_tracelog')}"], check=True)


def memory_mb(pid):
    """Peak resident memory, and what of it is private now."""
    with open(f"/proc/{pid}/status") as f:
        status = dict(line.split(":", 1) for line in f)
    return int(status["VmHWM"].split()[0]) / 1024, int(status["RssAnon"].split()[0]) / 1024


def start(number, seconds):
    if number % 2 == 0:
        rate = os.environ.get("RATE", "10000000")
        return subprocess.Popen(["dotnet", ALLOC, "--mode", MODES[number // 2 % len(MODES)], "--rate", rate, "--seed", str(number),
                                 "--seconds", str(seconds + 60)], stdout=subprocess.PIPE, text=True)
    return subprocess.Popen(["dotnet", WEB, "--urls", f"http://127.0.0.1:{5100 + number}"], stdout=subprocess.PIPE, text=True)


def load(ports, over):
    """Requests of every kind to each service in turn."""
    paths = itertools.cycle(("/orders/50", "/text/2000", "/buffer/100000", "/stats", "/orders/5"))
    connections = {port: http.client.HTTPConnection("127.0.0.1", port) for port in ports}
    while not over.is_set():
        for connection in connections.values():
            try:
                connection.request("GET", next(paths))
                connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                connection.close()
        time.sleep(0.01)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    build()
    alive = [start(i, seconds) for i in range(count)]
    over = threading.Event()
    requests = threading.Thread(target=load, args=([5100 + i for i in range(1, count, 2)], over))
    try:
        pids = [str(json.loads(p.stdout.readline())["ready"]) for p in alive]
        requests.start()
        with tempfile.TemporaryDirectory(prefix="clrscope-bench-") as folder:
            capture = os.path.join(folder, "all.clrscope")
            tracelog = subprocess.Popen(["dotnet", TRACELOG, *pids], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            tracelog.stdout.readline()
            clrscope = subprocess.Popen([CLRSCOPE, "record", *(word for pid in pids for word in ("-p", pid)), "-q", "--keep-nettrace",
                                         "-o", capture])
            time.sleep(seconds)
            ours, theirs = memory_mb(clrscope.pid), memory_mb(tracelog.pid)
            clrscope.send_signal(signal.SIGINT)
            clrscope.wait()
            tracelog.stdin.close()
            counted = json.loads(tracelog.stdout.readline())
            tracelog.wait()
            report = json.loads(subprocess.run([CLRSCOPE, "report", capture, "--json"], capture_output=True, text=True).stdout)
            converted = max(parse.run([shutil.which("dotnet"), parse.ORACLE, stream, "--tolog", os.path.join(folder, "out.etlx")])[1]
                            for stream in glob.glob(os.path.join(folder, "*.nettrace"))
                            if ".rundown." not in stream and ".entry-points." not in stream)
    finally:
        over.set()
        requests.join()
        for p in alive:
            p.kill()
            p.communicate()
    print(f"{count} processes, {seconds:.0f} s")
    print(f"clrscope   {ours[0]:7.1f} MB peak, {ours[1]:6.1f} MB private, {report['totals']['samples']} samples")
    print(f"TraceLog   {theirs[0]:7.1f} MB peak, {theirs[1]:6.1f} MB private, {counted['samples']} samples, "
          f"{counted['named'] / max(1, counted['frames']):.1%} of frames named")
    print(f"TraceLog   {converted:7.1f} MB peak of the largest, converting each process's stream from a file: ratio {ours[0] / converted:.3f}")
    print(f"ratio      {ours[0] / theirs[0]:7.3f}         {ours[1] / theirs[1]:6.3f}")


if __name__ == "__main__":
    main()
