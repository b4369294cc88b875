#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clrscope as one file that starts everywhere: what it needs of the system, and what it says where something is missing."""
import errno
import glob
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import containers
import harness
from harness import Case, Workload, clrscope, open_sessions, wait_until
from roots import NOBODY, Root, debian, may_mount

LOAD = ("--seconds", "60", "--rate", "50000000")
SORT = ("with recursive c(n) as (select 1 union all select n+1 from c where n < 1000000) "
        "select count(*) as many from (select n, hex(n) || 'xxxxxxxxxxxxxxxx' h from c order by h)")


class OneFile(Case):
    def test_needs_no_loader_and_no_library(self):
        checked = subprocess.run([sys.executable, f"{HERE}/../cli/program_test.py", harness.CLRSCOPE], capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)


class DoorCase(Case):
    """Live processes keep their sockets in a TMPDIR that everybody may enter."""

    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = self.dir
        self.addCleanup(lambda: os.environ.pop("TMPDIR") if before is None else os.environ.update(TMPDIR=before))

    def workload(self, flavour="alloc"):
        folder = os.path.join(harness.WORKLOADS, flavour)
        if shutil.which("dotnet") is None or not os.path.isdir(folder):
            self.skipTest(f"there is no .NET here, or no {folder}")
        work = Workload(*LOAD, flavour=flavour)
        self.addCleanup(work.end)
        return work

    def capture(self, folder):
        """A recording that holds something, at folder/x.clrscope."""
        work = self.workload()
        self.assert_ok(clrscope("record", "-p", work.pid, "-d", "2s", "-o", f"{folder}/x.clrscope"))
        work.end()

    def records(self, run, pid, path="/live.clrscope", flavour="AllocationSampled"):
        """`run` is clrscope in its surroundings: it sees process `pid`, records it with live objects, and reads that back."""
        seen = run("ps")
        self.assert_ok(seen)
        self.assertRegex(seen.stdout, rf"(?m)^ *{pid} +alloc .*yes$")
        told = run("doctor", pid)
        self.assert_ok(told)
        self.assertIn("It can be profiled", told.stdout)
        self.assert_ok(run("record", "-p", pid, "--live", "-d", "3s", "-o", path))
        self.reads(run, path, flavour)
        live = run("report", path, "--live", "--json")
        self.assert_ok(live)
        self.assertGreater(json.loads(live.stdout)["totals"]["samples"], 0)

    def reads(self, run, path, event="AllocationSampled"):
        shown = run("report", path, "--json")
        self.assert_ok(shown)
        report = json.loads(shown.stdout)
        self.assertEqual(report["event"], event)
        self.assertGreater(report["totals"]["bytes"], 20e6)
        self.assertIn("byte[]", [row["type"] for row in report["rows"]])
        sites = run("report", path, "--by", "site", "--json")
        self.assertIn("MixSites", sites.stdout, "methods have their names")
        asked = run("query", path, "select sum(bytes) as b from samples", "--json")
        self.assert_ok(asked)

    def assert_refuses(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)


class RootCase(DoorCase):
    def setUp(self):
        if not may_mount():
            self.skipTest("roots and mount namespaces are for root")
        super().setUp()
        self.root = Root(f"{self.dir}/root")


class EmptyRoot(RootCase):
    """Nothing but the program and /proc."""

    def test_help_and_files(self):
        self.capture(self.root.path)
        run = self.root.clrscope
        for words in (["--help"], ["--version"], ["record", "--help"], ["inspect", "/x.clrscope"], ["gcstats", "/x.clrscope"],
                      ["diff", "/x.clrscope", "/x.clrscope"]):
            self.assert_ok(run(*words))
        self.reads(run, "/x.clrscope")
        for name in ("x.html", "x.pb.gz", "x.speedscope.json", "x.folded", "x.sqlite"):
            self.assert_ok(run("convert", "/x.clrscope", "-o", f"/{name}"))
            self.assertGreater(os.path.getsize(f"{self.root.path}/{name}"), 500, name)
        self.assertEqual(sorted(os.listdir(self.root.path)), sorted(
            ["clrscope", "proc", "x.clrscope", "x.html", "x.pb.gz", "x.speedscope.json", "x.folded", "x.sqlite"]))

    def test_records_a_live_process(self):
        for flavour, event in (("alloc", "AllocationSampled"), ("alloc-net8", "AllocationTick")):
            with self.subTest(flavour):
                work = self.workload(flavour)
                self.records(self.root.clrscope, work.pid, f"/{flavour}.clrscope", event)

    def test_a_process_outside_of_our_root_in_our_namespace(self):
        program = os.path.join(harness.WORKLOADS, "alloc-net9", "alloc")
        if not os.path.exists(program):
            self.skipTest(f"there is no {program}")
        work = subprocess.Popen(["unshare", "--mount", "--propagation", "private", program, *LOAD], stdout=subprocess.PIPE, text=True)
        self.addCleanup(work.stdout.close)
        self.addCleanup(work.wait)
        self.addCleanup(work.kill)
        self.assertEqual(json.loads(work.stdout.readline())["ready"], work.pid)
        told = self.root.clrscope("doctor", work.pid, namespace_of=work.pid)
        self.assert_ok(told)
        self.assertIn(f"/proc/{work.pid}/root{self.dir}/dotnet-diagnostic", told.stdout)
        self.assert_ok(self.root.clrscope("record", "-p", work.pid, "-d", "1s", "-o", "/x.clrscope", namespace_of=work.pid))

    def test_a_program_that_is_not_there(self):
        self.assert_refuses(self.root.clrscope("record", "-o", "/x.clrscope", "--", "dotnet", "app.dll"), 1,
                            "cannot make a folder", "/tmp (No such file or directory)", "TMPDIR")
        os.mkdir(f"{self.root.path}/tmp")
        self.assert_refuses(self.root.clrscope("record", "-o", "/x.clrscope", "--", "dotnet", "app.dll"), 127, "cannot run dotnet")

    def test_names_to_listen_at(self):
        work = self.workload()
        for name in ("localhost", "box"):
            os.makedirs(f"{self.root.path}/etc", exist_ok=True)
            if name == "box":
                with open(f"{self.root.path}/etc/hosts", "w", encoding="ascii") as hosts:
                    hosts.write("127.0.0.1 box\n")
            server = subprocess.Popen(self.root.command("/clrscope", "metrics", "-p", work.pid, "--listen", f"{name}:0"),
                                      stderr=subprocess.PIPE, text=True, env=Root.environment())
            self.addCleanup(server.stderr.close)
            self.addCleanup(server.wait)
            self.addCleanup(server.kill)
            port = int(re.search(rf"http://{name}:(\d+)/metrics", server.stderr.readline())[1])
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
                self.assertIn("clrscope_allocated_bytes", answer.read().decode())
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(timeout=60), 0)
        self.assert_refuses(self.root.clrscope("metrics", "-p", work.pid, "--listen", "example.org:0"), 2,
                            "neither an address nor a name in /etc/hosts")

    def on_terminal(self, *args, env, until, timeout=60):
        """What clrscope writes to a terminal of its own until `until` is there; then it is asked to end."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(self.root.command("/clrscope", *args), stdin=theirs, stdout=theirs, stderr=theirs,
                                   env=Root.environment(env), start_new_session=True)
        os.close(theirs)
        text = b""
        try:
            deadline = time.monotonic() + timeout
            while not re.search(until, text) and time.monotonic() < deadline:
                text += os.read(ours, 65536)
            process.send_signal(signal.SIGTERM)
            while process.poll() is None and time.monotonic() < deadline:
                try:
                    os.read(ours, 65536)
                except OSError:
                    break
            return text, process.wait(timeout=60)
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    def test_top_without_a_description_of_the_terminal(self):
        text, code = self.on_terminal("top", "-p", self.workload().pid, env={"TERM": "xterm"}, until=rb"byte\[\]")
        self.assertIn(b"this system does not describe the terminal xterm", text)
        self.assertIn(b"byte[]", text)
        self.assertEqual(code, 0)

    def test_top_without_a_locale(self):
        entries = [path for folder in ("/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo")
                   for path in glob.glob(f"{folder}/x/xterm")]
        if not entries:
            self.skipTest("this machine describes no xterm either")
        os.makedirs(f"{self.root.path}/etc/terminfo/x")
        shutil.copy(entries[0], f"{self.root.path}/etc/terminfo/x/xterm")
        text, code = self.on_terminal("top", "-p", self.workload().pid, "--by", "site", env={"TERM": "xterm", "LANG": "C.UTF-8"},
                                      until=rb"byte\[\] < ")
        self.assertIn(b"byte[] < ", text)
        self.assertTrue(text.isascii(), text)
        self.assertEqual(code, 0)


class ReadOnlyRoot(RootCase):
    READ_ONLY = 'mount -o remount,ro,bind "$root"'

    def run_there(self, *args, **options):
        return self.root.clrscope(*args, setup=self.READ_ONLY, **options)

    def test_reads_and_says_what_it_cannot_write(self):
        self.capture(self.root.path)
        self.reads(self.run_there, "/x.clrscope")
        work = self.workload()
        refused = "Read-only file system"
        self.assert_refuses(self.run_there("record", "-p", work.pid, "-d", "1s", "-o", "/y.clrscope"), 5, "/y.clrscope", refused)
        self.assert_refuses(self.run_there("convert", "/x.clrscope", "-o", "/x.html"), 5, "/x.html", refused)
        self.assert_refuses(self.run_there("query", "/x.clrscope", SORT), 1, "temporary file", "TMPDIR")
        self.assertNotIn("y.clrscope", os.listdir(self.root.path))

    def test_records_into_a_folder_that_is_writable(self):
        os.mkdir(f"{self.root.path}/data")
        setup = f'{self.READ_ONLY}; mount --bind "{self.path("data")}" "$root/data"'
        os.mkdir(self.path("data"))
        work = self.workload()
        self.records(lambda *args: self.root.clrscope(*args, setup=setup), work.pid, "/data/x.clrscope")
        sorted_there = self.root.clrscope("query", "/data/x.clrscope", SORT, setup=setup, env={"TMPDIR": "/data"})
        self.assert_ok(sorted_there)
        self.assertIn("1000000", sorted_there.stdout.replace(" ", ""))


class AnotherUser(RootCase):
    def run_there(self, *args, **options):
        return self.root.clrscope(*args, user=NOBODY, **options)

    def test_reads_and_is_told_what_is_not_permitted(self):
        self.capture(self.root.path)
        os.chmod(f"{self.root.path}/x.clrscope", 0o644)
        self.assert_ok(self.run_there("--help"))
        self.reads(self.run_there, "/x.clrscope")
        work = self.workload()
        self.assertNotRegex(self.run_there("ps").stdout, rf"(?m)^ *{work.pid} .*yes$")
        refused = self.run_there("record", "-p", work.pid, "-d", "1s", "-o", "/y.clrscope")
        self.assertEqual(refused.returncode, 5, refused.stderr)
        self.assertIn(f"clrscope runs as user {NOBODY}", refused.stderr)

    def test_records_its_own_processes(self):
        program = os.path.join(harness.WORKLOADS, "alloc-net9")
        if not os.path.isdir(program):
            self.skipTest(f"there is no {program}")
        shutil.copytree(program, self.path("program"))
        os.chmod(self.path("program"), 0o755)
        for name in ("theirs", "root/theirs"):
            os.mkdir(self.path(name))
            os.chown(self.path(name), NOBODY, NOBODY)
        work = subprocess.Popen([self.path("program/alloc"), *LOAD], stdout=subprocess.PIPE, text=True, user=NOBODY, group=NOBODY,
                                extra_groups=[], env={**os.environ, "TMPDIR": self.path("theirs"), "HOME": self.path("theirs")})
        self.addCleanup(work.stdout.close)
        self.addCleanup(work.wait)
        self.addCleanup(work.kill)
        self.assertEqual(json.loads(work.stdout.readline())["ready"], work.pid)
        self.records(self.run_there, work.pid, "/theirs/x.clrscope", "AllocationTick")


class OlderDistributions(RootCase):
    def in_suite(self, suite):
        path, why = debian(suite)
        if path is None:
            self.skipTest(f"{suite}: {why}")
        # The kept root stays as it is: what is written goes into a folder of the test's own above it.
        upper, work = self.path("upper"), self.path("work")
        os.mkdir(upper)
        os.mkdir(work)
        root = Root(self.path("entered"))
        for folder in ("proc", "program"):
            os.mkdir(f"{upper}/{folder}")
        shutil.copy(harness.CLRSCOPE, f"{upper}/clrscope")
        root.path = self.path("entered")
        # $root is mounted over before /proc is: so the overlay is what the commands see.
        overlay = (f'umount "$root/proc"; mount -t overlay overlay -o lowerdir={path},upperdir={upper},workdir={work} "$root"; '
                   f'mount -t proc proc "$root/proc"; mount --bind {harness.WORKLOADS}/alloc-net9 "$root/program"')
        run = lambda *args, setup=":", **options: root.run(*args, setup=f"{overlay}; {setup}", **options)
        version = run("/usr/bin/ldd", "--version")
        self.assert_ok(version)
        print(f"{suite}: {version.stdout.splitlines()[0]}", flush=True)
        here = lambda *args, **options: run("/clrscope", *args, **options)
        for words in (["--help"], ["--version"]):
            self.assert_ok(here(*words))
        # What runs outside.
        self.records(here, self.workload().pid)
        # What is launched inside, without /tmp too.
        launch = ("-o", "/run.clrscope", "-f", "--", "/program/alloc", "--seconds", "3", "--rate", "50000000")
        no_tmp = {"setup": 'rm -rf "$root/tmp"'}
        for options in ({}, no_tmp, {**no_tmp, "env": {"TMPDIR": "/var/tmp"}}):
            for live in ((), ("--live",)):
                launched = here("record", *live, *launch, **options)
                if live and options is no_tmp:
                    self.assert_refuses(launched, 6, "the agent's socket would lie in /tmp/", "TMPDIR")
                    continue
                self.assert_ok(launched)
                self.reads(here, "/run.clrscope", "AllocationTick")

    def test_bullseye(self):
        self.in_suite("bullseye")


@unittest.skipUnless(os.uname().machine == "x86_64", "the filter knows the calls of x86-64")
class OldKernel(DoorCase):
    """System calls newer than Linux 4.18 answer ENOSYS."""

    def command(self, *args):
        return [f"{HERE}/old_kernel.py", *map(str, args)]

    def run_there(self, *args, timeout=60):
        return subprocess.run(self.command(harness.CLRSCOPE, *args), capture_output=True, text=True, timeout=timeout)

    def test_the_filter_filters(self):
        tried = subprocess.run(self.command(sys.executable, "-c", "import os; os.pidfd_open(os.getpid())"), capture_output=True, text=True)
        self.assertIn(os.strerror(errno.ENOSYS), tried.stderr)
        self.assertNotEqual(tried.returncode, 0)

    def test_records_reads_and_writes(self):
        work = self.workload()
        self.records(self.run_there, work.pid, self.path())
        for name in ("x.html", "x.pb.gz", "x.sqlite"):
            self.assert_ok(self.run_there("convert", self.path(), "-o", self.path(name)))
        self.assert_ok(self.run_there("gcstats", "-p", work.pid, "-d", "1s"))
        self.assertIn("byte[]", self.run_there("top", "-p", work.pid, "-d", "3s").stdout)

    def test_launches(self):
        self.workload().end()
        started = time.monotonic()
        launched = self.run_there("record", "--live", "-o", self.path(), "--", "dotnet",
                                  os.path.join(harness.WORKLOADS, "alloc", "alloc.dll"), "--seconds", "3", "--rate", "50000000")
        self.assert_ok(launched)
        self.assertLess(time.monotonic() - started, 60, "its end is noticed")
        self.reads(self.run_there, self.path())

    def test_serves_metrics(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(self.command(harness.CLRSCOPE, "metrics", "-p", self.workload().pid, "--listen", f"localhost:{port}"),
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.kill)
        self.assertIn(f":{port}/metrics", server.stderr.readline())
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            self.assertIn("clrscope_allocated_bytes", answer.read().decode())
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=60), 0)

    def test_watches(self):
        work = self.workload()
        folder = self.path("captures")
        watch = subprocess.Popen(self.command(harness.CLRSCOPE, "watch", "-o", folder), stderr=subprocess.PIPE, text=True)
        self.addCleanup(watch.stderr.close)
        self.addCleanup(watch.kill)
        wait_until(lambda: open_sessions(work.pid), 60, "the watch to join")
        late = self.workload()  # comes while the watch goes on
        wait_until(lambda: open_sessions(late.pid), 60, "the watch to join the other one")
        time.sleep(4)
        watch.send_signal(signal.SIGTERM)
        self.assertEqual(watch.wait(timeout=60), 0)
        # Each hour of the clock has a capture of its own.
        shown = [self.run_there("report", capture, "--by", "process", "--json") for capture in glob.glob(f"{folder}/*.clrscope")]
        self.assertLessEqual({work.pid, late.pid}, {row["pid"] for report in shown for row in json.loads(report.stdout)["rows"]})


Containers = containers.cases(DoorCase)

if __name__ == "__main__":
    harness.main(__name__)
