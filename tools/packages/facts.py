# SPDX-License-Identifier: Apache-2.0
"""What every package says of clrscope, and for which machines there are packages. The version is that of CMakeLists.txt."""
import dataclasses
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VERSION = re.search(r"^project\(clrscope VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
MAINTAINER = os.environ.get("CLRSCOPE_MAINTAINER", "The clrscope maintainers <clrscope@example.org>")
SUMMARY = "memory profiler for running .NET programs"
DESCRIPTION = """\
clrscope attaches to running .NET 8, 9 and 10 programs, with no restart and
no rebuild, and tells who allocates, what stays alive and whether it leaks,
what the garbage collector costs, what is thrown, who waits for locks and who
uses CPU time. Each estimate comes with its error.
"""
LICENSE = "Apache-2.0"


@dataclasses.dataclass(frozen=True)
class Target:
    rid: str      # .NET's word for the machine, in the names of files
    build: str    # the build's folder: bin/clrscope, bin/clrscope.map and what Ninja knows
    binutils: str  # strip and objcopy begin with this
    deb: str
    rpm: str
    oci: str
    elf: int      # e_machine


# One more machine is one more line.
TARGETS = {target.rid: target for target in (
    Target("linux-x64", "build/release", "", "amd64", "x86_64", "amd64", 62),
)}
# Where the program runs that tells manual page and completions: they are the same everywhere.
HERE = "linux-x64" if os.uname().machine == "x86_64" else "linux-arm64"


def run(*command, **options):
    """What the command prints."""
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def commit_time():
    """The seconds of the commit, which all files have: SOURCE_DATE_EPOCH, else git's word or that of a packed tree."""
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return int(os.environ["SOURCE_DATE_EPOCH"])
    packed = re.match(r"[0-9a-f]+ (\d+)", (ROOT / "cmake/commit.txt").read_text())
    if packed:
        return int(packed[1])
    return int(run("git", "-C", ROOT, "log", "-1", "--format=%ct"))
