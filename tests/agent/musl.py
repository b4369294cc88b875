# SPDX-License-Identifier: Apache-2.0
"""The agent in .NET processes that run on musl: the same figures as on glibc. The runtime and its programs are those of
tools/build_workloads --self-contained; the C library is Debian's, and once it is laid out as Alpine has it."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

from agent_case import AgentCase, Probe, agent_threads, bytes_of, has_agent, library_mappings, rss_kb, status
from clock import clock
from async_callers import AsyncCallers
import harness
from harness import Workload, clrscope, wait_until
from surroundings import children, mapped_at, may_unshare

LOADER = "/lib/ld-musl-x86_64.so.1"
LIBRARIES = ("libstdc++.so.6", "libgcc_s.so.1")  # what .NET needs beside musl
KINDS = "loops,recursion,generics,delegates,native,kernel"


def musl_agent():
    """As it is embedded."""
    return os.path.join(os.path.dirname(harness.CLRSCOPE), "..", "lib", "clrscope-agent-musl.stripped")


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout)[1]


class AsOnAlpine(Workload):
    """`alloc` with nothing around it but musl, under the names that Alpine has for it."""

    def __init__(self, root, folder, *args):
        for name in ("lib", "usr/lib", "app", "tmp", "proc"):
            os.makedirs(os.path.join(root, name))
        shutil.copy(os.path.realpath(LOADER), root + LOADER)
        os.symlink(LOADER, os.path.join(root, "lib/libc.musl-x86_64.so.1"))
        for name in LIBRARIES:
            shutil.copy(os.path.join(folder, name), os.path.join(root, "usr/lib"))
        script = 'set -e; mount --bind "$1" "$2/app"; mount -t proc proc "$2/proc"; root=$2; shift 2; exec chroot "$root" /app/alloc "$@"'
        environment = {name: value for name, value in os.environ.items() if name not in ("TMPDIR", "LD_LIBRARY_PATH")}
        self.process = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-c", script, "sh",
                                         folder, root, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.ready = json.loads(self.line("ready"))
        self.pid = self.process.pid
        while inside := children(self.pid):
            self.pid = inside[0]


class Musl(AgentCase):
    def setUp(self):
        super().setUp()
        if not os.path.exists(musl_agent()):
            self.skipTest("this clrscope was built without an agent for musl")

    def folder(self, flavour):
        folder = os.path.join(harness.WORKLOADS, flavour)
        if not os.path.exists(os.path.join(folder, LIBRARIES[0])):
            self.skipTest(f"{flavour} was not built: there is no runtime for musl, or no libstdc++")
        return folder

    def workload(self, flavour, *args, env=None):
        return super().workload(flavour, *args, env={"LD_LIBRARY_PATH": self.folder(flavour), **(env or {})})

    def test_a_known_live_set(self):
        work = self.workload("alloc-musl", "--mode", "keep", "--threads", "2", "--rate", "max", "--bytes", "4e9", "--seconds", "30",
                             "--start-on-stdin", "--hold-on-stdin")
        probe = Probe(work.pid, 60)
        work.go()
        truth = work.truth()
        time.sleep(0.5)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        report = probe.report()
        self.assertIsNone(work.process.poll())
        for name in ("Kept", "Block[]"):
            real = bytes_of(truth, name)
            estimate = next(v for k, v in report["live"].items() if k.endswith("." + name))
            self.check_interval(estimate, real, name)
        self.assertLess(report["live"].get("byte[]", {"bytes": 0})["bytes"], 0.01 * truth["bytes"])

    def test_own_walk_is_the_runtimes(self):
        """Stacks end where a thread begins, though nothing in musl says so."""
        for mode in ("mix", "deep", "generic", "async", "funclets"):
            with self.subTest(mode):
                self.compare_walks("alloc-musl", mode)

    def test_it_comes_and_goes(self):
        work = self.workload("alloc-musl", "--threads", "2", "--rate", "200e6", "--seconds", "900", "--start-on-stdin")
        work.go()

        def around():
            self.assert_ok(clrscope("attach", "-p", work.pid))
            wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 0, 60, "it samples")
            self.assert_ok(clrscope("detach", "-p", work.pid))
            wait_until(lambda: agent_threads(work.pid) == 0, 60, "its thread ended")

        around()
        self.assertIn(f"/clrscope-agent-{build_id(musl_agent())[:20]}.so", str(mapped_at(work.pid)))
        mappings, rss = library_mappings(work.pid), min(rss_kb(work.pid) for _ in range(5))
        for _ in range(10):
            around()
        # musl tells libraries by their inodes: each time it is another one, with its memory, and stays.
        self.assertLessEqual(library_mappings(work.pid), 11 * mappings)
        self.assertLess(min(rss_kb(work.pid) for _ in range(5)), rss + 20_000 + 10 * 4_000)
        self.assertEqual([name for name in os.listdir(self.tmp) if name.startswith("clrscope-agent")], [])
        self.assertIsNone(work.process.poll())

    def test_record_live(self):
        work = self.workload("alloc-musl", "--mode", "keep", "--threads", "2", "--rate", "max", "--bytes", "3e9", "--seconds", "30",
                             "--start-on-stdin", "--hold-on-stdin")
        truth = self.record_live(work)
        self.assertFalse(has_agent(work.pid))
        total = harness.report(self.path())["totals"]
        self.assertLess(abs(total["bytes"] / truth["total_allocated_bytes"] - 1), 0.05)
        self.assertGreater(len(harness.report(self.path(), "--live")["rows"]), 0)

    def test_a_launched_program(self):
        folder = self.folder("alloc-musl")
        result = clrscope("record", "--live", "-o", self.path(), "--", os.path.join(folder, "alloc"), "--rate", "max", "--bytes", "1e9", "--whole",
                          timeout=90, env={**os.environ, "LD_LIBRARY_PATH": folder})
        self.assert_ok(result)
        truth = json.loads(result.stdout.splitlines()[-1])
        self.assertLess(abs(harness.report(self.path())["totals"]["bytes"] / truth["total_allocated_bytes"] - 1), 0.1)
        self.assertGreater(len(harness.report(self.path(), "--live")["rows"]), 0)

    def test_variables_of_env(self):
        result = clrscope("env", "--musl", "--every", "2s", env={**os.environ, "XDG_CACHE_HOME": self.dir})
        self.assert_ok(result)
        lines = dict(line[len("export "):].split("=", 1) for line in result.stdout.splitlines())
        work = self.workload("alloc-musl", "--rate", "100e6", "--seconds", "60", "--start-on-stdin",
                             env={name: value.strip("'") for name, value in lines.items()})
        work.go()
        wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 0, 60, "it samples")
        self.assert_ok(clrscope("detach", "-p", work.pid))
        self.assertIsNone(work.process.poll())

    def test_sigterm_writes_the_last_profile(self):
        work = self.workload("alloc-musl", "--rate", "100e6", "--seconds", "60", "--start-on-stdin",
                             env={**self.load_variables(f"every=1h,output={self.path('%p-%t.pb')}"), "CORECLR_PROFILER_PATH": os.path.abspath(musl_agent())})
        work.go()
        wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 0, 60, "it samples")
        work.process.terminate()
        work.process.wait(20)
        self.assertTrue([name for name in os.listdir(self.dir) if name.endswith(".pb")])

    @clock
    def test_cpu_time(self):
        for sampler in ("kernel", "ptrace"):
            with self.subTest(sampler):
                self.check_cpu_time(sampler)

    def check_cpu_time(self, sampler):
        path = self.path()
        work = self.workload("burns-musl", "--start-on-stdin", "--hold-on-stdin", "--seconds", "0.8", "--kinds", KINDS)
        recorder = self.start_cpu_recording("-p", work.pid, "--cpu", "--sampler", sampler, "-f", "-o", path)
        self.addCleanup(recorder.kill)
        begun = harness.cpu_clock_ns(work.pid)
        time.sleep(0.5)
        work.go()
        truth = work.truth()
        within_ns = harness.cpu_clock_ns(work.pid) - begun
        recorder.send_signal(signal.SIGINT)
        said = recorder.stderr.read()
        self.assertEqual(recorder.wait(60), 0, said)
        document = harness.report(path, "--measure", "cpu", "--by", "method", "-n", "1000")
        self.assertEqual(document["sampler"], sampler)
        self.assertLessEqual(within_ns, document["totals"]["cpu_ns"])
        rows = {row["method"].rpartition(".")[2]: row for row in document["rows"] if row["method"].startswith("Clrscope.")}
        wrong = {}
        for name, ns in truth["methods"].items():
            row = rows.get(name, {"total_cpu_ns": 0, "total_cpu_ns_high": 0, "total_cpu_ns_low": 0})
            error = (row["total_cpu_ns_high"] - row["total_cpu_ns_low"]) / 2
            if abs(row["total_cpu_ns"] - ns) > 2 * error + 0.01 * ns:
                wrong[name] = (row["total_cpu_ns"], ns, error)
        self.assertEqual(wrong, {})

    def test_async_callers(self):
        follow = AsyncCallers.follow
        tally, state = follow(self, "awaits-musl")
        AsyncCallers.check(self, tally, state)

    def test_as_on_alpine(self):
        if not may_unshare():
            self.skipTest("namespaces of its own are for root")
        folder, root = self.folder("alloc-musl"), os.path.join(self.dir, "root")
        os.mkdir(root)
        work = AsOnAlpine(root, folder, "--rate", "50e6", "--seconds", "60", "--start-on-stdin")
        self.addCleanup(work.end)
        work.go()
        with open(f"/proc/{work.pid}/maps", encoding="utf-8") as file:
            self.assertIn(LOADER, file.read())
        checks = json.loads(clrscope("doctor", work.pid, "--json").stdout)["checks"]
        self.assertEqual([check["verdict"] for check in checks if check["name"] == "agent"], ["ok"], checks)
        self.assert_ok(clrscope("attach", "-p", work.pid))
        wait_until(lambda: status(work.pid)["samples"] > 0, 60, "it samples")
        self.assertIn("/tmp/clrscope-agent-", mapped_at(work.pid))
        self.assert_ok(clrscope("detach", "-p", work.pid))
        wait_until(lambda: agent_threads(work.pid) == 0, 60, "its thread ended")
        self.assertIsNone(work.process.poll())
