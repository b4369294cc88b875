#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent's library loads where there is only a C library: needs nothing else, exports one function, and stays mapped
once it is loaded. For glibc, nothing in it is newer than 2.28. For musl, nothing in it is of glibc, and all that it
asks for is there.
  library_test.py LIBRARY [--musl]
"""
import re
import subprocess
import sys

NEWEST = (2, 28)
# What the C++ runtime keeps for a thread's exceptions: reached through __tls_get_addr, and in no room that a running program has to have left.
TLS_BYTES = 16
MUSL = "/lib/ld-musl-x86_64.so.1"
# Those of the compiler's start-up files, which nobody has to have.
OPTIONAL = {"_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__gmon_start__"}


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], capture_output=True, text=True, check=True).stdout


def dynamic_symbols(library):
    """[name, where it is defined ("UND"), GLOBAL or WEAK]"""
    rows = [line.split() for line in readelf("--dyn-syms", library).splitlines() if re.match(r"\s*\d+:", line)]
    return [(row[7], row[6], row[4]) for row in rows if len(row) > 7]


def check_any(library):
    dynamic = readelf("-d", library)
    if "NODELETE" not in dynamic:
        yield "may be unmapped while its threads run"
    exported = [name for name, where, bind in dynamic_symbols(library) if where != "UND" and bind in ("GLOBAL", "WEAK")]
    if exported != ["DllGetClassObject"]:
        yield f"exports {exported}"
    if "GNU_EH_FRAME" not in readelf("-l", library):
        yield "has no table of its unwind information, without which no stack can be walked from it"
    # Static TLS is scarce in a running process, and musl refuses it there.
    if "STATIC_TLS" in dynamic or "TPOFF" in readelf("-r", library):
        yield "wants thread-local variables at a fixed place (initial-exec)"
    for size in re.findall(r"^\s*TLS(?:\s+\S+){4}\s+(\S+)", readelf("-l", library), re.M):
        if int(size, 16) > TLS_BYTES:
            yield f"has thread-local variables of its own: {int(size, 16)} bytes"


def needed(library):
    return set(re.findall(r"\(NEEDED\).*\[(.+?)\]", readelf("-d", library)))


def check_glibc(library):
    if not needed(library) <= {"libc.so.6", "ld-linux-x86-64.so.2"}:
        yield f"needs {sorted(needed(library))}"
    for name, _, _ in dynamic_symbols(library):
        if version := re.search(r"@+GLIBC_([\d.]+)", name):
            if tuple(int(n) for n in version[1].split(".")) > NEWEST:
                yield f"{name} is of a newer glibc"
    versions = re.findall(r"Name: GLIBC_([\d.]+)", readelf("-V", library))
    for version in versions:
        if tuple(int(n) for n in version.split(".")) > NEWEST:
            yield f"asks for GLIBC_{version}"
    if not versions:
        yield "no versions were found: is it a library at all?"


def check_musl(library):
    # Every musl's loader knows this name for itself, whatever its file is called. Source: musl ldso/dynlink.c, load_library
    if needed(library) != {"libc.so"}:
        yield f"needs {sorted(needed(library))}"
    if re.search(r"GLIBC|GCC_|CXXABI", readelf("-V", library)):
        yield "asks for versions of symbols, which musl has none of"
    there = {name for name, where, _ in dynamic_symbols(MUSL) if where != "UND"}
    if len(there) < 1000:
        yield f"{MUSL} has only {len(there)} symbols"
    wanted = {name for name, where, _ in dynamic_symbols(library) if where == "UND"}
    if lacking := sorted(wanted - there - OPTIONAL):
        yield f"musl has no {', '.join(lacking)}"


def main():
    library, musl = sys.argv[1], "--musl" in sys.argv[2:]
    wrong = [*check_any(library), *(check_musl if musl else check_glibc)(library)]
    for sentence in wrong:
        print(f"{library}: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
