#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of `clrscope report` on the golden traces, by callgrind: what a change costs, whatever else the machine does.

usage: bench/instructions.py [--update] [--clrscope PROGRAM]
Prints them beside those of bench/instructions.json, and fails where they are more than 2 % above. --update writes that file anew: a
change that costs more says why in its message. The figures are those of the release build with GCC 12 on x86-64 with AVX2."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TRACES = os.path.join(ROOT, "tests/golden/traces")
KNOWN = os.path.join(HERE, "instructions.json")
MOST = 1.02


def instructions(clrscope, trace):
    r = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", clrscope, "report", trace],
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=300)
    found = re.search(r"Collected : (\d+)", r.stderr)
    if r.returncode != 0 or not found:
        sys.exit(f"callgrind on {trace}: {r.stderr[-2000:]}")
    return int(found.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--clrscope", default=os.path.join(ROOT, "build/release/bin/clrscope"))
    args = parser.parse_args()
    with open(KNOWN, encoding="utf-8") as f:
        known = json.load(f)
    now, worse = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, before in known.items():
            trace = os.path.join(folder, f"{name}.nettrace")
            subprocess.run(["zstd", "-dqf", os.path.join(TRACES, f"{name}.nettrace.zst"), "-o", trace], check=True)
            now[name] = instructions(args.clrscope, trace)
            ratio = now[name] / before
            worse += ratio > MOST
            print(f"{'WORSE ' if ratio > MOST else ''}{name}: {now[name] / 1e6:.2f} million, {ratio:.4f} of {before / 1e6:.2f}")
    if args.update:
        with open(KNOWN, "w", encoding="utf-8") as f:
            json.dump(now, f, indent=2)
            f.write("\n")
        return
    print(f"passed={len(known) - worse} failed={worse}")
    sys.exit(worse > 0)


main()
