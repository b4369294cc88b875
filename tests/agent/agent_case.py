# SPDX-License-Identifier: Apache-2.0
"""What the agent's tests share: the probe that attaches it, and what a process looks like from outside."""
import glob
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import harness  # noqa: E402
from harness import Case, Workload, await_sampling, clrscope, start_clrscope, status, wait_until  # noqa: E402,F401

FLAVOURS = ["alloc", "alloc-net9", "alloc-net8"]
PTRACE_REFUSED = 5
CLSID = "{C15C0BE5-9A61-4B7E-8E5D-2F1F0A0C1A57}"


def probe_path():
    return os.path.join(os.path.dirname(harness.CLRSCOPE), "agent_probe")


def library_path():
    return os.path.join(os.path.dirname(harness.CLRSCOPE), "..", "lib", "libclrscope-agent.so")


class Probe:
    """agent_probe on a process: attached when this returns."""

    def __init__(self, pid, seconds, *args):
        self.process = subprocess.Popen([probe_path(), str(pid), str(seconds), *args], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.attached = self.process.stdout.readline()
        if self.attached and not any(word in arg for arg in args for word in ("--", "allocations=0")):
            await_sampling(pid)

    def report(self):
        out, err = self.process.communicate(timeout=90)
        if not out:
            raise AssertionError(f"agent_probe said nothing: {err}")
        return json.loads(out.splitlines()[-1])


def agent_threads(pid):
    """How many it has there; not the one that writes files, which a disk may hold up."""
    names = []
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        try:
            with open(path, encoding="utf-8") as file:
                names.append(file.read().strip())
        except OSError:
            pass
    return names.count("clrscope-agent") + names.count("clrscope-events")


def count_fds(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def library_mappings(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        return sum("clrscope-agent" in line for line in file)


def rss_kb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def has_agent(pid):
    return clrscope("status", "-p", pid, "--json").returncode == 0


def bytes_of(truth, name):
    return next(t["bytes"] for t in truth["types"] if t["clr_type"].endswith(name))


class AgentCase(Case):
    def setUp(self):
        super().setUp()
        # The agent's and the runtime's sockets, and the library while it is loaded, lie here alone.
        self.tmp = os.path.join(self.dir, "tmp")
        os.mkdir(self.tmp)
        old = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = self.tmp
        self.addCleanup(lambda: os.environ.__setitem__("TMPDIR", old) if old else os.environ.pop("TMPDIR", None))

    def workload(self, flavour, *args, **options):
        if not os.path.isdir(os.path.join(harness.WORKLOADS, flavour)):
            self.skipTest(f"{flavour} was not built")
        work = Workload(*args, flavour=flavour, **options)
        self.addCleanup(work.end)
        return work

    def record_live(self, work, *options):
        """Records all that a workload does which stands ready, and the interval after it; what it did."""
        recorder = start_clrscope("record", "-p", work.pid, "--live", *options, "-o", self.path())
        await_sampling(work.pid)
        work.go()
        truth = work.truth()
        time.sleep(1.5)
        recorder.send_signal(signal.SIGINT)
        _, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, err)
        return truth

    def hold_threads(self, pid, library, offset, milliseconds, *thread):
        """Threads stand still for so long where they come by a place; see hold_threads.cc."""
        tool = os.path.join(os.path.dirname(harness.CLRSCOPE), "hold_threads")
        holder = subprocess.Popen([tool, str(pid), library, offset, str(milliseconds), *thread], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: holder.communicate() if holder.poll() is None else None)
        self.addCleanup(holder.terminate)
        if not holder.stdout.readline() and holder.wait(60) == PTRACE_REFUSED:
            self.skipTest(holder.stderr.read())
        return holder

    def held(self, holder):
        """How often; it lets go."""
        holder.terminate()
        told, words = holder.communicate(timeout=60)
        self.assertEqual(holder.returncode, 0, words)
        return json.loads(told)["held"]

    WALK_FALLBACKS = ("walk_new", "walk_no_rule", "walk_stub", "walk_disagree", "walk_outside", "walk_no_room")
    # How many of the stacks the rules may leave to the runtime, but for code that is new: one handler in six of `funclets` is a
    # filter, which runs above the frames that threw.
    LEFT_OVER = {"funclets": 0.25}

    def check_interval(self, estimate, real, what="bytes"):
        """The interval, made as wide as chance may need, holds the truth."""
        more = (harness.MOST_HALVES - 1) * (estimate["high"] - estimate["low"]) / 2
        self.assertLess(estimate["low"] - more, real, what)
        self.assertGreater(estimate["high"] + more, real, what)

    def compare_walks(self, flavour, mode):
        """The agent walks each stack both ways, and the program runs until it has compared enough of them. How many stacks hold
        code that is new depends on how soon the agent's thread gets a processor."""
        work = self.workload(flavour, "--mode", mode, "--threads", "2", "--rate", "max", "--seconds", "120", "--start-on-stdin",
                             "--stop-on-stdin", "--hold-on-stdin")
        probe = Probe(work.pid, 90, "selftest=1,native=1,lines=1")
        work.go()
        wait_until(lambda: (status(work.pid) or {}).get("selftest_equal", 0) > 3000, 60, "both walks of 3,000 stacks are the same")
        work.go()
        work.truth()
        state = status(work.pid)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        probe.report()
        work.end()
        self.assertEqual(sum(state[reason] for reason in self.WALK_FALLBACKS), state["walk_fallbacks"])
        self.assertLessEqual(state["selftest_different"], state["selftest_equal"] * 0.001, state)
        left = state["walk_fallbacks"] - state["walk_new"]
        self.assertLessEqual(left, state["samples"] * self.LEFT_OVER.get(mode, 0.01), state)

    def load_variables(self, options):
        return {"CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": CLSID,
                "CORECLR_PROFILER_PATH": os.path.abspath(library_path()), "CLRSCOPE_OPTS": options}
