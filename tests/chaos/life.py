# SPDX-License-Identifier: Apache-2.0
"""One run of workloads/chaos: started, watched for hangs, ended in one of several ways, and looked at afterwards."""
import glob
import json
import os
import queue
import resource
import shutil
import signal
import struct
import subprocess
import threading
import time

import autopsy

EXCESS = 2.0  # s that the managed heartbeat may stand still longer than the native one
TERM_PATIENCE = 5.0  # s that SIGTERM may take, beside what the native heartbeat stands still
GIVE_UP = 20.0  # s of hanging after which nothing more is waited for
EXIT_CODES = {"runtime": {8: 143, 9: 143, 10: -signal.SIGTERM}, "system": {8: -15, 9: -15, 10: -15}, "report": {8: 0, 9: 0, 10: 0}}


# What a life leaves out, as the runtime cannot stand it, whoever asks for its events:
# - With constructors of libraries that call managed code, it hangs where threads are made while there is any session, and a session from
#   outside makes one on .NET 9 (workloads/chaos/Holder.cs).
# - The end of a session from outside, which tells all methods, crashes it while collectible assemblies come and go.
KINDS = {"constructors": ["Threads"], "recordings": ["Assemblies"], "assemblies": []}


def major_of(flavour):
    return int(flavour.partition("-net")[2] or 10)


def threads_of(pid):
    """{thread: (name, state)}"""
    found = {}
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:]
        found[int(path.split("/")[4])] = (name, rest[0])
    return found


def descriptors_of(pid):
    """{kind: count}; the files of assemblies, which are opened when they are first used, are left out."""
    kinds = {}
    for path in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            kind = os.readlink(path).split(":[")[0]
        except OSError:
            continue
        if kind.endswith((".dll", ".pdb", ".so")) and "clrscope" not in os.path.basename(kind):
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


def children_of(pid):
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        if int(text[text.rindex(")") + 2:].split()[1]) == pid:
            found.append(int(path.split("/")[2]))
    return found


class Beats:
    """The page of native/chaos/beat.c, in seconds."""
    NAMES = ("native_last", "native_lost", "native_longest", "native_beats", "managed_last", "managed_longest", "managed_excess",
             "managed_beats")

    def __init__(self, path):
        self.path = path

    def read(self):
        try:
            with open(self.path, "rb") as file:
                numbers = struct.unpack("8q", file.read(64))
        except (OSError, struct.error):
            return None
        return {name: n if name.endswith("beats") else n / 1e9 for name, n in zip(self.NAMES, numbers)}


class Life:
    """`failures` are sentences; `folder` keeps what is known of them."""

    def __init__(self, workloads, without, flavour, server_gc, term, kind, seed, tmp, folder, library):
        self.flavour, self.term, self.kind, self.tmp, self.folder, self.library = flavour, term, kind, tmp, folder, library
        self.failures, self.report, self.base = [], None, None
        self.hung = False  # and that is told
        self.killed = False  # by us
        self.over = threading.Event()  # no more torments
        self.hangs = threading.Event()  # … since it will not wake up again
        os.makedirs(folder, exist_ok=True)
        program, _, runtime = flavour.partition("-")
        binary = os.path.join(workloads, flavour, program)
        self.executable = binary if runtime else shutil.which("dotnet")
        command = ([binary] if runtime else ["dotnet", binary + ".dll"]) + \
            ["--folder", folder, "--seed", str(seed), "--seconds", "7200", "--term", term]
        command += ["--without", ",".join([*without, *KINDS[kind], "Fibers"])]  # which the runtime cannot stand
        if kind != "constructors":
            command.append("--closed-door")
        self.stderr = open(os.path.join(folder, "stderr"), "w", encoding="utf-8")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, text=True, cwd=folder,
            env={**os.environ, "TMPDIR": tmp, "DOTNET_gcServer": "1" if server_gc else "0", **(self.open_door() if kind == "constructors" else {})},
            preexec_fn=self.prepare)
        self.pid = self.process.pid
        self.beats = Beats(os.path.join(folder, "beats"))
        self.clrscope_was_killed = False
        self.ended_after = 0.0  # s after SIGTERM
        self.lines = queue.Queue()
        threading.Thread(target=self.read_lines, daemon=True).start()
        line = self.next_line(120)
        if line is None or "ready" not in line:
            self.process.kill()
            raise RuntimeError(f"{flavour} did not start: {line}")
        self.descriptors = descriptors_of(self.pid)
        self.ended_watching = threading.Event()
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.watcher.start()

    def open_door(self):
        """With constructors that call managed code, the runtime itself hangs with any session that is begun, unless each thread has
        had an event before, and hangs when it makes the thread of a background GC (Libraries.cs, Holder.cs). So a session is there from
        the start on, whose first events come before any library; each of the GC's threads works from the first GC on. The thread that
        compiles better code comes and goes, so it is not there."""
        return {"DOTNET_gcConcurrent": "0", "DOTNET_TieredCompilation": "0", "DOTNET_GCDynamicAdaptationMode": "0",
                "DOTNET_EnableEventPipe": "1", "DOTNET_EventPipeOutputStreaming": "1",
                "DOTNET_EventPipeRundown": "0", "DOTNET_EventPipeOutputPath": self.path("own.nettrace"),
                "DOTNET_EventPipeConfig": "Clrscope-Chaos:FFFFFFFFFFFFFFFF:5,Microsoft-Windows-DotNETRuntime:1:4"}

    @staticmethod
    def prepare():
        """Cores are kept. The program counts on the SIGHUP that it sends itself, which is ignored below nohup."""
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def read_lines(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def next_line(self, seconds):
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return None
        return json.loads(line) if line and line.startswith("{") else None

    def say(self, word):
        try:
            self.process.stdin.write(word + "\n")
            self.process.stdin.flush()
        except OSError:
            pass

    def fail(self, text):
        self.failures.append(text)

    def path(self, name):
        return os.path.join(self.folder, name)

    def watch(self):
        """Sees it hang while it does, so that its stacks can be kept."""
        seen, lost_then, kept = None, 0.0, False
        while not self.ended_watching.wait(0.1):
            self.base = autopsy.agent_base(self.pid) or self.base
            beats, now = self.beats.read(), time.clock_gettime(time.CLOCK_MONOTONIC)
            if beats is None or beats["managed_beats"] == 0:
                continue
            if beats["managed_last"] != seen:
                seen, lost_then, kept = beats["managed_last"], beats["native_lost"], False
            asleep = now - beats["native_last"]
            excess = now - seen - asleep - (beats["native_lost"] - lost_then)
            if asleep < 0.1 and excess > EXCESS and not kept and self.process.poll() is None:
                kept = self.hung = True
                words = autopsy.of_process(self.pid, self.path(f"hang-{time.strftime('%H%M%S')}.txt"), self.library)
                self.fail(f"the managed heartbeat stands still {excess:.1f} s longer than the native one: {words}")
            if asleep < 0.1 and excess > GIVE_UP:
                self.hangs.set()
                self.over.set()
                return

    def end_by_input(self):
        """Asks it to stop and waits for its report; the process is still there then."""
        self.say("stop")
        self.report = self.await_report(60)

    def await_report(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.hangs.is_set():
            report = self.next_line(0.2)
            if report is not None:
                return report
            if self.process.poll() is not None and self.lines.empty():
                return None
        return None

    def native_lost(self):
        beats = self.beats.read()
        return beats["native_lost"] if beats else 0.0

    def end_by_term(self, stalled):
        """SIGTERM, and how long it took until nothing of it ran any more. While a disk stalls, a thread that waits for it in the
        kernel keeps the process in the table, whatever is sent to it: the others must have gone."""
        start, lost = time.monotonic(), self.native_lost()
        self.process.send_signal(signal.SIGTERM)
        while time.monotonic() - start - (self.native_lost() - lost) < TERM_PATIENCE:
            if not self.lives(stalled):
                return time.monotonic() - start
            time.sleep(0.01)
        took = time.monotonic() - start
        states = sorted(f"{name} {state}" for name, state in threads_of(self.pid).values())
        words = autopsy.of_process(self.pid, self.path("term.txt"), self.library)
        self.fail(f"SIGTERM ({self.term}{', the disk stalls' if stalled else ''}) did not end it within {TERM_PATIENCE:.0f} s: "
                  f"{len(states)} threads are there, {words}: {', '.join(states)}")
        return took

    def lives(self, stalled):
        if self.process.poll() is not None:
            return False
        return not stalled or any(state not in "DZX" for _, state in threads_of(self.pid).values())

    def await_exit(self, seconds):
        """Its exit code; None when it had to be killed."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            self.fail(f"it did not end within {seconds:.0f} s: " +
                      autopsy.of_process(self.pid, self.path("no-exit.txt"), self.library))
            self.kill()
        self.ended_watching.set()
        self.watcher.join()
        return code

    def check_end(self, code, expected):
        """Of a process that has ended: how, what it said, how its heart beat."""
        if code is not None and code != expected:
            words = autopsy.of_core(self.executable, self.folder, self.path("crash.txt"), self.base, self.library) \
                if code < 0 and code != -signal.SIGTERM else ""
            self.fail(f"it ended with {code} instead of {expected}; {words}\n{self.last_words()}")
        beats = self.beats.read()
        if beats["managed_excess"] > EXCESS and not self.hung:
            self.fail(f"the managed heartbeat stood still {beats['managed_excess']:.2f} s longer than the native one")
        self.report = self.report or self.last_report()
        if self.report is None:
            return
        if self.report["different"] or not self.report["same"] and self.report["seconds"] > 2:
            self.fail(f"{self.report['different']} results were different, {self.report['same']} the same: {self.report['differences']}")
        if self.report["stuck"]:
            self.fail(f"threads did not end: {self.report['stuck']}")

    def last_report(self):
        """What it wrote down each half second, where it could not tell it at its end."""
        try:
            with open(self.path("report"), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def last_words(self):
        self.stderr.flush()
        with open(self.path("stderr"), encoding="utf-8", errors="replace") as file:
            return "".join("    " + line for line in file.readlines()[:30])

    def kill(self):
        self.killed = True
        self.process.kill()
        self.process.wait()

    def close(self):
        """Ends it at once, if it still runs."""
        self.over.set()
        if self.process.poll() is None:
            self.kill()
        self.ended_watching.set()
        for stream in (self.process.stdin, self.process.stdout, self.stderr):
            try:
                stream.close()
            except OSError:
                pass
