#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clrscope beside TraceEvent on one large trace of the C# compiler: whole processes, interleaved, CPU time as a ratio.

usage: bench/parse.py [--beside PROGRAM] [--thread-samples] [ROUNDS] [FILES]
Records the trace first (AllocationSampled, sampled objects, GCs, code; FILES generated sources of the corpus), then per round
runs each command once: clrscope convert (decode, stacks, symbols, fold, capture written), TraceEvent's bare pump, its TraceLog
conversion (first two rounds only). With --thread-samples the trace also has the samples of the runtime's thread profiler. With --beside it is another build of clrscope that takes turns, in place of TraceEvent."""
import glob
import os
import resource
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CLRSCOPE = os.path.join(ROOT, "build/release/bin/clrscope")
ORACLE = os.path.join(ROOT, "build/oracle/oracle.dll")
FOLDER = os.path.join(ROOT, "build/bench")
KEYWORDS = 0x80000000000 | 0x200000 | 0x1000000 | 0x80000 | 0x39


def build_oracle():
    subprocess.run([os.path.join(ROOT, "tools/build_oracle")], check=True)


def record(files, thread_samples=False):
    trace = os.path.join(FOLDER, f"csc-{files}{'-threads' if thread_samples else ''}.nettrace")
    if os.path.exists(trace):
        return trace
    os.makedirs(FOLDER, exist_ok=True)
    corpus = subprocess.run([sys.executable, os.path.join(HERE, "corpus.py"), os.path.join(FOLDER, f"corpus-{files}"), str(files)],
                            capture_output=True, text=True, check=True).stdout.strip()
    root = os.path.dirname(os.path.realpath(subprocess.run(["which", "dotnet"], capture_output=True, text=True).stdout.strip()))
    csc = sorted(glob.glob(os.path.join(root, "sdk/*/Roslyn/bincore/csc.dll")))[-1]
    env = {**os.environ, "DOTNET_EnableEventPipe": "1", "DOTNET_EventPipeOutputPath": trace, "DOTNET_EventPipeCircularMB": "400",
           "DOTNET_EventPipeConfig": f"Microsoft-Windows-DotNETRuntime:{KEYWORDS:x}:4"
           + (",Microsoft-DotNETCore-SampleProfiler:F00000000000:4" if thread_samples else "")}
    subprocess.run(["dotnet", csc, f"@{corpus}"], env=env, check=True, stdout=subprocess.DEVNULL, timeout=550)
    return trace


def run(command):
    """CPU seconds and peak MB of one process."""
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    args = sys.argv[1:]
    beside = args[1] if args[:1] == ["--beside"] else None
    args = args[2:] if beside else args
    thread_samples = "--thread-samples" in args
    args = [a for a in args if a != "--thread-samples"]
    rounds = int(args[0]) if args else 7
    files = int(args[1]) if len(args) > 1 else 5
    trace = record(files, thread_samples)
    dotnet = subprocess.run(["which", "dotnet"], capture_output=True, text=True).stdout.strip()
    capture, etlx = os.path.join(FOLDER, "out.clrscope"), os.path.join(FOLDER, "out.etlx")
    commands = {
        "clrscope convert": [CLRSCOPE, "convert", trace, "-f", "-o", capture],
        "TraceEvent pump": [dotnet, ORACLE, trace, "--pump"],
        "TraceEvent TraceLog": [dotnet, ORACLE, trace, "--tolog", etlx],
    }
    if beside:
        commands = {"clrscope convert": commands["clrscope convert"],
                    "the other build": [beside, *commands["clrscope convert"][1:]]}
    else:
        build_oracle()
    size = os.path.getsize(trace) / 1e6
    cpu, memory = {k: [] for k in commands}, {k: [] for k in commands}
    for i in range(rounds):
        for name, command in commands.items():
            if name.endswith("TraceLog") and i >= 2:
                continue
            seconds, peak = run(command)
            cpu[name].append(seconds)
            memory[name].append(peak)
            for left in (etlx, etlx + ".new"):  # what it wrote must not burden the next one's memory and disk
                if os.path.exists(left):
                    os.unlink(left)
    print(f"trace: {size:.0f} MB, {rounds} rounds")
    ours = cpu["clrscope convert"]
    for name in commands:
        ratio = min(ours) / min(cpu[name])  # of minima: rounds differ in number, and others use the machine too
        print(f"{name:20} CPU min {min(cpu[name]):6.2f} s median {statistics.median(cpu[name]):6.2f} s "
              f"({size / min(cpu[name]):5.0f} MB/s)  peak {max(memory[name]):4.0f} MB  clrscope takes {ratio:.3f} of it")
    if beside:
        pairs = [a / b for a, b in zip(ours, cpu["the other build"])]
        print(f"of each pair, clrscope takes {statistics.median(pairs):.3f} of the other build (median; {min(pairs):.3f} to {max(pairs):.3f})")


if __name__ == "__main__":
    main()
