#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that collect all the time while their objects are followed: each collection sorts the runtime's table of handles.

usage: compacting.py CLRSCOPE WORKLOADS SECONDS
SECONDS in all, in lives of 85 s, two at a time: `awaits`, which compacts its heap every 20 ms, under `record --live`, and `alloc`, which
allocates what it can while a thread of its own collects in every way, under an agent with room for 256 objects. Half of them are profiled
once, the others in one short turn after the other. A program that does not end 30 s after its time stands still."""
import os
import subprocess
import sys
import tempfile
import time

FLAVOURS = ("awaits-net9", "alloc-net8", "awaits", "alloc-net9", "awaits-net8")
LIFE_S, PATIENCE_S = 85, 30
OPTIONS = {"awaits": ["--compact", "20"], "alloc": ["--mode", "mix", "--threads", "2", "--rate", "max", "--collect"]}


class Life:
    def __init__(self, clrscope, workloads, flavour, again):
        self.clrscope, self.flavour, self.again = clrscope, flavour, again
        self.folder = tempfile.TemporaryDirectory(prefix="compacting-")
        self.env = {**os.environ, "TMPDIR": self.folder.name}
        self.kind = flavour.partition("-")[0]
        program = os.path.join(workloads, flavour, self.kind)
        command = [program] if os.path.exists(program) else ["dotnet", program + ".dll"]
        self.process = subprocess.Popen([*command, "--seconds", str(LIFE_S), *OPTIONS[self.kind]], env=self.env, stdout=subprocess.PIPE,
                                        text=True)
        self.process.stdout.readline()
        self.ends = time.monotonic() + LIFE_S + PATIENCE_S
        self.recordings, self.failures, self.recording = 0, [], None

    def step(self):
        """False: it is over."""
        if self.process.poll() is not None:
            if self.process.returncode != 0:
                self.failures.append(f"it ended with {self.process.returncode}")
            self.close()
            return False
        if time.monotonic() > self.ends:
            self.failures.append("it stands still")
            self.close()
            return False
        if self.recording is None or (self.again and self.recording.poll() is not None):
            self.recordings += 1
            self.recording = subprocess.Popen(self.profiler(), env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return True

    def profiler(self):
        pid = str(self.process.pid)
        if self.kind == "alloc":
            return [os.path.join(os.path.dirname(self.clrscope), "agent_probe"), pid, "1" if self.again else "600", "cap=256"]
        return [self.clrscope, "record", "-q", "-f", "-p", pid, "--live", "-o", os.path.join(self.folder.name, "x.clrscope"),
                *(["-d", "1s"] if self.again else [])]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        try:
            self.recording.wait(30)
        except subprocess.TimeoutExpired:
            self.failures.append("its recording does not end")
            self.recording.kill()
            self.recording.wait()
        self.folder.cleanup()
        words = "; ".join(self.failures) or "ok"
        print(f"{self.flavour}, {self.recordings} recordings: {words}", flush=True)


def main():
    clrscope, workloads, seconds = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), float(sys.argv[3])
    count = max(2, round(seconds / LIFE_S) * 2)
    waiting = [(FLAVOURS[i // 2 % len(FLAVOURS)], i % 2 == 1) for i in range(count)]
    running, failed = [], 0
    while waiting or running:
        while waiting and len(running) < 2:
            running.append(Life(clrscope, workloads, *waiting.pop(0)))
        for life in list(running):
            if not life.step():
                running.remove(life)
                failed += bool(life.failures)
        time.sleep(0.2)
    print(f"passed={count - failed} failed={failed}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
