#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/agent.md, "Calls", list all that the agent calls: of the runtime, by source file; of the C library and
the kernel; and all by which the runtime calls it. What they list is called.
  calls_test.py LIBRARY SOURCES [--musl]
SOURCES names a file: the sources that the library is compiled from, a line each.
"""
import argparse
import pathlib
import posixpath
import re
import subprocess
import sys

from library_test import OPTIONAL, dynamic_symbols

SRC = pathlib.Path(__file__).resolve().parents[2] / "src"
# Interfaces of the runtime's objects, and those that objects of the agent have.
CALLED = {"IUnknown": "base/com/unknown.h", "ICorProfilerInfo": "agent/com/corprof.h", "IMetaDataImport": "base/com/metadata.h"}
IMPLEMENTED = {"IClassFactory", "ICorProfilerCallback"}
INTERFACE = re.compile(r"class (I[A-Z]\w+)(?: : public \w+)? \{(.*?)\n\};", re.S)
# With what may be called without arguments; all else that is declared without parameters only holds its slot in a vtable.
METHOD = re.compile(r"virtual \w+ (\w+)\((\)?)")
NO_PARAMETERS = {"AddRef", "Release", "SuspendRuntime", "ResumeRuntime"}
# Functions that read and write nothing but what they are passed: compilers add calls of these, and leave some out.
PURE_ROW = "memcpy"
# What some compilers and settings add.
TOOLCHAIN = OPTIONAL | {"__assert_fail", "__stack_chk_fail"}
# musl has these by other names.
OF_MUSL = {"atoi": "strtol", "pthread_atfork": "__register_atfork", "pthread_once": "pthread_mutex_lock"}
# They wait, by a system call that nobody sees here.
HIDDEN_WAITS = re.compile(r"\bsyscall\(\s*(?!SYS_)|\b__NR_\w+|\.notify_(?:one|all)\(|std::(?:\w+_semaphore|latch|barrier|future)\b")


def code_of(text):
    """Without comments and what stands in quotes; lines stay lines."""
    pattern = r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'"""
    return re.sub(pattern, lambda m: '""' if m[0][0] == '"' else "\n" * m[0].count("\n"), text, flags=re.S)


def sources(list_file):
    """path below src/: code. What the library is compiled from, and what that includes."""
    out = {}
    waiting = [pathlib.Path(line).resolve().relative_to(SRC).as_posix() for line in list_file.read_text(encoding="utf-8").split()]
    while waiting:
        name = waiting.pop()
        if name in out:
            continue
        text = (SRC / name).read_text(encoding="utf-8")
        out[name] = code_of(text)
        waiting += [path for path in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M) if (SRC / path).exists()]
    return out


def interfaces(code):
    """interface: {method: whether it can be called}."""
    return {name: {method: not empty or method in NO_PARAMETERS for method, empty in METHOD.findall(body)}
            for text in code.values() for name, body in INTERFACE.findall(text)}


def line_of(text, match):
    return text.count("\n", 0, match.start()) + 1


def calls_of_the_runtime(code, methods):
    """({method: {file, …}}, sentences about what is named and is no call)"""
    called, unclear = {}, []
    for interface in CALLED:
        for file, text in code.items():
            for match in re.finditer(rf"\b({'|'.join(methods[interface])})\b", text):
                name, before, after = match[1], text[:match.start()].rstrip(), text[match.end():].lstrip()
                by_pointer = re.search(r"&\s*[\w:]+::$", before)
                by_object = before.endswith(("->", "."))
                if not methods[interface][name]:
                    by_object = by_object and re.match(r"\(\s*\)", after)
                if by_pointer or by_object:
                    called.setdefault(name, set()).add(file)
                elif methods[interface][name] and interface != "IUnknown" and file not in CALLED.values():
                    unclear.append(f"src/{file}:{line_of(text, match)} names {name}, and is no call by '->', '.' or '&Interface::'")
    return called, unclear


def tables(document):
    """heading: rows of the table below it, as lists of cells."""
    out, heading = {}, ""
    for line in document.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|") and not line.startswith("| ---"):
            out.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split(" | ")])
    return {heading: rows[1:] for heading, rows in out.items()}


def in_backticks(cell):
    return re.findall(r"`([^`]+)`", cell)


def differences(called, listed, verb="calls"):
    for name in sorted(called - listed):
        yield f"the agent {verb} {name}, and the table does not list it"
    for name in sorted(listed - called):
        yield f"the table lists {name}, and the agent does not {verb.rstrip('s')} it"


def check_runtime(rows, code):
    methods = interfaces(code)
    if unknown := sorted(set(methods) - set(CALLED) - IMPLEMENTED):
        yield f"this test does not know whose interfaces these are: {', '.join(unknown)}"
    parsed = sum(len(names) for name, names in methods.items() if name != "IUnknown")
    declared = sum(len(re.findall(r"\bvirtual\s+HResult\b", text)) for text in code.values())
    if declared != parsed + 1 or parsed < 200:  # QueryInterface
        yield f"{declared} virtual functions return an HResult, and this test read {parsed} of interfaces: is there another one?"
    called, unclear = calls_of_the_runtime(code, methods)
    yield from unclear
    listed = {}
    for row in rows:
        for name in in_backticks(row[0]):
            if name in listed:
                yield f"the table has two rows of {name}"
            listed[name] = {posixpath.normpath(f"agent/{file}") for file in in_backticks(row[1])}
    yield from differences(set(called), set(listed))
    for name in (name for name, callable in methods["ICorProfilerInfo"].items() if callable and name not in called):
        yield f"src/agent/com/corprof.h declares {name} with parameters, and the agent does not call it"
    for name in sorted(set(called) & set(listed)):
        yield from (f"{name}: {text}" for text in differences(called[name], listed[name], "calls it in"))


def check_callbacks(rows, code):
    override = re.compile(r"\b(\w+)\([^;{}]*\)\s*(?:const\s*)?(?:noexcept\s*)?override\b")
    heard = {name for file in ("agent/host/callback.h", "agent/host/entry.cc") for name in override.findall(code[file])}
    heard |= set(re.findall(r"\b(Dll\w+)\(", code["agent/host/entry.cc"]))
    if len(heard) < 12:
        yield f"callbacks that were found: {sorted(heard)}"
    bodies = re.findall(r"override (\{.*?\})", code["agent/com/deaf_callback.h"], re.S)
    if len(bodies) < 60 or set(bodies) != {"{ return kOk; }"}:
        yield f"src/agent/com/deaf_callback.h does something: {sorted(set(bodies))}"
    yield from differences(heard, {name for row in rows for name in in_backticks(row[0])}, "hears")


def check_process(rows, code, library, musl):
    imported = {name.split("@")[0] for name, where, _ in dynamic_symbols(library) if where == "UND" and name} - TOOLCHAIN
    imported = {re.sub(r"^__(\w+)_chk$", r"\1", name) for name in imported}
    if musl:
        imported = {OF_MUSL.get(name, name) for name in imported}
    by_number = {f"SYS_{name}" for text in code.values() for name in re.findall(r"\bSYS_(\w+)", text)}
    if len(imported) < 50 or not by_number:
        yield f"{library} asks for {len(imported)} symbols, the sources for {len(by_number)} system calls: too few to be true"
    listed = {name for row in rows for name in in_backticks(row[0])}
    pure = {name for row in rows if PURE_ROW in in_backticks(row[0]) for name in in_backticks(row[0])}
    called = imported | by_number
    # A row is one for every C library: glibc's is the longer list.
    yield from differences(called, listed & called if musl else listed - (pure - called))
    for file, text in code.items():
        for match in HIDDEN_WAITS.finditer(text):
            yield f"src/{file}:{line_of(text, match)}: '{match[0]}' hides a system call"
    symbols = subprocess.run(["nm", "-C", library], capture_output=True, text=True, check=True).stdout
    if len(symbols) < 10_000:
        yield f"{library} has no symbols of its own: this test is for the one before it is stripped"
    # Each first use takes a lock, on whatever thread.
    for name in re.findall(r"guard variable for (clrscope::.*)", symbols):
        yield f"the local variable {name} is set up at its first use, for which other threads wait"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("--musl", action="store_true")
    args = parser.parse_args()
    document = tables((SRC.parent / "docs" / "agent.md").read_text(encoding="utf-8"))
    code = sources(args.sources)
    wrong = [*check_runtime(document.get("Of the runtime", []), code), *check_callbacks(document.get("Callbacks", []), code),
             *check_process(document.get("Of the C library and the kernel", []), code, args.library, args.musl)]
    wrong += [f"src/{file} has a raw string, which this test cannot read" for file, text in code.items() if re.search(r'\bR""', text)]
    for sentence in wrong:
        print(f"docs/agent.md, Calls: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
