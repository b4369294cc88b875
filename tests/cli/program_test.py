#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program is one file that can be copied to any machine: no loader, no library, and nothing in it that looks for
libraries of the glibc that it was built with (names of users and of hosts).
  program_test.py PROGRAM
"""
import re
import subprocess
import sys

# Parts of the C library that load others: its name services, and what is made of them.
LOADS_OTHERS = re.compile(r"^(__nss_\w+|getaddrinfo|getnameinfo|gethostby\w+|getpw\w+|getgr(ent|gid|nam)\w*|getserv\w+|getproto\w+)$")


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True).stdout


def main():
    program = sys.argv[1]
    wrong = []
    headers = readelf("-l", program)
    if "LOAD" not in headers:
        wrong.append("readelf finds no segment: is it a program at all?")
    if "INTERP" in headers:
        wrong.append("asks for a loader")
    wrong += [f"needs {name}" for name in re.findall(r"\(NEEDED\).*\[(.+?)\]", readelf("-d", program))]
    names = {line.split()[-1] for line in readelf("-s", program).splitlines() if " FUNC " in line}
    if "main" not in names:
        wrong.append("is stripped: what is in it cannot be seen")
    wrong += [f"has {name} in it" for name in sorted(filter(LOADS_OTHERS.match, names))]
    for what in wrong:
        print(f"{program}: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
