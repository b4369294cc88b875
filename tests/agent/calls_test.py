#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/agent.md, "Calls", list all that the agent calls: of the runtime, by source file; of the C library and
the kernel; and the callbacks that it listens to. What they list is called.
  calls_test.py LIBRARY [--musl] [--source FOLDER]
"""
import argparse
import pathlib
import re
import sys

from library_test import OPTIONAL, dynamic_symbols

# What the agent's library is compiled from, as src/agent/CMakeLists.txt says.
FOLDERS = ("agent", "base", "unwind", "clr", "pprof", "profile/interval", "profile/estimate", "profile/overhead",
           "symbols/pe", "symbols/metadata")
# Interfaces of the runtime's objects, and those that objects of the agent have.
CALLED = {"IUnknown": "base/com/unknown.h", "ICorProfilerInfo": "agent/com/corprof.h", "IMetaDataImport": "base/com/metadata.h"}
IMPLEMENTED = {"IClassFactory", "ICorProfilerCallback"}
INTERFACE = re.compile(r"class (I[A-Z]\w+)(?: : public \w+)? \{(.*?)\n\};", re.S)
# With what may be called without arguments; all else that is declared without parameters only holds its slot in a vtable.
METHOD = re.compile(r"virtual \w+ (\w+)\((\)?)")
NO_PARAMETERS = {"AddRef", "Release", "SuspendRuntime", "ResumeRuntime"}
# Functions that read and write nothing but what they are passed: compilers add calls of these, and leave some out.
PURE_ROW = "memcpy"
# musl has these by other names or inline.
OF_MUSL = {"atoi": "strtol", "pthread_atfork": "__register_atfork", "pthread_once": "pthread_mutex_lock"}


def code_of(text):
    """Without comments and what stands in quotes; lines stay lines."""
    pattern = r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'"""
    return re.sub(pattern, lambda m: '""' if m[0][0] == '"' else "\n" * m[0].count("\n"), text, flags=re.S)


def sources(root):
    """path below src/: code."""
    out = {}
    for folder in FOLDERS:
        for path in sorted((root / "src" / folder).rglob("*")):
            name = path.relative_to(root / "src").as_posix()
            if path.suffix in (".cc", ".h") and "/testing/" not in name and not re.search(r"_(test|fuzz|bench)\.cc$", name):
                out[name] = code_of(path.read_text(encoding="utf-8"))
    return out


def interfaces(code):
    """interface: {method: whether it can be called}."""
    return {name: {method: not empty or method in NO_PARAMETERS for method, empty in METHOD.findall(body)}
            for text in code.values() for name, body in INTERFACE.findall(text)}


def calls_of_the_runtime(code, methods):
    """({method: {file, …}}, sentences about what is named and is no call)"""
    called, unclear = {}, []
    named = re.compile(r"\bComPtr\b|\b(" + "|".join(methods) + r")\b")
    for interface in CALLED:
        for file, text in code.items():
            if interface == "IUnknown" and not named.search(text):
                continue  # another class's Release()
            for match in re.finditer(rf"\b({'|'.join(methods[interface])})\b", text):
                name, before, after = match[1], text[:match.start()].rstrip(), text[match.end():].lstrip()
                by_pointer = re.search(rf"&\s*{interface}\s*::$", before)
                by_object = before.endswith(("->", "."))
                if not methods[interface][name]:
                    by_object = by_object and re.match(r"\(\s*\)", after)
                if by_pointer or by_object:
                    called.setdefault(name, set()).add(file)
                elif methods[interface][name] and interface != "IUnknown" and file not in CALLED.values():
                    line = text.count("\n", 0, match.start()) + 1
                    unclear.append(f"src/{file}:{line} names {name}, and is no call by '->', '.' or '&{interface}::'")
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


def differences(what, called, listed):
    for name in sorted(called - listed):
        yield f"{what} {name}: the agent calls it, and the table does not list it"
    for name in sorted(listed - called):
        yield f"{what} {name}: the table lists it, and the agent does not call it"


def check_runtime(rows, code):
    methods = interfaces(code)
    if unknown := sorted(set(methods) - set(CALLED) - IMPLEMENTED):
        yield f"this test does not know whose interfaces these are: {', '.join(unknown)}"
    if few := [name for name in CALLED if len(methods[name]) < 3]:
        yield f"no methods were found in {few}"
    called, unclear = calls_of_the_runtime(code, methods)
    yield from unclear
    listed = {}
    for row in rows:
        for name in in_backticks(row[0]):
            if name in listed:
                yield f"the table has two rows of {name}"
            listed[name] = {file.removeprefix("../") if file.startswith("../") else f"agent/{file}" for file in in_backticks(row[1])}
    yield from differences("the runtime's", set(called), set(listed))
    for name in (name for name, callable in methods["ICorProfilerInfo"].items() if callable and name not in called):
        yield f"src/agent/com/corprof.h declares {name} with parameters, and the agent does not call it"
    for name in sorted(set(called) & set(listed)):
        yield from differences(f"{name} in", called[name], listed[name])


def check_callbacks(rows, code):
    header = code["agent/host/callback.h"]
    heard = set(re.findall(r"HResult (\w+)\([^;]*?\) override;", header)) - {"QueryInterface", "AddRef", "Release"}
    if len(heard) < 8:
        yield f"callbacks that were found: {sorted(heard)}"
    listed = {name for row in rows for name in in_backticks(row[0])}
    yield from (text.replace("the agent calls it", "the agent hears it").replace("the agent does not call it", "the agent does not hear it")
                for text in differences("the callback", heard, listed))


def check_process(rows, code, library, musl):
    imported = {name.split("@")[0] for name, where, _ in dynamic_symbols(library) if where == "UND" and name} - OPTIONAL
    if musl:
        imported = {OF_MUSL.get(name, name) for name in imported}
    by_number = {f"SYS_{name}" for text in code.values() for name in re.findall(r"\bSYS_(\w+)", text)}
    if len(imported) < 50 or not by_number:
        yield f"{library} asks for {len(imported)} symbols, the sources for {len(by_number)} system calls: too few to be true"
    listed, pure = set(), set()
    for row in rows:
        names = set(in_backticks(row[0]))
        listed |= names
        if PURE_ROW in names:
            pure = names
    for text in differences("the process's", imported | by_number, listed):
        name = text.split(":")[0].split()[-1]
        # A stale row is one for every C library: glibc's is the longer list.
        if "does not call" not in text or not (musl or name in pure):
            yield text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--musl", action="store_true")
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    args = parser.parse_args()
    document = tables((args.source / "docs" / "agent.md").read_text(encoding="utf-8"))
    code = sources(args.source)
    wrong = [*check_runtime(document.get("Of the runtime", []), code), *check_callbacks(document.get("Callbacks", []), code),
             *check_process(document.get("Of the C library and the kernel", []), code, args.library, args.musl)]
    for sentence in wrong:
        print(f"docs/agent.md, Calls: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
