# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: starting workloads, running clrscope, counting results."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "chaos"))
import autopsy
import clock

CLRSCOPE = ""
WORKLOADS = ""
# How far a sum of samples may be off, in halves of its 95 % interval: 5 standard errors, by chance once in some 100,000
# comparisons of few samples, and in a million of many. At 4 it was once in 10,000, and a run has more than 30 comparisons.
MOST_HALVES = 5 / 1.96
# An estimate may be this many standard errors off before a test fails: by chance once in 1.7 million.
SIGMAS = 5


def threads_of(pid):
    """A line for each thread: its name, its state, the system call that it is in and where in the kernel it sleeps."""
    lines = []
    for task in sorted(glob.glob(f"/proc/{pid}/task/*"), key=lambda path: int(os.path.basename(path))):
        words = [os.path.basename(task)]
        for name in ("comm", "stat", "wchan", "syscall"):
            try:
                with open(f"{task}/{name}", encoding="utf-8", errors="replace") as file:
                    text = file.read().strip()
                words.append(text.rpartition(")")[2].split()[0] if name == "stat" else text)
            except (OSError, IndexError):
                words.append("?")
        lines.append("  ".join(words))
    return "\n".join(lines)


def thread_states(pid):
    """Of a process's threads: proc(5), /proc/PID/task/TID/stat."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii", errors="replace") as f:
                found.append(f.read().rpartition(") ")[2][0])
        except OSError:
            pass  # it has ended
    return found


def stop_process(pid):
    """SIGSTOP; returns when all threads stand. Until then some go on, and one of them may answer."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: set(thread_states(pid)) == {"T"}, 60, "the process stands still")


def evidence_of(pid):
    """What a process that stands still does: its threads, and the first of three looks at their native stacks, as a thread may spin. All
    looks and a core are kept in build/hangs."""
    words = [threads_of(pid)]
    build = os.path.join(os.path.dirname(CLRSCOPE), "..")
    folder = os.path.abspath(os.path.join(build, "../hangs"))
    os.makedirs(folder, exist_ok=True)
    kept = os.path.join(folder, f"{int(time.time())}-{pid}")
    for look in range(1, 4):
        words.append(autopsy.of_process(pid, f"{kept}-{look}.txt", os.path.join(build, "lib/libclrscope-agent.so")))
    words.append(autopsy.core_of(pid, f"{kept}.core"))
    if os.path.exists(f"{kept}-1.txt"):
        with open(f"{kept}-1.txt", encoding="utf-8", errors="replace") as file:
            words.append(file.read())
    return "\n".join(words)


def command(flavour):
    """What starts a workload: "alloc" on the machine's runtime, "alloc-net8" with its own, or an executable by its path."""
    if os.path.isabs(flavour):
        return [flavour]
    program, _, runtime = flavour.partition("-")
    native = os.path.join(WORKLOADS, flavour, program)
    if runtime and not os.path.exists(native):
        raise unittest.SkipTest(f"{flavour} is not built: tools/build_workloads --self-contained")
    return [native] if runtime else ["dotnet", native + ".dll"]


class Workload:
    """A program that counts what it did and prints that at its end; `alloc`, if nothing else is said."""

    PATIENCE_S = 120
    stuck = None

    def __init__(self, *args, flavour="alloc", env=None, preexec_fn=None):
        self.process = subprocess.Popen(
            command(flavour) + list(args), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(env or {})}, preexec_fn=preexec_fn)
        self.ready = json.loads(self.line("ready"))
        self.pid = self.ready["ready"]

    def line(self, what):
        """The next line that it prints. A program that says nothing for so long stands still: that is the finding, with what its
        threads do."""
        done = []

        def give_up():
            if not done:
                self.stuck = f"the program did not print {what}; its threads:\n{evidence_of(self.process.pid)}"
                self.process.kill()

        timer = threading.Timer(self.PATIENCE_S, give_up)
        timer.start()
        try:
            line = self.process.stdout.readline()
            done.append(line)
        finally:
            timer.cancel()
        if self.stuck:
            raise AssertionError(self.stuck)
        return line

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def truth(self):
        """Its ledger; blocks until it has printed it."""
        return json.loads(self.line("its ledger"))

    def end(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def clrscope(*args, timeout=60, **kwargs):
    """Runs clrscope to its end."""
    return subprocess.run([CLRSCOPE, *map(str, args)], capture_output=True, text=True, timeout=timeout, **kwargs)


def start_clrscope(*args, **kwargs):
    return subprocess.Popen([CLRSCOPE, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


def start_recording(*args, **kwargs):
    """`clrscope record` whose sessions are open when this returns."""
    return await_recording(start_clrscope("record", *args, **kwargs))


def await_recording(recorder):
    """Until its sessions are open. Its words up to then are its `said`; what comes later is left to communicate()."""
    said = b""
    # Byte by byte: what a buffer reads ahead is lost to communicate().
    while not re.search(rb"(?m)^Recording .*\n", said):
        byte = os.read(recorder.stderr.fileno(), 1)
        if not byte:
            recorder.communicate()
            raise AssertionError(f"record ended with {recorder.returncode}: {said.decode()}")
        said += byte
    recorder.said = said.decode()
    return recorder


def report(path, *args):
    result = clrscope("report", path, "--json", *args)
    if not result.stdout:
        raise AssertionError(f"report ended with {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


def cpu_clock_ns(pid):
    """What all threads of a process have used so far, those that have ended included. Source: linux/posix-timers.h, make_process_cpuclock"""
    return time.clock_gettime_ns(~pid << 3 | 2)


class CpuSpan:
    """What a process used by its own clock, in a span within a recording and in one around it. The difference is what the sessions' begin and
    end, its rundown and an agent take the process, beside its work."""

    def __init__(self, pid):
        self.pid, self.before = pid, cpu_clock_ns(pid)

    def begun(self):
        self.begin = cpu_clock_ns(self.pid)

    def ending(self):
        self.within_ns = cpu_clock_ns(self.pid) - self.begin

    def ended(self):
        self.around_ns = cpu_clock_ns(self.pid) - self.before


def sockets(pid):
    """How many unix sockets a process has open that are connected to somebody."""
    count = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            count += os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:")
        except OSError:
            pass
    return count


def open_sessions(pid):
    """How many sessions of tools the process has, as `ps` reports it."""
    listed = json.loads(clrscope("ps", "--json").stdout)["processes"]
    return sum(p["open_sessions"] for p in listed if p["pid"] == pid)


def status(pid):
    """What the agent of a process reports of itself; None where there is none."""
    result = clrscope("status", "-p", pid, "--json")
    return json.loads(result.stdout) if result.returncode == 0 else None


def await_sampling(pid):
    """Until its agent samples: that it answers comes first."""
    wait_until(lambda: (status(pid) or {}).get("sampling"), 60, "the agent samples")


def dotnet_trace():
    """The tool's path, installed from NuGet on its first use; None where that is not possible."""
    folder = os.path.join(os.path.dirname(WORKLOADS), "tools")
    tool = os.path.join(folder, "dotnet-trace")
    if not os.path.exists(tool):
        subprocess.run(["dotnet", "tool", "install", "--tool-path", folder, "dotnet-trace"], capture_output=True, timeout=300)
    return tool if os.path.exists(tool) else None


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


def sigma(row, what):
    """The standard error of an estimate, from its 95 % interval."""
    return (row[f"{what}_high"] - row[f"{what}_low"]) / (2 * 1.96)


def loss(profile, name):
    return sum(entry["count"] for entry in profile["losses"] if entry["name"] == name)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="clrscope-e2e-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name="x.clrscope"):
        return os.path.join(self.dir, name)

    def start_cpu_recording(self, *args):
        """As start_recording(); the test is skipped where the sampler is refused: a container's filter, Yama."""
        try:
            return start_recording(*args)
        except AssertionError as refusal:
            if any(words in str(refusal) for words in ("the kernel's sampler is", "forbids clrscope to", "may not trace it", "ptrace_scope")):
                self.skipTest(str(refusal))
            raise

    def end_recording(self, recorder):
        """All that it said; it was started by start_recording(), or what that said is left out."""
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=60)
        said = getattr(recorder, "said", "") + said
        self.assertEqual(recorder.returncode, 0, said)
        return said

    def check_gap(self, document, part=0.1):
        """Of what the threads used by `--measure cpu --by method`, nearly all has samples."""
        gap = sum(row["self_cpu_ns"] for row in document["rows"] if row["method"] == "(not sampled)")
        self.assertLess(gap, part * document["totals"]["cpu_ns"])

    def check_cpu_total(self, cpu_ns, within_ns, around_ns=None, part=0.02):
        """A sum of CPU time is the process's own, within `part` of it; or within 60 ms, which is two looks at a busy machine."""
        self.assertGreater(cpu_ns, within_ns - max(part * within_ns, 60e6))
        around_ns = around_ns or within_ns
        self.assertLess(cpu_ns, around_ns + max(part * around_ns, 60e6))

    def assert_ok(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)

    def record(self, flavour, *options, program=(), ready=lambda pid: None, opened=lambda pid: time.sleep(0.5), ended=lambda pid: None, hang=0.0):
        """Records a workload from before its work until after it; its truth, and what clrscope said. `ready`: before the recording; `opened`: once it has begun; `ended`: once it
        is over. The program is there all the time."""
        with Workload("--start-on-stdin", "--hold-on-stdin", *program, flavour=flavour) as w:
            ready(w.pid)
            recording = start_recording("-p", w.pid, "-o", self.path(), "-f", *options)
            opened(w.pid)
            w.go()
            truth = w.truth()
            time.sleep(0.5 + hang)  # the runtime flushes ten times a second
            words = self.end_recording(recording)
            ended(w.pid)
        return truth, words

    def written(self, what):
        """Of a recording that goes on, what its file has by now: it is written each second, in a transaction."""
        result = clrscope("report", self.path(), "--json")
        if not result.stdout:
            return 0
        document = json.loads(result.stdout)
        return document["totals"].get(what, document.get(what))

    def record_to_its_end(self, w, path, *options):
        """Records all that a workload does which stands ready: from before its work until after it. Its truth; with --live, `self.agent` is
        what its agent reports of itself at the end."""
        recorder = start_recording("-p", w.pid, "-f", "-o", path, *options)
        self.addCleanup(recorder.kill)
        if "--live" in options:
            await_sampling(w.pid)
        w.go()
        truth = w.truth()
        self.agent = status(w.pid) if "--live" in options else None
        self.said = self.end_recording(recorder)
        return truth

    def check_waited(self, wait_ns, kind):
        """Within 2 % of what the workload `locks` measured: at least what its threads stood still, at most what the calls took, spinning before it and waking up included."""
        if kind["blocks"] and not kind["failed"]:
            self.assertGreater(kind["blocked_ns"], 0, kind)
        self.assertGreaterEqual(wait_ns, 0.98 * kind["blocked_ns"], kind)
        self.assertLessEqual(wait_ns, 1.02 * kind["wait_ns"], kind)

    def check_locks(self, path, truth):
        """Contended locks of the workload `locks` by site and owner are what it counted; the report by site."""
        p = report(path, "--measure", "locks", "--by", "site", "-n", "0")
        rows = {row["method"].removesuffix(" [async]"): row for row in p["rows"]}
        for kind in truth["kinds"]:
            row = rows.get(kind["method"], {"count": 0, "wait_ns": 0})
            if kind["contention_stops"] == 0:
                self.assertLess(row["wait_ns"], 0.1 * kind["wait_ns"] + 1, kind)
                continue
            self.assertGreaterEqual(row["count"], kind["contention_stops"], kind)
            self.check_waited(row["wait_ns"], kind)
        owners = {row["owner"]: row for row in report(path, "--measure", "locks", "--by", "owner", "-n", "0")["rows"]}
        for kind in truth["kinds"]:
            if kind["contention_stops"]:
                self.assertGreaterEqual(owners[kind["owner_os_thread_id"]]["count"], kind["contention_stops"], kind)
        return p

    def check_waits(self, path, truth, runtime):
        """Waits of the workload `locks` that are no lock's are what it counted. Of .NET 8, which has no such events, the report says so."""
        if runtime == "8":
            r = clrscope("report", path, "--measure", "waits")
            self.assertEqual(r.returncode, 3)
            self.assertIn(".NET 9", r.stderr)
            return
        rows = {row["method"]: row for row in report(path, "--measure", "waits", "--by", "site", "-n", "0")["rows"]}
        for kind in truth["kinds"]:
            row = rows.get(kind["method"], {"count": 0, "wait_ns": 0})
            if kind["contentions"] or kind["blocks"] == 0:
                self.assertEqual(row["count"], 0, kind)
            else:
                self.assertGreaterEqual(row["count"], kind["waits"], kind)
                self.check_waited(row["wait_ns"], kind)


def main(module):
    """Runs the tests of a module, or those that are named; of all, CLRSCOPE_TESTS chooses those that are marked @clock (`clock`) or those
    that are not (`patient`). `--list clock` prints names instead."""
    # Of a shell's background job SIGINT is ignored, and a .NET program that inherits that keeps it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    global CLRSCOPE, WORKLOADS
    args = sys.argv[1:]
    listed = None
    while args and args[0].startswith("--"):
        name, value = args[0], args[1]
        args = args[2:]
        if name == "--clrscope":
            CLRSCOPE = os.path.abspath(value)
        elif name == "--workloads":
            WORKLOADS = os.path.abspath(value)
        elif name == "--list":
            listed = value
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(args, sys.modules[module]) if args else loader.loadTestsFromModule(sys.modules[module])
    wanted = listed or os.environ.get("CLRSCOPE_TESTS")
    if wanted:
        suite = unittest.TestSuite(test for test in clock.tests_of(suite) if clock.is_clock(test) == (wanted == "clock"))
    if listed:
        for test in clock.tests_of(suite):
            print(clock.name_of(test))
        return
    sys.exit(1 if clock.run(suite) else 0)
