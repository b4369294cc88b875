# SPDX-License-Identifier: Apache-2.0
"""Real programs for the soaks: the C# compiler, csharpier, and an ASP.NET Core service."""
import glob
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "build/tools")


def dotnet_folder():
    return os.path.dirname(os.path.realpath(shutil.which("dotnet")))


def compiler(name):
    """csc.dll or VBCSCompiler.dll of the newest SDK."""
    return sorted(glob.glob(os.path.join(dotnet_folder(), "sdk/*/Roslyn/bincore", name)))[-1]


def csharpier():
    """The tool's path, installed from NuGet on its first use; None where that is not possible."""
    path = os.path.join(TOOLS, "csharpier")
    if not os.path.exists(path):
        subprocess.run(["dotnet", "tool", "install", "--tool-path", TOOLS, "csharpier"], capture_output=True, timeout=300)
    return path if os.path.exists(path) else None


def shop():
    """The folder of tests/soak/shop, built once; None where Entity Framework cannot be had from NuGet."""
    folder = os.path.join(TOOLS, "shop")
    if os.path.exists(os.path.join(folder, ".built")):
        return folder
    shutil.copytree(os.path.join(ROOT, "tests/soak/shop"), folder, dirs_exist_ok=True)
    # What only templates and solution files need is not on every mirror of NuGet: an empty package stands for it.
    feed = os.path.join(folder, "feed")
    os.makedirs(feed, exist_ok=True)
    for name, version in (("Mono.TextTemplating", "3.0.0"), ("Microsoft.VisualStudio.SolutionPersistence", "1.0.52")):
        with zipfile.ZipFile(f"{feed}/{name.lower()}.{version}.nupkg", "w") as package:
            package.writestr(f"{name}.nuspec", '<?xml version="1.0"?><package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">'
                             f"<metadata><id>{name}</id><version>{version}</version><authors>-</authors>"
                             "<description>Stands for a package that is not there.</description></metadata></package>")
    for extra in ([], [f"-p:RestoreAdditionalProjectSources={feed}"]):
        built = subprocess.run(["dotnet", "build", "-v", "q", "-nodeReuse:false", "-p:UseSharedCompilation=false", *extra], cwd=folder,
                               capture_output=True, timeout=300)
        if built.returncode == 0:
            open(os.path.join(folder, ".built"), "w", encoding="utf-8").close()
            return folder
    return None


def corpus(folder, files):
    """C# sources; the response file that compiles them."""
    out = subprocess.run([sys.executable, os.path.join(ROOT, "bench/corpus.py"), folder, str(files)], capture_output=True,
                         text=True, check=True)
    return out.stdout.split()[-1]


def digest(paths):
    sums = hashlib.sha256()
    for path in sorted(paths):
        with open(path, "rb") as file:
            sums.update(file.read())
    return sums.hexdigest()


def wait_for_port(port, seconds=120):
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


class Busy:
    """Calls `once` over and over until it is stopped. What it raises is raised again by stop()."""

    def __init__(self, once):
        self.rounds, self.error, self.going = 0, None, True
        self.once = once
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while self.going:
                self.once()
                self.rounds += 1
        except Exception as error:  # noqa: BLE001
            self.error = error

    def stop(self):
        self.going = False
        self.thread.join(120)
        if self.error is not None:
            raise self.error


class CompilerServer:
    """The compiler's server, that builds the same sources again and again."""

    name = "csc"

    def __init__(self, folder, env):
        response = corpus(os.path.join(folder, "sources"), 3)
        pipe = f"clrscope-soak-{os.getpid()}"
        self.process = subprocess.Popen(["dotnet", compiler("VBCSCompiler.dll"), f"-pipename:{pipe}"], env=env,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(3)
        command = ["dotnet", compiler("csc.dll"), f"-shared:{pipe}", f"@{response}", f"-out:{folder}/out.dll"]

        def build():
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                raise RuntimeError(done.stdout[-500:])

        self.busy = Busy(build)

    pid = property(lambda self: self.process.pid)

    def stop(self):
        try:
            self.busy.stop()
        finally:
            self.process.kill()
            self.process.wait()


class FormatterServer:
    """csharpier's server, that formats the same source again and again."""

    name = "csharpier"

    def __init__(self, folder, env):
        corpus(os.path.join(folder, "sources"), 1)
        with open(os.path.join(folder, "sources", "g0.cs"), encoding="utf-8") as file:
            body = json.dumps({"fileName": os.path.join(folder, "g0.cs"), "fileContents": file.read()}).encode()
        tool = csharpier()
        if tool is None:
            raise FileNotFoundError("csharpier could not be installed")
        dll = sorted(glob.glob(os.path.join(TOOLS, ".store/csharpier/*/csharpier/*/tools/net10.0/any/[cC][sS]harpier.dll")))[-1]
        port = 28765
        self.process = subprocess.Popen(["dotnet", dll, "server", "--server-port", str(port)], env=env, cwd=folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_port(port)

        def ask():
            request = urllib.request.Request(f"http://127.0.0.1:{port}/format", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                if not json.load(answer).get("formattedFile"):
                    raise RuntimeError("csharpier did not format")

        self.busy = Busy(ask)

    pid = property(lambda self: self.process.pid)
    stop = CompilerServer.stop


class WebServer:
    """ASP.NET Core under wrk, or under a few threads of this script where there is no wrk."""

    name = "aspnet"
    # Sessions that expire, database connections that are borrowed, texts that the least used of make room for.
    PATHS = ("/orders/20", "/text/1000", "/buffer/100000", "/steady")

    def __init__(self, folder, env):
        port = "28766"
        dll = os.path.join(ROOT, "build/workloads/web/web.dll")
        self.process = subprocess.Popen(["dotnet", dll, "--urls", f"http://127.0.0.1:{port}"], env=env, stdout=subprocess.PIPE,
                                        text=True)
        self.process.stdout.readline()
        script = os.path.join(folder, "paths.lua")
        paths = ",".join(f'"{p}"' for p in self.PATHS)
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"local p = {{{paths}}}\nlocal i = 0\nrequest = function() i = i + 1; return wrk.format('GET', p[i % #p + 1]) end\n")
        url = f"http://127.0.0.1:{port}"

        def load():
            if shutil.which("wrk"):
                subprocess.run(["wrk", "-t1", "-c8", "-d5s", "-s", script, url], capture_output=True, check=True)
            else:
                for path in self.PATHS * 100:
                    urllib.request.urlopen(url + path, timeout=30).read()

        self.busy = Busy(load)

    pid = property(lambda self: self.process.pid)

    def stop(self):
        CompilerServer.stop(self)
        self.process.stdout.close()


STEADY = (CompilerServer, FormatterServer, WebServer)
