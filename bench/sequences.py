#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records real programs with every allocation in order and reduces them to sequences that bench/accuracy replays.

usage: bench/sequences.py [NAME]...     csc, csharpier, aspnet; all of those that build/sequences lacks by default
The runtime itself writes the events of all objects and what each GC leaves alive (EventPipe by variables); clrscope records
AllocationTick of the same run beside it. Young generations of 4 MB make deaths known soon; only foreground GCs tell them."""
import concurrent.futures
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/soak"))
import real_programs  # noqa: E402

BIN = os.path.join(ROOT, "build/release/bin")
FOLDER = os.path.join(ROOT, "build/sequences")
KEYWORDS = 0x2000000 | 0x200000 | 0x400000 | 0x1000000 | 0x80000 | 0x39


def environment(folder):
    return {**os.environ, "DOTNET_EnableEventPipe": "1", "DOTNET_EventPipeOutputPath": os.path.join(folder, "all.nettrace"),
            "DOTNET_EventPipeCircularMB": "1024", "DOTNET_EventPipeOutputStreaming": "1",
            "DOTNET_EventPipeConfig": f"Microsoft-Windows-DotNETRuntime:{KEYWORDS:x}:4",
            "DOTNET_UNSUPPORTED_ETW_ObjectAllocationEventsPerTypePerSec": "1000000000",
            "DOTNET_gcConcurrent": "0", "DOTNET_GCgen0size": "400000", "DOTNET_TieredPGO": "0"}


def record(folder, command, **more):
    return subprocess.Popen([os.path.join(BIN, "clrscope"), "record", "-q", "-f", "--sampling", "tick", "--keep-nettrace", "-o",
                             os.path.join(folder, "ticks.clrscope"), "--", *command], env=environment(folder), **more)


def csc(folder):
    response = real_programs.corpus(os.path.join(folder, "sources"), 1)
    record(folder, ["dotnet", real_programs.compiler("csc.dll"), f"@{response}"]).wait(500)


def csharpier(folder):
    real_programs.corpus(os.path.join(folder, "sources"), 1)
    if real_programs.csharpier() is None:
        raise FileNotFoundError("csharpier could not be installed")
    dll = sorted(glob.glob(os.path.join(real_programs.TOOLS, ".store/csharpier/*/csharpier/*/tools/net10.0/any/[cC][sS]harpier.dll")))[-1]
    record(folder, ["dotnet", dll, "check", "--no-msbuild-check", os.path.join(folder, "sources")],
           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait(500)


def aspnet(folder):
    dll = os.path.join(ROOT, "build/workloads/web/web.dll")
    process = record(folder, ["dotnet", dll, "--urls", "http://127.0.0.1:28771"], stdout=subprocess.PIPE, text=True)
    ready = json.loads(process.stdout.readline())

    def ask(i):
        paths = [*real_programs.WebServer.PATHS, f"/cache/{i % 300}", "/orders/200"]
        urllib.request.urlopen(ready["url"] + paths[i % len(paths)], timeout=60).read()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(4_000)))
    os.kill(ready["ready"], signal.SIGTERM)
    process.communicate(timeout=300)


PROGRAMS = {"csc": csc, "csharpier": csharpier, "aspnet": aspnet}


def main():
    for name in sys.argv[1:] or PROGRAMS:
        out = os.path.join(FOLDER, name)
        if os.path.exists(out) and not sys.argv[1:]:
            continue
        os.makedirs(FOLDER, exist_ok=True)
        # Not under build/: csharpier passes over what .gitignore names.
        with tempfile.TemporaryDirectory() as folder:
            PROGRAMS[name](folder)
            subprocess.run([os.path.join(BIN, "sequence"), out, os.path.join(folder, "all.nettrace"),
                            os.path.join(folder, "ticks.nettrace")], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    main()
