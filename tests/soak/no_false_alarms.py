#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs in a steady state do not leak: `clrscope leaks` must call nothing growing.

usage: no_false_alarms.py CLRSCOPE [SECONDS] [NAME]...     SECONDS: of each recording, 600 by default"""
import json
import os
import subprocess
import sys
import tempfile
import time

import real_programs

WARM_UP = 30  # seconds: until code is compiled and pools are filled


def main():
    clrscope, seconds, names = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 600, sys.argv[3:]
    alarms = failures = 0
    for make in real_programs.STEADY:
        if names and make.name not in names:
            continue
        with tempfile.TemporaryDirectory(prefix="clrscope-soak-") as folder:
            env = {**os.environ, "TMPDIR": folder}
            try:
                program = make(folder, env)
            except FileNotFoundError as error:
                print(f"SKIPPED {make.name}: {error}")
                continue
            time.sleep(WARM_UP)
            path = os.path.join(folder, "x.clrscope")
            recorded = subprocess.run([clrscope, "record", "-p", str(program.pid), "--live", "-d", f"{seconds}s", "-o", path],
                                      env=env, capture_output=True, text=True)
            rounds = program.busy.rounds
            program.stop()
            told = subprocess.run([clrscope, "leaks", path, "--json", "-n", "0"], capture_output=True, text=True)
            if recorded.returncode != 0 or told.returncode not in (0, 3):
                print(f"FAILED {make.name}: {recorded.stderr}{told.stderr}")
                failures += 1
                continue
            suspects = json.loads(told.stdout)["suspects"]
            samples = sum(s["born_samples"] for s in suspects)
            living = sum(s["live_samples"] for s in suspects)
            growing = [s for s in suspects if s["verdict"] == "growing"]
            print(f"{make.name}: {seconds} s, {rounds} rounds of work, {len(suspects)} types and sites that lived, "
                  f"{living} of the followed objects live, {samples} born in the window: {len(growing)} called growing", flush=True)
            for s in growing:
                print(f"  {s['type']} at {s['site']}: {s['slope_bytes_per_s']:.0f} B/s [{s['slope_low']}, {s['slope_high']}], "
                      f"{s['live_samples']} live samples, kept {s['kept_share']}, median age {s['median_age_s']} s")
            alarms += len(growing)
            failures += samples == 0  # a recording without anything proves nothing
    return 1 if alarms + failures else 0


if __name__ == "__main__":
    sys.exit(main())
