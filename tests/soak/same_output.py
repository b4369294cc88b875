#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with the agent from their start must do what they do without it.

usage: same_output.py CLRSCOPE [NAME]...
csc, csharpier, ASP.NET Core and dotnet-ef on the installed runtime, `alloc` on .NET 8 and 9 too; each under workstation and
server GC. Compared are the exit code and what the program wrote. The agent must have spooled samples, too."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import real_programs
from real_programs import ROOT, TOOLS


def run(command, env, **kwargs):
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=400, **kwargs)
    return done.returncode, done.stdout


def csc(folder, env):
    response = real_programs.corpus(os.path.join(folder, "sources"), 5)
    out = os.path.join(folder, "out.dll")
    result = run(["dotnet", real_programs.compiler("csc.dll"), f"@{response}", "-deterministic+", f"-pathmap:{folder}=/x", f"-out:{out}"], env)
    return result[0], real_programs.digest([out])


def csharpier(folder, env):
    if real_programs.csharpier() is None:
        return None
    sources = os.path.join(folder, "sources")
    real_programs.corpus(sources, 3)
    dll = sorted(glob.glob(os.path.join(TOOLS, ".store/csharpier/*/csharpier/*/tools/net10.0/any/[cC][sS]harpier.dll")))[-1]
    code, _ = run(["dotnet", dll, "format", "--no-cache", sources], env)
    return code, real_programs.digest(glob.glob(sources + "/*.cs"))


def aspnet(folder, env):
    command = ["dotnet", os.path.join(ROOT, "build/workloads/web/web.dll"), "--urls", "http://127.0.0.1:28767"]
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    url = json.loads(process.stdout.readline())["url"]
    if shutil.which("wrk"):
        told = subprocess.run(["wrk", "-t1", "-c8", "-d5s", url + "/orders/20"], capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in told or "Socket errors" in told:
            raise RuntimeError(told)
    answers = [urllib.request.urlopen(url + path, timeout=30).read() for path in ("/orders/20", "/text/1000", "/buffer/100000")]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    return process.returncode, answers


def dotnet_ef(folder, env):
    tool = os.path.join(TOOLS, "dotnet-ef")
    if not os.path.exists(tool):
        subprocess.run(["dotnet", "tool", "install", "--tool-path", TOOLS, "dotnet-ef", "--version", "10.0.*"], capture_output=True,
                       timeout=300)
    project = real_programs.shop()
    if not os.path.exists(tool) or project is None:
        return None
    code, told = 0, []
    # The model as SQL, and what the context is: both load the program and its model.
    for verb in (["dbcontext", "script"], ["dbcontext", "info"]):
        result = run([tool, *verb, "--no-build"], env, cwd=project)
        code |= result[0]
        told.append([line for line in result[1].splitlines() if "warning" not in line])
    if not any("CREATE TABLE" in line for line in told[0]):
        raise RuntimeError(f"dotnet-ef wrote no SQL: {told}")
    return code, told


def alloc(flavour):
    def once(folder, env):
        program = os.path.join(ROOT, "build/workloads", flavour, "alloc")
        if not os.path.exists(program):
            return None
        code, out = run([program, "--mode", "types", "--bytes", "5e8", "--rate", "max", "--seconds", "100"], env)
        told = json.loads(out.splitlines()[-1])
        return code, [(t["type"], t["objects"], t["bytes"]) for t in told["types"]]
    return once


PROGRAMS = {"csc": csc, "csharpier": csharpier, "aspnet": aspnet, "dotnet-ef": dotnet_ef, "alloc": alloc("alloc"),
            "alloc-net9": alloc("alloc-net9"), "alloc-net8": alloc("alloc-net8")}


def agent_variables(clrscope, folder):
    """What `clrscope env` prints, its library put below `folder`."""
    told = subprocess.run([clrscope, "env", "--every", "2s", "-o", f"{folder}/spool/%n-%p-%t.pb"], capture_output=True, text=True,
                          check=True, env={**os.environ, "XDG_CACHE_HOME": folder})
    lines = (line[len("export "):].split("=", 1) for line in told.stdout.splitlines() if line.startswith("export "))
    return {name: value.strip("'") for name, value in lines}


def main():
    clrscope, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    bad = 0
    for name, program in PROGRAMS.items():
        if names and name not in names:
            continue
        for server in ("0", "1"):
            results, spooled, took = [], 0, []
            for with_agent in (False, True):
                with tempfile.TemporaryDirectory(prefix="clrscope-soak-") as folder:
                    env = {**os.environ, "TMPDIR": folder, "DOTNET_gcServer": server}
                    if with_agent:
                        env |= agent_variables(clrscope, folder)
                    work = os.path.join(folder, "work")
                    os.mkdir(work)
                    start = time.monotonic()
                    results.append(program(work, env))
                    took.append(time.monotonic() - start)
                    spooled = len([f for f in glob.glob(f"{folder}/spool/*.pb") if "gccpu" not in f])
            what = f"{name}, {'server' if server == '1' else 'workstation'} GC"
            if results[0] is None:
                print(f"SKIPPED {what}: not there")
                continue
            same = results[0] == results[1] and results[0][0] == 0
            bad += not same or spooled == 0
            print(f"{'ok' if same and spooled else 'FAILED'} {what}: {'the same' if same else 'not the same: ' + str(results)[:1500]}, "
                  f"{spooled} profiles spooled; {took[0]:.1f} s without, {took[1]:.1f} s with the agent", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
