# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: starting workloads, running clrscope, counting results."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CLRSCOPE = ""
WORKLOADS = ""


class Workload:
    """A program that counts what it did and prints that at its end; `alloc`, if nothing else is said."""

    def __init__(self, *args, flavour="alloc", env=None):
        folder = os.path.join(WORKLOADS, flavour)
        program, _, runtime = flavour.partition("-")
        native = os.path.join(folder, program)
        command = [native] if runtime else ["dotnet", native + ".dll"]
        self.process = subprocess.Popen(
            command + list(args), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(env or {})})
        line = self.process.stdout.readline()
        self.pid = json.loads(line)["ready"]

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def truth(self):
        """Its ledger; blocks until it has printed it."""
        return json.loads(self.process.stdout.readline())

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


def report(path, *args):
    result = clrscope("report", path, "--json", *args)
    return json.loads(result.stdout)


def sockets(pid):
    """How many unix sockets a process has open that are connected to somebody."""
    count = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            count += os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:")
        except OSError:
            pass
    return count


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


def loss(profile, name):
    return sum(entry["count"] for entry in profile["losses"] if entry["name"] == name)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="clrscope-e2e-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name="x.clrscope"):
        return os.path.join(self.dir, name)

    def assert_ok(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)


def main(module):
    # Of a shell's background job SIGINT is ignored, and a .NET program that inherits that keeps it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    global CLRSCOPE, WORKLOADS
    args = sys.argv[1:]
    while args and args[0].startswith("--"):
        name, value = args[0], args[1]
        args = args[2:]
        if name == "--clrscope":
            CLRSCOPE = os.path.abspath(value)
        elif name == "--workloads":
            WORKLOADS = os.path.abspath(value)
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(args, sys.modules[module]) if args else loader.loadTestsFromModule(sys.modules[module])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"passed={result.testsRun - failed - len(result.skipped)} failed={failed} skipped={len(result.skipped)}")
    sys.exit(1 if failed else 0)
