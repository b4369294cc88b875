#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program is one file that can be copied to another machine: it needs the C library and nothing else.
  program_test.py PROGRAM
"""
import re
import subprocess
import sys

ALLOWED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def main():
    dynamic = subprocess.run(["readelf", "-W", "-d", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.+?)\]", dynamic))
    if not needed:
        print(f"{sys.argv[1]}: readelf names no library: is it a program at all?")
        return 1
    if needed - ALLOWED:
        print(f"{sys.argv[1]}: needs {', '.join(sorted(needed - ALLOWED))}")
    return 1 if needed - ALLOWED else 0


if __name__ == "__main__":
    sys.exit(main())
