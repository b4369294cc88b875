# SPDX-License-Identifier: Apache-2.0
"""Commands that leave .NET programs running when they end, as `dotnet build` does: the recording ends, and they go on unharmed."""
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import Case, clrscope, command, open_sessions, report, start_clrscope, status, wait_until

LEFT = "the command has ended; what it left running is no longer recorded: "


class LeftRunning(Case):
    def setUp(self):
        super().setUp()
        # Programs that are left have their standard input from it, and end with the test.
        os.mkfifo(self.path("words"))
        self.words = os.open(self.path("words"), os.O_RDWR)
        self.addCleanup(self.hang_up)

    def hang_up(self):
        if self.words is not None:
            os.close(self.words)
        self.words = None

    def server(self, name, flavour="alloc", *args):
        """A command line of sh: a program that works once it reads a line, and then ends; its output goes to `name`."""
        line = shlex.join([*command(flavour), "--bytes", "2000000", "--start-on-stdin", *args])
        return f"{line} < {self.path('words')} > {self.path(name)} 2>&1"

    def ready(self, name, word="ready"):
        """A command of sh that ends once that program stands ready, or is done."""
        return f"until grep -q {word} {self.path(name)}; do sleep 0.01; done 2> /dev/null"

    def said(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return [json.loads(line) for line in file if line.endswith("\n")]
        except OSError:
            return []

    def pid(self, name):
        return self.said(name)[0]["ready"]

    def check_works(self, name):
        """The program that was left runs, is not stopped or recorded, and does its work."""
        self.assertEqual(open_sessions(self.pid(name)), 0)
        os.write(self.words, b"go\n")
        wait_until(lambda: len(self.said(name)) == 2, 60, f"{name} to do its work")
        self.assertTrue(self.said(name)[1]["done"])

    def check_left(self, recording, names):
        self.assertIn(LEFT, recording.stderr)
        self.assertIn("--wait-all", recording.stderr)
        self.assertEqual(sorted(map(int, re.findall(r"\d+", recording.stderr.partition(LEFT)[2].partition("\n")[0]))), sorted(map(self.pid, names)))

    def test_a_script_that_starts_a_server(self):
        for flavour, option in (("alloc", "-q"), ("alloc-net8", "--live"), ("alloc-net9", "--requests"), ("alloc", "--live"), ("alloc", "--measures=all")):
            name = f"{flavour}{option}"
            with self.subTest(name):
                r = clrscope("record", "-f", option, "-o", self.path(), "--", "sh", "-c", f"{self.server(name, flavour)} & {self.ready(name)}; exit 3")
                self.assertEqual(r.returncode, 3, r.stderr)
                if option == "-q":
                    self.assertEqual(r.stderr, "")
                else:
                    self.check_left(r, [name])
                self.assertEqual([p["pid"] for p in report(self.path())["processes"]], [self.pid(name)])
                self.assertIsNone(status(self.pid(name)))
                self.check_works(name)

    def test_a_launcher_whose_program_becomes_a_daemon(self):
        """It has left the process tree of the command."""
        daemon = ("import os, sys\n"
                  "if os.fork(): os.execvp('sh', ['sh', '-c', sys.argv[2]])\n"
                  "os.setsid()\n"
                  "if os.fork(): os._exit(0)\n"
                  "os.execvp('sh', ['sh', '-c', sys.argv[1]])\n")
        r = clrscope("record", "-o", self.path(), "--", sys.executable, "-c", daemon, "exec " + self.server("daemon"), self.ready("daemon"))
        self.assert_ok(r)
        self.check_left(r, ["daemon"])
        self.check_works("daemon")

    def test_children_that_end_soon_are_waited_for(self):
        r = clrscope("record", "-o", self.path(), "--", "sh", "-c", f"{self.server('child')} & {self.ready('child')}; echo go > {self.path('words')}; {self.ready('child', 'done')}; exit 3")
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertNotIn(LEFT, r.stderr)
        self.assertTrue(self.said("child")[1]["done"])
        self.assertEqual([p["pid"] for p in report(self.path())["processes"]], [self.pid("child")])

    def test_wait_all(self):
        """Also for a process that starts a .NET program only later."""
        later = f"while [ ! -e {self.path('go')} ]; do sleep 0.05; done; {self.server('second')}"
        script = f"{self.server('first')} & ({later}) > {self.path('log')} 2>&1 & exit 4"
        recording = start_clrscope("record", "--wait-all", "-o", self.path(), "--", "sh", "-c", script, stdin=subprocess.DEVNULL)
        self.addCleanup(recording.kill)
        wait_until(lambda: self.said("first"), 60, "the first program is ready")
        line = recording.stderr.readline()
        while "the recording goes on until these have" not in line:
            self.assertTrue(line, "it ended with the command")
            line = recording.stderr.readline()
        self.assertIn(f"process {self.pid('first')}", line)
        os.write(self.words, b"go\n")
        wait_until(lambda: len(self.said("first")) == 2, 60, "the first program to do its work")
        with open(self.path("go"), "w", encoding="utf-8"):
            pass
        wait_until(lambda: self.said("second"), 60, "the second program is ready")
        self.assertIsNone(recording.poll())
        os.write(self.words, b"go\n")
        _, words = recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 4, words)
        self.assertNotIn(LEFT, words)
        self.assertTrue(self.said("second")[1]["done"])
        self.assertEqual(sorted(p["pid"] for p in report(self.path())["processes"]), sorted(map(self.pid, ("first", "second"))))

    def test_ctrl_c_ends_what_wait_all_began(self):
        recording = start_clrscope("record", "--wait-all", "-o", self.path(), "--", "sh", "-c", f"{self.server('server')} & exit 4", stdin=subprocess.DEVNULL)
        self.addCleanup(recording.kill)
        while "the recording goes on until these have" not in recording.stderr.readline():
            self.assertIsNone(recording.poll())
        recording.send_signal(signal.SIGINT)
        recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 4)
        self.check_works("server")

    def test_wait_all_is_for_commands(self):
        r = clrscope("record", "--wait-all", "--all")
        self.assertEqual(r.returncode, 2)
        self.assertIn("--wait-all is for a program to launch", r.stderr)

    def test_a_background_program_with_its_diagnostics_switched_off(self):
        """It is found although its parent has ended."""
        r = clrscope("record", "-o", self.path(), "--", "sh", "-c", f"DOTNET_EnableDiagnostics=0 {self.server('off')} & {self.ready('off')}; exit 0")
        self.assertEqual(r.returncode, 6, r.stderr)
        self.assertIn(f"process {self.pid('off')} (dotnet) has its diagnostics switched off", r.stderr)
        os.write(self.words, b"go\n")

    def test_nothing_was_recorded_of_what_goes_on(self):
        r = clrscope("record", "-o", self.path(), "--", "sh", "-c", f"cat < {self.path('words')} > /dev/null 2>&1 & exit 0")
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertRegex(r.stderr, r"process \d+ of it had not ended, for which --wait-all waits")
        os.write(self.words, b"\n")


class DotnetBuild(Case):
    """The compiler's server and MSBuild's nodes stay for later builds, 10 to 15 minutes."""

    def setUp(self):
        super().setUp()
        if not subprocess.run(["dotnet", "--list-sdks"], capture_output=True, text=True, check=False).stdout:
            self.skipTest("no SDK of .NET")
        # Its path is short, as the servers' sockets lie in it.
        temporary = tempfile.mkdtemp(prefix="b", dir="/tmp")
        self.addCleanup(shutil.rmtree, temporary, ignore_errors=True)
        os.mkdir(self.path("home"))
        self.env = {**os.environ, "HOME": self.path("home"), "DOTNET_CLI_HOME": self.path("home"), "TMPDIR": temporary, "DOTNET_NOLOGO": "1",
                    "DOTNET_CLI_TELEMETRY_OPTOUT": "1"}
        self.mark = f"TMPDIR={temporary}\0".encode()
        self.addCleanup(self.end_servers)
        for name in ("MSBUILDDISABLENODEREUSE", "UseSharedCompilation", "DOTNET_CLI_USE_MSBUILD_SERVER"):
            self.env.pop(name, None)
        major = subprocess.run(["dotnet", "--version"], capture_output=True, text=True, check=True).stdout.split(".")[0]
        self.write("Directory.Build.props", "<Project><PropertyGroup>"
                   f"<TargetFramework>net{major}.0</TargetFramework><OutputType>Exe</OutputType><UseAppHost>false</UseAppHost>"
                   "</PropertyGroup></Project>")
        self.write("nuget.config", "<configuration><packageSources><clear/></packageSources></configuration>")
        for name in ("one", "two"):
            self.write(f"{name}/{name}.csproj", '<Project Sdk="Microsoft.NET.Sdk"/>')
            self.write(f"{name}/Program.cs", f'System.Console.WriteLine("first {name}");')
        # Two at a time: one of them in a node.
        self.write("both.proj", '<Project DefaultTargets="Build"><ItemGroup><P Include="one/one.csproj;two/two.csproj"/></ItemGroup>'
                   '<Target Name="Restore"><MSBuild Projects="@(P)" Targets="Restore"/></Target>'
                   '<Target Name="Build"><MSBuild Projects="@(P)" Targets="Build" BuildInParallel="true"/></Target></Project>')

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def pids(self):
        """Of all that this test's builds have started, and that runs."""
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(path, "rb") as file:
                    if self.mark in file.read():
                        found.append(int(path.split("/")[2]))
            except OSError:
                pass  # it has ended
        return found

    def end_servers(self):
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended since

    def record(self, *args, code):
        r = clrscope("record", "-f", "-o", self.path(), "--", "dotnet", *args, timeout=240, env=self.env, cwd=self.dir, stdin=subprocess.DEVNULL)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        return r

    def servers(self):
        """Of this test's builds: pid by name."""
        pids = self.pids()
        listed = json.loads(clrscope("ps", "--json").stdout or '{"processes": []}')["processes"]
        return {p["name"]: p["pid"] for p in listed if p["pid"] in pids}

    def test_builds_end_and_their_servers_go_on(self):
        r = self.record("build", "-m:2", "both.proj", code=0)
        self.assertIn("Build succeeded", r.stdout)
        servers = self.servers()
        self.assertEqual(sorted(servers), ["MSBuild", "VBCSCompiler"], r.stdout + r.stderr)
        self.assertIn(f"{LEFT}MSBuild (process {servers['MSBuild']}), VBCSCompiler (process {servers['VBCSCompiler']}); --wait-all", r.stderr)
        recorded = {p["pid"]: p for p in report(self.path())["processes"]}
        # Both nodes may start a compiler's server; the second one ends at once.
        self.assertGreaterEqual(len(recorded), 3)
        for pid in servers.values():
            self.assertIn(pid, recorded)
            self.assertEqual(open_sessions(pid), 0)
        # A later build needs them, and starts no others.
        for name in ("one", "two"):
            self.write(f"{name}/Program.cs", f'System.Console.WriteLine("second {name}");')
        r = self.record("build", "-m:2", "both.proj", code=0)
        self.assertIn("Build succeeded", r.stdout)
        self.assertNotIn(LEFT, r.stderr)
        self.assertEqual(self.servers(), servers)
        self.assertEqual(len(report(self.path())["processes"]), 1)
        for name in ("one", "two"):
            r = self.record("run", "--no-build", "--project", name, code=0)
            self.assertEqual(r.stdout, f"second {name}\n")
        self.write("one/Program.cs", "This does not compile.")
        r = self.record("build", "-m:2", "both.proj", code=1)
        self.assertIn("error CS", r.stdout)
        ended = subprocess.run(["dotnet", "build-server", "shutdown"], env=self.env, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        wait_until(lambda: "VBCSCompiler" not in self.servers(), 60, "the compiler's server to end")
