#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent's library loads where there is only an old C library: needs libc and the loader, nothing newer than
glibc 2.28, exports one function, and stays mapped once it is loaded.
  library_test.py LIBRARY
"""
import re
import subprocess
import sys

NEWEST = (2, 28)


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], capture_output=True, text=True, check=True).stdout


def main():
    library = sys.argv[1]
    wrong = []
    dynamic = readelf("-d", library)
    needed = set(re.findall(r"\(NEEDED\).*\[(.+?)\]", dynamic))
    if not needed <= {"libc.so.6", "ld-linux-x86-64.so.2"}:
        wrong.append(f"needs {sorted(needed)}")
    if "NODELETE" not in dynamic:
        wrong.append("may be unmapped while its threads run")
    symbols = readelf("--dyn-syms", library)
    exported = [line.split()[7] for line in symbols.splitlines()
                if re.match(r"\s*\d+:", line) and " UND " not in line and line.split()[4] in ("GLOBAL", "WEAK")]
    if exported != ["DllGetClassObject"]:
        wrong.append(f"exports {exported}")
    for name, version in re.findall(r"UND (\S+?)@+GLIBC_([\d.]+)", symbols):
        if tuple(int(n) for n in version.split(".")) > NEWEST:
            wrong.append(f"{name} is of glibc {version}")
    versions = re.findall(r"Name: GLIBC_([\d.]+)", readelf("-V", library))
    for version in versions:
        if tuple(int(n) for n in version.split(".")) > NEWEST:
            wrong.append(f"asks for GLIBC_{version}")
    if not versions:
        wrong.append("no versions were found: is it a library at all?")
    for sentence in wrong:
        print(f"{library}: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
