#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether clrscope names sampled addresses in compiled code as the runtime's own map of its code does.

usage: perf_map_names.py CLRSCOPE WORKLOADS [kernel|ptrace] [PROGRAM,...]
Programs that write their map (DOTNET_PerfMapEnabled) are recorded from their first instruction: burns, alloc and throws on .NET 8, 9 and 10, and the
C# compiler. Of each: how many addresses on sampled stacks lie in compiled code, how many of them have the same owner, method and parameters as the map
has at that time, and the same by samples; what the map calls a stub, by clrscope's names; then what differs. Less than 99 % of the addresses or of the
samples of any program fails."""
import os
import sys
import tempfile

SOAK = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [SOAK, os.path.join(SOAK, "..", "e2e")]
import harness  # noqa: E402
import perf_map  # noqa: E402
import real_programs  # noqa: E402

# Methods that are unloaded have their places taken by others.
BURNS = "loops,recursion,generics,delegates,dynamic,async,native,back,callback,exceptions,allocations,garbage,osr,threads,unloaded,unloaded"
ARGUMENTS = {"burns": ["--seconds", "1", "--kinds", BURNS],
             "alloc": ["--mode", "mix", "--threads", "2", "--rate", "max", "--bytes", "8e9", "--seconds", "10"],
             "throws": ["--storm", "0", "--seconds", "4"]}
PROGRAMS = [program + runtime for program in ARGUMENTS for runtime in ("", "-net8", "-net9")] + ["csc"]
LEAST, MOST_SHOWN = 0.99, 15


def command(program, folder):
    if program == "csc":
        return ["dotnet", real_programs.compiler("csc.dll"), "@" + real_programs.corpus(os.path.join(folder, "sources"), 12)]
    name, _, runtime = program.partition("-")
    native = os.path.join(harness.WORKLOADS, program, name)
    return [*([native] if runtime else ["dotnet", native + ".dll"]), *ARGUMENTS[name]]


def run(program, sampler):
    with tempfile.TemporaryDirectory() as folder:
        perf = perf_map.PerfMap(folder)
        path = os.path.join(folder, "x.clrscope")
        result = harness.clrscope("record", "--only", "cpu", "--sampler", sampler, "--rate", "500", "-q", "-o", path, "--",
                                  *command(program, folder), env={**os.environ, **perf.environment()}, timeout=600)
        perf.end()
        if result.returncode != 0:
            raise RuntimeError(f"{program}: {result.stdout} {result.stderr}")
        return perf_map.compare(path, perf)


def main():
    harness.CLRSCOPE, harness.WORKLOADS = map(os.path.abspath, sys.argv[1:3])
    sampler = sys.argv[3] if len(sys.argv) > 3 else "kernel"
    programs = sys.argv[4].split(",") if len(sys.argv) > 4 else PROGRAMS
    failed = []
    for program in programs:
        found = run(program, sampler)
        all_of = {what: found.equal[what] + found.other[what] for what in ("addresses", "samples")}
        print(f"{program:12} {found.equal['addresses']:6} of {all_of['addresses']:6} addresses ({100 * found.share('addresses'):.2f} %), "
              f"{found.equal['samples']:7} of {all_of['samples']:7} by samples ({100 * found.share('samples'):.2f} %)", flush=True)
        if found.stubs:
            print("  stubs: " + ", ".join(f"{name} {samples}" for name, samples in found.stubs.most_common(5)))
        for samples, address, ours, theirs in found.methods_at_stubs[:MOST_SHOWN]:
            print(f"  {samples:6} samples at {address:x}: {ours} where the map has {theirs}")
        for samples, address, ours, theirs, known in found.differ[:MOST_SHOWN]:
            print(f"  {samples:6} samples at {address:x}: {ours} and not {theirs}{f' ({known})' if known else ''}")
        if not all_of["addresses"] or min(found.share("addresses"), found.share("samples")) < LEAST:
            failed.append(program)
    if failed:
        print("below 99 %: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
