# SPDX-License-Identifier: Apache-2.0
"""Programs that clrscope launches: what is recorded of them and of their children, and that none of these hangs, whoever ends first."""
import glob
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness
from harness import SIGMAS, Case, clrscope, command, cpu_clock_ns, loss, report, sigma, start_clrscope, wait_until

FLAVOURS = ("alloc", "alloc-net8", "alloc-net9")


def alloc(*args, flavour="alloc"):
    """A command line that runs the workload `alloc`."""
    return shlex.join([*command(flavour), *map(str, args)])


class Launch(Case):
    def test_exit_code_and_standard_streams_are_the_programs(self):
        r = clrscope("record", "-o", self.path(), "--", "sh", "-c", "cat; echo out; echo err >&2; exit 37", input="in\n")
        self.assertEqual(r.returncode, 37)
        self.assertEqual(r.stdout, "in\nout\n")
        self.assertIn("err\n", r.stderr)

    def test_a_launched_program_is_recorded_from_its_first_allocation(self):
        alloc = os.path.join(harness.WORKLOADS, "alloc", "alloc.dll")
        r = clrscope("record", "-o", self.path(), "--", "dotnet", alloc, "--bytes", "100000000")
        self.assert_ok(r)
        truth = json.loads(r.stdout.splitlines()[1])
        p = report(self.path(), "--by", "type")
        total = p["totals"]
        self.assertLess(abs(total["bytes"] - truth["total_allocated_bytes"]), SIGMAS * sigma(total, "bytes") + 3e6)
        self.assertEqual(loss(p, "unresolved_frames"), 0)

    def test_a_script_s_program_is_recorded_from_its_start(self):
        """It does not wait for clrscope, which is there before anything is compiled."""
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                line = alloc("--bytes", 30000000, "--rate", 20000000, flavour=flavour)
                r = clrscope("record", "-f", "-o", self.path(), "--", "sh", "-c", f"{line}; exit 3")
                self.assertEqual(r.returncode, 3, r.stderr)
                truth = json.loads(r.stdout.splitlines()[1])
                p = report(self.path(), "--by", "stack", "-n", "0")
                total = p["totals"]
                error = sigma(total, "bytes") if total["bytes_low"] is not None else 0.02 / SIGMAS * total["bytes"]
                self.assertLess(abs(total["bytes"] - truth["total_allocated_bytes"]), SIGMAS * error + 3e6)
                methods = {f["method"] for row in p["rows"] for f in row["frames"]}
                self.assertTrue([m for m in methods if m.endswith("Program.Main")], methods)

    def test_a_script_s_program_settles_before_its_requests_are_recorded(self):
        """Sessions of EventSources and a program that starts can wait for each other for ever."""
        line = alloc("--seconds", 4, "--rate", 10000000)
        # The second is killed before that.
        script = f"{line}; {alloc('--seconds', 4)} > {self.path('said')} & p=$!; until grep -q ready {self.path('said')}; do sleep 0.01; done; kill -9 $p; exit 3"
        r = clrscope("record", "--requests", "-o", self.path(), "--", "sh", "-c", script)
        self.assertEqual(r.returncode, 3, r.stderr)
        p = report(self.path())
        if len(p["processes"]) == 1:
            self.assertIn("1 process ended before it could be joined", r.stderr)
        else:
            self.assertEqual(len(p["processes"]), 2)  # on a busy machine
        self.assertGreater(p["totals"]["bytes"], 1e6)

    def test_children_are_recorded_as_processes_of_their_own(self):
        alloc = os.path.join(harness.WORKLOADS, "alloc", "alloc.dll")
        one = f"dotnet {alloc} --bytes 30000000 --rate 50000000 > /dev/null"
        r = clrscope("record", "-o", self.path(), "--", "sh", "-c", f"{one}; {one} & {one}; wait; exit 3")
        self.assertEqual(r.returncode, 3, r.stderr)
        p = report(self.path())
        self.assertEqual(len(p["processes"]), 3)
        self.assertEqual(len({x["pid"] for x in p["processes"]}), 3)

    def test_the_program_goes_on_when_the_time_is_over(self):
        alloc = os.path.join(harness.WORKLOADS, "alloc", "alloc.dll")
        r = clrscope("record", "-d", "1s", "-o", self.path(), "--", "dotnet", alloc, "--seconds", "8", "--rate", "10000000")
        self.assert_ok(r)
        self.assertTrue(json.loads(r.stdout.splitlines()[1])["done"])
        self.assertLess(report(self.path())["duration_s"], 7)

    def test_what_cannot_be_run_is_said(self):
        self.assertEqual(clrscope("record", "-o", self.path(), "--", "/no/such/program").returncode, 127)
        self.assertFalse(os.path.exists(self.path()) and os.path.getsize(self.path()) == 0)
        self.assertEqual(clrscope("record", "-f", "-o", self.path(), "--", "/etc/passwd").returncode, 126)


class Unheard(Case):
    """Programs whose runtime, or whose agent, does not come to clrscope: it is said, with the reason, and no empty capture passes for a recording."""

    def launch(self, *args, code, says, env=None, options=()):
        r = clrscope("record", *options, "-f", "-o", self.path(), "--", *args, env={**os.environ, **(env or {})})
        self.assertEqual(r.returncode, code, r.stderr)
        self.assertIn(says, r.stderr)
        return r

    def script(self, line, **more):
        return self.launch("sh", "-c", f"{line}; exit 0", **more)

    def test_variables_that_switch_diagnostics_off(self):
        """A .NET program is not started; a script may change them."""
        for flavour in FLAVOURS:
            program = [*command(flavour), "--bytes", "2000000"]
            for variable in ("DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics"):
                with self.subTest(f"{flavour} {variable}"):
                    r = self.launch(*program, env={variable: "0"}, code=6, says=f"{variable}=0 stands in the environment")
                    self.assertEqual(r.stdout, "")
                    self.assertFalse(os.path.exists(self.path()))
            for variable in ("DOTNET_EnableDiagnostics_IPC", "COMPlus_EnableDiagnostics_IPC"):
                with self.subTest(f"{flavour} {variable}"):  # before .NET 8 it means nothing
                    r = self.launch(*program, env={variable: "0"}, code=6, says=f"no .NET runtime connected to clrscope: {variable}=0 stands in the environment")
                    self.assertIn(f"note: {variable}=0 stands in the environment", r.stderr)
                    self.assertIn("(.NET 8 and later)", r.stderr)
                    self.assertTrue(json.loads(r.stdout.splitlines()[1])["done"])
            for variable in ("DOTNET_EnableDiagnostics_Debugger", "DOTNET_EnableDiagnostics_Profiler"):
                with self.subTest(f"{flavour} {variable}"):
                    self.launch(*program, env={variable: "0"}, code=0, says="Next: clrscope report")
                    self.assertEqual(len(report(self.path())["processes"]), 1)
        off = {"DOTNET_EnableDiagnostics": "0"}
        self.launch(*command("alloc"), env={"DOTNET_EnableDiagnostics": "1", "COMPlus_EnableDiagnostics": "0"}, options=("-d", "1s"), code=0, says="Next:")
        r = self.script(alloc("--seconds", 6), env=off, code=6, says="nothing was recorded, as no .NET runtime connected to clrscope")
        self.assertIn("note: DOTNET_EnableDiagnostics=0 stands in the environment", r.stderr)
        self.assertIn("has its diagnostics switched off by DOTNET_EnableDiagnostics=0", r.stderr)
        r = self.launch("true", env=off, code=3, says="true is no .NET program")
        self.assertIn("; DOTNET_EnableDiagnostics=0 stands in the environment", r.stderr)
        self.script(f"DOTNET_EnableDiagnostics=1 {alloc('--bytes', 2000000)}", env=off, code=0, says="Next: clrscope report")

    def test_what_a_script_does_is_seen_while_it_runs(self):
        for change, says in (("DOTNET_EnableDiagnostics=0", "has its diagnostics switched off by DOTNET_EnableDiagnostics=0"),
                             ("env -u DOTNET_DiagnosticPorts", "was started without clrscope's port in its environment")):
            with self.subTest(change):
                # Long enough to be seen on a busy machine.
                r = self.script(f"{change} {alloc('--seconds', 6)}", code=6, says=says)
                self.assertRegex(r.stderr, rf"note: process \d+ \(.*\) {says}")

    def test_no_dotnet_program_at_all(self):
        r = self.launch("true", code=3, says="nothing was recorded, as no .NET runtime connected to clrscope: true is no .NET program")
        self.assertNotIn("Next:", r.stderr)
        self.launch("true", options=("-q",), code=3, says="nothing was recorded")
        r = self.launch("sh", "-c", "sleep 3", options=("-d", "1s"), code=3, says="The recording is over; the program goes on")
        self.assertIn("note: nothing was recorded", r.stderr)

    def test_a_dotnet_command_that_starts_no_runtime(self):
        self.launch("dotnet", "--list-runtimes", code=3, says="dotnet ended before a .NET runtime of it had started")
        # The SDK starts programs with an environment of its own.
        r = clrscope("record", "-f", "-o", self.path(), "--", "dotnet", self.path("missing.dll"), env={**os.environ, "DOTNET_EnableDiagnostics": "0"})
        self.assertNotEqual(r.returncode, 0)
        self.assertIn("can be recorded of a .NET program that dotnet runs", r.stderr)

    def test_the_agent_cannot_come(self):
        program = [*command("alloc"), "--bytes", "2000000"]
        long = self.path("long" * 30)
        os.mkdir(long)
        live = {"options": ("--live",)}
        self.launch(*program, env={"DOTNET_EnableDiagnostics_Profiler": "0"}, code=6, says="DOTNET_EnableDiagnostics_Profiler=0 stands in the environment", **live)
        self.launch(*program, env={"TMPDIR": long}, code=6, says="name a shorter folder by TMPDIR", **live)
        # A program of two seconds: what clrscope waits for has not come by then.
        line = alloc("--seconds", 2)
        self.script(line, env={"TMPDIR": long}, code=0, says="name a shorter folder by TMPDIR", **live)
        for change, reason in (("DOTNET_EnableDiagnostics_Profiler=0", "DOTNET_EnableDiagnostics_Profiler=0 stands in its environment"),
                               ("CORECLR_ENABLE_PROFILING=0", "it was started with another environment"),
                               (f"TMPDIR={long}", "is too long for the path of a socket"),
                               (f"TMPDIR={self.path('gone')}", "does not exist"),
                               ("CORECLR_PROFILER_PATH=/no/such/library.so", "it had not answered when the process, or the recording, ended")):
            with self.subTest(change):
                r = self.script(f"{change} {line}", code=0, says="neither allocations nor live objects of process ", **live)
                self.assertIn(reason, r.stderr)

    def test_another_profiler_gives_way_to_the_agent(self):
        other = {"CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": "{846F5F1C-F9AE-4B07-969E-05C26BC060D8}", "CORECLR_PROFILER_PATH_64": "/no/other.so", "CORECLR_PROFILER_PATH_ARM64": "/no/other.so"}
        self.launch(*command("alloc"), "--seconds", "1", env=other, options=("--live",), code=0, says="the program runs without the profiler that its environment names")
        self.assertGreater(report(self.path())["totals"]["bytes"], 0)

    def test_folders_for_sockets(self):
        """clrscope's port is elsewhere; the agent's socket lies where the runtime's would."""
        long, blank = self.path("long" * 30), self.path("with blank")
        os.mkdir(long)
        os.mkdir(blank)
        program = [*command("alloc"), "--bytes", "2000000"]
        for folder in (long, blank, self.path("gone"), os.path.relpath(blank)):
            self.launch(*program, env={"TMPDIR": folder}, code=0, says="Next: clrscope report")
        for folder in (blank, os.path.relpath(blank)):
            self.launch(*program, env={"TMPDIR": folder}, options=("--live",), code=0, says="Next: clrscope report")
            self.assertGreater(report(self.path())["totals"]["bytes"], 0)
        self.launch(*program, env={"TMPDIR": self.path("gone")}, options=("--live",), code=6, says="name another folder by TMPDIR")


class LeftBehind(Case):
    """What a launch leaves running can start .NET programs at any time, with the environment that it inherited."""

    def setUp(self):
        super().setUp()
        # Where the port is, and the agent of --live.
        self.tmp = self.path("tmp")
        os.mkdir(self.tmp)
        self.env = {**os.environ, "TMPDIR": self.tmp, "XDG_RUNTIME_DIR": self.tmp}

    def late(self, name, flavour="alloc", start="", work=("--bytes", 2000000)):
        """A script's line: starts a program once the test has made the file `go`, and writes its output, and its exit code, beside it.
        `start`: what stands before its command line."""
        line = alloc(*work, flavour=flavour)
        return (f"while [ -d {self.dir} ] && [ ! -e {self.path('go')} ]; do sleep 0.05; done; "
                f"[ ! -d {self.dir} ] || {{ {start} {line} > {self.path(name)} 2>&1; echo $? > {self.path(name)}.code; }}")

    def let_go(self):
        open(self.path("go"), "w", encoding="utf-8").close()

    def check_ends(self, name):
        """The program that `late` starts has done its work, and said nothing else."""
        code = self.path(name) + ".code"
        wait_until(lambda: os.path.exists(code) and os.path.getsize(code) > 0, 60, f"{name}, which starts after the launch, to end")
        with open(code, encoding="utf-8") as file:
            self.assertEqual(file.read().strip(), "0", name)
        with open(self.path(name), encoding="utf-8") as file:
            ready, truth = file.read().splitlines()
        self.assertIn("ready", json.loads(ready))
        self.assertTrue(json.loads(truth)["done"])

    def script(self, *lines):
        path = self.path("script.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(["#!/bin/sh", *lines]) + "\n")
        os.chmod(path, 0o700)
        return path

    def children(self, pid, name):
        """The children of that process that are called so."""
        found = []
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path, encoding="utf-8") as file:
                    stat = file.read()
            except OSError:
                continue
            comm, fields = stat[stat.index("(") + 1:stat.rindex(")")], stat[stat.rindex(")") + 2:].split()
            if int(fields[1]) == pid and comm == name and fields[0] != "Z":
                found.append(int(path.split("/")[2]))
        return found

    def check_nothing_stays(self):
        self.assertEqual([name for name in os.listdir(self.tmp) if name.startswith("clrscope")], [])

    def test_programs_that_start_after_the_recording_has_ended(self):
        """Each way in which a script can leave a process behind; each runtime. None of them was .NET when clrscope ended."""
        in_python = ("import os, subprocess, sys\n"
                     "if os.fork(): os._exit(0)\n"
                     "os.setsid()\n"
                     "if os.fork(): os._exit(0)\n"
                     "subprocess.run(['sh', '-c', sys.argv[1]])\n")
        script = self.script(
            "exec > /dev/null 2>&1",  # who stays must not hold the test's pipes
            f"({self.late('background')}) &",
            f"(setsid nohup sh -c {shlex.quote(self.late('session', 'alloc-net8'))} &)",
            f"{sys.executable} -c {shlex.quote(in_python)} {shlex.quote(self.late('twice', 'alloc-net9'))}",
            # One that has no environment, and gives its program what another has kept of it.
            f"export -p > {self.path('kept')}",
            f"env -i sh -c {shlex.quote(self.late('kept-environment', start='. ' + self.path('kept') + ';'))} &",
            f"env -i PATH=\"$PATH\" HOME=\"$HOME\" sh -c {shlex.quote(self.late('no-environment'))} &",
            f"exec {alloc('--bytes', 2000000)}")
        r = clrscope("record", "-o", self.path(), "--", script, env=self.env, stdin=subprocess.DEVNULL)
        self.assert_ok(r)
        self.assertEqual(len(report(self.path())["processes"]), 1)
        self.check_nothing_stays()
        self.let_go()
        for name in ("background", "session", "twice", "kept-environment", "no-environment"):
            self.check_ends(name)
        self.check_nothing_stays()

    def test_programs_that_native_code_has_left_behind(self):
        """A .NET program waits at its start, and native code in it hands on the environment that it had there."""
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                script = self.script("exec > /dev/null 2>&1", f"({self.late('later')}) &")
                r = clrscope("record", "-f", "-o", self.path(), "--", *command(flavour), "--bytes", "2000000", "--system", script, env=self.env, stdin=subprocess.DEVNULL)
                self.assert_ok(r)
                self.assertEqual(len(report(self.path())["processes"]), 1)
                self.let_go()
                self.check_ends("later")
                os.remove(self.path("later.code"))
                os.remove(self.path("go"))

    def test_native_code_starts_a_program_while_it_is_recorded(self):
        r = clrscope("record", "-o", self.path(), "--", *command("alloc"), "--bytes", "2000000", "--system", alloc("--bytes", 30000000, "--rate", 50000000), env=self.env)
        self.assert_ok(r)
        self.assertEqual(len(report(self.path())["processes"]), 2)

    def test_programs_that_start_after_a_recording_with_an_agent(self):
        """They find no agent at the path that they have inherited."""
        script = self.script("exec > /dev/null 2>&1", f"({self.late('later')}) &", f"({self.late('later8', 'alloc-net8')}) &", f"({self.late('later9', 'alloc-net9')}) &",
                             f"exec {alloc('--bytes', 2000000)}")
        r = clrscope("record", "--live", "-o", self.path(), "--", script, env=self.env, stdin=subprocess.DEVNULL)
        self.assert_ok(r)
        self.check_nothing_stays()
        self.let_go()
        for name in ("later", "later8", "later9"):
            self.check_ends(name)
        self.check_nothing_stays()

    def test_programs_that_start_after_the_time_is_over(self):
        """clrscope waits for the script's exit code by then, and records nothing; nor does it take a processor for that."""
        recording = start_clrscope("record", "-d", "0.5s", "-o", self.path(), "--", self.script(self.late("later"), "exit 7"), env=self.env)
        line = recording.stderr.readline()
        while "recording is over" not in line:
            self.assertTrue(line, "it ended before its time was over")
            line = recording.stderr.readline()
        before = cpu_clock_ns(recording.pid)
        time.sleep(2)
        self.assertLess(cpu_clock_ns(recording.pid) - before, 0.5e9)
        self.let_go()
        self.check_ends("later")
        self.assertEqual(recording.wait(timeout=60), 7)
        recording.communicate()

    def test_a_script_goes_on_without_clrscope(self):
        """Killed, it leaves nothing that has to stand by."""
        for flavour in FLAVOURS:
            name = f"later-{flavour}"
            recording = start_clrscope("record", "-f", "-o", self.path(), "--", self.script(f"touch {self.path('begun')}", self.late(name, flavour)), env=self.env)
            wait_until(lambda: os.path.exists(self.path("begun")), 60, "the script to begin")
            self.assertEqual(self.children(recording.pid, "clrscope-guard"), [])
            recording.kill()
            recording.wait(timeout=60)
            self.let_go()
            self.check_ends(name)
            recording.communicate(timeout=60)
            os.remove(self.path("go"))
            os.remove(self.path("begun"))

    def start_held(self, *args):
        """Launches a .NET program itself, which stands still before its runtime starts, until let_host_go(). The pids of the guardian and the program."""
        fifo = self.path("trace")
        if not os.path.exists(fifo):
            os.mkfifo(fifo)
        # The host opens this file first, and somebody has to read from it.
        env = {**self.env, "COREHOST_TRACE": "1", "COREHOST_TRACEFILE": fifo}
        self.recording = start_clrscope("record", "-f", "-o", self.path(), "--", *command("alloc"), *map(str, args), env=env, stdin=subprocess.PIPE)
        self.addCleanup(self.recording.kill)
        host = os.path.basename(command("alloc")[0])
        wait_until(lambda: self.children(self.recording.pid, host) and self.children(self.recording.pid, "clrscope-guard"), 60, "the program to begin")
        (guardian,) = self.children(self.recording.pid, "clrscope-guard")
        (program,) = self.children(self.recording.pid, host)
        self.guardian, program_handle = os.pidfd_open(guardian), os.pidfd_open(program)
        for handle in (self.guardian, program_handle):
            self.addCleanup(os.close, handle)
            self.addCleanup(self.end, handle)
        return guardian, program

    def end(self, handle):
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def let_host_go(self):
        # pylint: disable=consider-using-with
        reader = subprocess.Popen(["cat", self.path("trace")], stdout=subprocess.DEVNULL)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)

    def check_program_ends(self):
        """With what it prints at its end; what clrscope said."""
        out, said = self.recording.communicate(timeout=60)
        self.assertTrue(json.loads(out.splitlines()[-1])["done"])
        return said

    def gone(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    def test_a_launched_program_whose_clrscope_is_killed_before_it_dials(self):
        """The guardian resumes it, and goes with it."""
        guardian, program = self.start_held("--bytes", 2000000, "--hold-on-stdin")
        self.recording.kill()
        self.let_host_go()
        wait_until(lambda: self.gone(guardian), 60, "the guardian to end")
        self.assertFalse(self.gone(program))
        self.check_nothing_stays()
        self.check_program_ends()

    def test_clrscope_and_then_the_guardian_are_killed(self):
        self.start_held("--seconds", 2, "--rate", 1000000)
        self.recording.kill()
        self.let_host_go()
        self.assertIn("ready", json.loads(self.recording.stdout.readline()))
        self.end(self.guardian)
        self.check_program_ends()

    def test_the_guardian_and_then_clrscope_are_killed(self):
        self.start_held("--seconds", 2, "--rate", 1000000)
        self.end(self.guardian)
        self.let_host_go()
        self.assertIn("ready", json.loads(self.recording.stdout.readline()))
        self.recording.kill()
        self.check_program_ends()

    def test_a_recording_that_is_given_up_before_the_program_dials(self):
        guardian, _ = self.start_held("--bytes", 2000000)
        def has_ended():
            self.recording.send_signal(signal.SIGINT)
            return self.recording.poll() is not None

        wait_until(has_ended, 60, "clrscope to give up")
        self.let_host_go()
        self.check_program_ends()
        wait_until(lambda: self.gone(guardian), 60, "the guardian to end")
        self.check_nothing_stays()

    def test_a_guardian_goes_when_the_program_has_been_resumed(self):
        guardian, _ = self.start_held("--seconds", 1, "--rate", 1000000)
        self.let_host_go()
        self.assertIn("ready", json.loads(self.recording.stdout.readline()))
        wait_until(lambda: self.gone(guardian), 60, "the guardian to end")
        self.check_program_ends()
        self.assertEqual(self.recording.returncode, 0)
        self.check_nothing_stays()

    def remove_port(self):
        """As a cleaner of /tmp does."""
        (folder,) = glob.glob(os.path.join(self.tmp, "clrscope-*"))
        os.rename(folder, self.path("removed"))
        shutil.rmtree(self.path("removed"))

    def test_a_port_that_is_removed_before_the_program_dials(self):
        self.start_held("--bytes", 30000000)
        self.remove_port()
        self.let_host_go()
        self.check_program_ends()
        self.assertEqual(self.recording.returncode, 0)
        p = report(self.path())
        self.assertLess(abs(p["totals"]["bytes"] - 30e6), SIGMAS * sigma(p["totals"], "bytes") + 3e6)
        self.check_nothing_stays()

    def test_a_port_that_is_removed_and_a_clrscope_that_is_killed(self):
        self.start_held("--bytes", 2000000)
        self.recording.kill()
        self.remove_port()
        self.let_host_go()
        self.check_program_ends()

    def test_a_port_that_is_removed_before_a_script_starts_its_programs(self):
        recording = start_clrscope("record", "-o", self.path(), "--", self.script(f"touch {self.path('begun')}", self.late("later")), env=self.env)
        wait_until(lambda: os.path.exists(self.path("begun")), 60, "the script to begin")
        self.remove_port()
        wait_until(lambda: glob.glob(os.path.join(self.tmp, "clrscope-*", "port.sock")), 60, "another port")
        self.let_go()
        _, said = recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 0, said)
        self.check_ends("later")
        self.assertEqual(len(report(self.path())["processes"]), 1)
        self.check_nothing_stays()

    @unittest.skipUnless(os.geteuid() == 0, "another user's program takes root")
    def test_a_script_s_program_that_cannot_reach_the_port(self):
        """As another user, and with another /tmp: it runs, unrecorded."""
        for start, why in (("setpriv --reuid=65534 --clear-groups", "runs as user 65534, who may not dial clrscope's port"),
                           ("unshare --mount sh -c 'mount -t tmpfs none {tmp} && exec \"$@\"' sh", "has another file system, in which clrscope's port does not lie")):
            with self.subTest(start):
                # Long enough to be seen on a busy machine.
                script = self.script(self.late("later", start=start.format(tmp=self.tmp), work=("--seconds", 6)))
                self.let_go()
                r = clrscope("record", "-f", "-o", self.path(), "--", script, env=self.env, stdin=subprocess.DEVNULL)
                self.assertEqual(r.returncode, 6, r.stderr)
                self.assertRegex(r.stderr, "as no .NET runtime connected to clrscope: .*" + why)
                self.check_ends("later")
                self.assertEqual(report(self.path())["processes"], [])
                os.remove(self.path("later.code"))
