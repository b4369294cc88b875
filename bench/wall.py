#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `record --wall` costs a web service while it looks, by windows of time within one load.

usage: bench/wall.py [SECONDS] [--only MEASURES]      SECONDS: of load, 240 by default; MEASURES: of record --only, `wall` by default
The workload `routes` runs under `wrk` (two connections, one route that does next to nothing). clrscope records it, and is stopped (SIGSTOP) and goes on in
turns of 0.2 and 0.6 seconds: a service's speed drifts by more than clrscope costs from one load to the next, and much less from one window to the next.
Requests are counted by the segments that TCP sends (/proc/net/snmp): nothing else may use the network meanwhile. What clrscope leaves undone while it is
stopped it does afterwards: its cost is overestimated by up to a third. What the kernel's samples of CPU time cost is in both kinds of windows: see
bench/requests.py --modes alone,cpu. Medians of the windows' ratios with their 95 % intervals. Needs what bench/requests.py needs."""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

import requests  # noqa: F401 (finds the harness and the workloads)
import harness
import routes
from agent import cpu_seconds

ON_S, OFF_S = 0.6, 0.2


def segments():
    with open("/proc/net/snmp", encoding="ascii") as f:
        names, values = [line.split() for line in f if line.startswith("Tcp:")]
    return int(values[names.index("OutSegs")])


def window(service, recorder, seconds):
    """Segments a second, seconds of the service's CPU for each, and the recorder's share of a CPU."""
    began, sent, spent, own = time.monotonic(), segments(), cpu_seconds(service), cpu_seconds(recorder)
    time.sleep(seconds)
    passed, sent = time.monotonic() - began, segments() - sent
    if sent == 0:
        sys.exit("the service has answered nothing for a window")
    return sent / passed, (cpu_seconds(service) - spent) / sent, (cpu_seconds(recorder) - own) / passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=240)
    parser.add_argument("--only", default="wall")
    options = parser.parse_args()
    pairs = []
    service = routes.Service()
    with tempfile.TemporaryDirectory() as folder:
        recorder = harness.start_recording("-p", service.pid, "--no-progress", "--only", options.only, "-o", os.path.join(folder, "wall.clrscope"))
        load = subprocess.Popen([routes.WRK, "-t1", "-c2", f"-d{int(options.seconds) + 60}s", service.url + "/small"], stdout=subprocess.DEVNULL)
        try:
            time.sleep(5)  # methods are compiled, and what was compiled before is named
            end = time.monotonic() + options.seconds
            while time.monotonic() < end:
                on = window(service.pid, recorder.pid, ON_S)
                recorder.send_signal(signal.SIGSTOP)
                off = window(service.pid, recorder.pid, OFF_S)
                recorder.send_signal(signal.SIGCONT)
                if recorder.poll() is not None or load.poll() is not None:
                    sys.exit("the recorder or wrk ended too soon")
                pairs.append((on, off))
        finally:
            recorder.send_signal(signal.SIGCONT)
            recorder.terminate()
            recorder.wait(60)
            load.kill()
            load.wait()
            service.stop()
    print(f"{len(pairs)} pairs of windows")
    requests.say("requests a second, of those while clrscope is stopped", "", [on[0] / off[0] for on, off in pairs])
    requests.say("CPU of a request, of that while clrscope is stopped", "", [on[1] / off[1] for on, off in pairs])
    requests.say("the recorder's own CPU, of a CPU", "%", [100 * on[2] for on, _ in pairs])


if __name__ == "__main__":
    main()
