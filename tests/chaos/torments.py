# SPDX-License-Identifier: Apache-2.0
"""What comes at random while a program lives: agents come and go, are asked and pestered; the process and its disks stop."""
import json
import os
import random
import signal
import subprocess
import threading
import time

import control

PATIENCE = 90  # s that a clrscope may take
# It did what was asked; there was nothing to do it to, or the runtime, or another agent, was in the way.
EXPECTED = {0, 1, 3, 4, 6, 8}
NOT_ALLOWED = 5  # of CPU time: threads may not be stopped here, or another clrscope stops them at that moment


class Torments:
    def __init__(self, clrscope, life, disks, counts, seed, agents):
        self.clrscope, self.life, self.disks, self.counts = clrscope, life, disks, counts
        self.lock = threading.Lock()
        self.probe = os.path.join(os.path.dirname(clrscope), "agent_probe")
        self.stop_stops = threading.Event()  # no more SIGSTOP
        self.stop_stalls = threading.Event()
        tasks = [self.stop_and_continue]
        if agents:
            tasks += [self.come_and_go, self.ask, self.stall_and_fill]
        if life.kind == "recordings":
            tasks += [self.record if agents else self.session]
        elif agents and os.path.exists(self.probe):
            tasks += [self.own]
        self.threads = [threading.Thread(target=self.repeat, args=(task, random.Random(f"{seed} {task.__name__}")), daemon=True)
                        for task in tasks]

    def start(self):
        for thread in self.threads:
            thread.start()

    def repeat(self, task, dice):
        while not self.life.over.is_set():
            task(dice)

    def pause(self, seconds):
        self.life.over.wait(seconds)

    def run(self, kind, *args, program=None, kill_after=None):
        """A clrscope to its end, or to the one that we make. Its exit code and its words."""
        program = program or self.clrscope
        name = os.path.basename(program)
        begin = time.monotonic()
        process = subprocess.Popen([program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env={**os.environ, "TMPDIR": self.life.tmp})
        try:
            out, err = process.communicate(timeout=PATIENCE if kill_after is None else kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            self.life.clrscope_was_killed = True
            out, err = process.communicate()
            if kill_after is None:
                self.life.fail(f"{name} {' '.join(args)} took longer than {PATIENCE} s")
            self.counts.add(kind)
            return None, out, err
        self.counts.add(kind)
        self.counts.most(f"longest {args[0] if program == self.clrscope else name}, ms", int(1000 * (time.monotonic() - begin)))
        refused = process.returncode == NOT_ALLOWED and "--cpu" in args
        if process.returncode not in EXPECTED and not refused and not self.life.hangs.is_set():
            self.life.fail(f"{name} {' '.join(args)} ended with {process.returncode}: {err.strip()[-500:]}")
        if process.returncode not in (0, 3, 8):
            self.counts.add(kind + ", refused")
            self.note(args, process.returncode, err)
        return process.returncode, out, err

    def note(self, args, code, err):
        with self.lock, open(self.life.path("refusals"), "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%H:%M:%S')} {' '.join(args)}: {code} {err.strip()}\n")

    def attach_to(self, disk, every="1s"):
        pattern = os.path.join(self.disks.at(disk), "%n-%p-%t.pb")
        return self.run(f"attach, spool on the {disk} disk", "attach", "-p", str(self.life.pid), "--every", every, "-o", pattern)

    def come_and_go(self, dice):
        pid = str(self.life.pid)
        what = dice.randrange(10)
        if what < 4:
            self.attach_to(dice.choice(self.disks.names))
        elif what < 5:
            self.run("attach", "attach", "-p", pid)
        elif what < 6:
            self.run("attach", "attach", "-p", pid, "--every", "1s", "--no-live")
        elif what < 7:
            self.run("detach --stay", "detach", "-p", pid, "--stay")
        else:
            self.run("detach", "detach", "-p", pid)
        self.pause(dice.choice([0, 0, 0.2, 1, 2]))

    def record(self, dice):
        capture = self.life.path(f"{dice.randrange(10 ** 9)}.clrscope")
        what = dice.choice([("--live",), ("--live", *self.cpu(dice)), ("--only", "cpu", *self.cpu(dice))])
        args = ("record", "-p", str(self.life.pid), *what, "-o", capture)
        if dice.random() < 0.5:
            self.run("record " + " ".join(what[:2]), *args, "-d", "1s")
        else:
            self.run("recording killed", *args, kill_after=dice.uniform(0.1, 3))
        for name in (capture, capture + "-journal", capture + "-wal"):
            if os.path.exists(name):
                os.remove(name)
        self.pause(dice.choice([0, 0.5, 2]))

    @staticmethod
    def cpu(dice):
        return ("--cpu", "--sampler", dice.choice(["auto", "ptrace", "ptrace"]), "--rate", dice.choice(["99", "1000"]))

    def own(self, dice):
        """An owner of an agent that is no recording: no session from outside comes with it."""
        args = (str(self.life.pid), "1", *dice.choice([(), ("live=1",), ("exceptions=1",), ("allocations=0,waits=1",)]))
        if dice.random() < 0.5:
            self.run("owned agent", *args, program=self.probe)
        else:
            self.run("owner killed", *args, program=self.probe, kill_after=dice.uniform(0.1, 3))
        self.pause(dice.choice([0, 0.5, 2]))

    def session(self, dice):
        """A recording without an agent, as any tool makes it."""
        capture = self.life.path("session.clrscope")
        self.run("record", "record", "-q", "-f", "-p", str(self.life.pid), "-o", capture, "-d", f"{dice.randint(1, 2)}s")
        self.pause(dice.choice([0, 0.5, 2]))

    def ask(self, dice):
        if dice.random() < 0.4:
            code, out, _ = self.run("status", "status", "-p", str(self.life.pid), "--json")
            if code == 0:
                self.counts.most("most samples of an agent", json.loads(out)["samples"])
        else:
            peer = control.connect(self.life.tmp)
            if peer is not None:
                kind = dice.choice(sorted(control.KINDS))
                try:
                    control.KINDS[kind](peer, dice)
                except OSError:
                    pass
                self.counts.add(f"control: {kind}")
                self.pause(dice.choice([0, 0.1, 0.5]))
                peer.close()
        self.pause(dice.choice([0.05, 0.2, 0.5]))

    def stop_and_continue(self, dice):
        self.pause(dice.uniform(0.3, 3))
        if self.stop_stops.is_set() or self.life.over.is_set() or self.life.process.poll() is not None:
            return
        self.life.process.send_signal(signal.SIGSTOP)
        time.sleep(dice.choice([0.01, 0.1, 0.5, 1.5]))
        self.life.process.send_signal(signal.SIGCONT)
        self.counts.add("SIGSTOP and SIGCONT")

    def stall_and_fill(self, dice):
        self.pause(dice.uniform(0.3, 4))
        with self.lock:
            stalled = not self.stop_stalls.is_set() and not self.life.over.is_set() and self.disks.tell("stall")
        if not stalled:
            self.pause(0.5)
            return
        self.stop_stalls.wait(dice.choice([0.2, 1, 2.5, 4]))
        with self.lock:
            if self.stop_stalls.is_set():
                return
            self.disks.tell("go")
        self.counts.add("stalls of the disk")
        if dice.random() < 0.3:
            self.disks.tell("empty")
            self.counts.add("full disk emptied")

    def calm(self):
        """No more stops nor stalls; the rest goes on."""
        self.stop_stops.set()
        with self.lock:
            self.stop_stalls.set()
        self.disks.tell("go")
        time.sleep(0.1)
        self.life.process.send_signal(signal.SIGCONT)

    def end(self):
        self.life.over.set()
        self.stop_stalls.set()
        for thread in self.threads:
            if thread.ident is not None:
                thread.join(PATIENCE + 30)
        if self.life.process.poll() is None:
            self.life.process.send_signal(signal.SIGCONT)
        self.disks.tell("go")
