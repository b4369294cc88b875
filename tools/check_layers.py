#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a file of src/ includes only what its module may use.

A module is a folder of src/ with `clrscope_module(NAME DEPS a b ...)` in its CMakeLists.txt; a
folder below may declare a module of its own. Its files may include headers of the module itself
and of its DEPS, directly or through them. DEPS must name modules and must not form a cycle.
Exit code 1, and one line per violation, when that does not hold.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
ROOT = ROOT if ROOT.is_dir() else ROOT.parent.parent
SRC = ROOT / "src"
CALL = re.compile(r"clrscope_module\(\s*(\w+)([^)]*)\)")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
KEYWORDS = {"DEPS", "LIBS", "HOT", "SIMULATES", "CLOCK"}


def read_modules():
    """Returns {name: (folder, deps)}."""
    modules = {}
    for lists in sorted(SRC.rglob("CMakeLists.txt")):
        text = re.sub(r"#.*", "", lists.read_text())
        for name, rest in CALL.findall(text):
            deps, keyword = [], None
            for word in rest.split():
                if word in KEYWORDS:
                    keyword = word
                elif keyword == "DEPS":
                    deps.append(word)
            modules[name] = (lists.parent, deps)
    return modules


def closure(name, modules, errors, path=()):
    """Returns all modules that `name` may use, itself included."""
    if name in path:
        errors.add("cycle: " + " -> ".join(path[path.index(name):] + (name,)))
        return set()
    reach = {name}
    for dep in modules[name][1]:
        if dep in modules:
            reach |= closure(dep, modules, errors, path + (name,))
        else:
            errors.add(f"{modules[name][0].relative_to(ROOT)}/CMakeLists.txt: unknown module {dep}")
    return reach


def owner(path, folders):
    """Returns the module of the deepest folder that holds `path`, or None."""
    for folder in path.parents:
        if folder in folders:
            return folders[folder]
    return None


def main():
    modules = read_modules()
    folders = {folder: name for name, (folder, _) in modules.items()}
    errors = set()
    allowed = {name: closure(name, modules, errors) for name in modules}
    files = 0
    for path in sorted(SRC.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        files += 1
        name = owner(path, folders)
        if name is None:
            errors.add(f"{path.relative_to(ROOT)}: belongs to no module")
            continue
        for included in INCLUDE.findall(path.read_text(errors="replace")):
            target = SRC / included
            if not target.is_file():
                errors.add(f'{path.relative_to(ROOT)}: "{included}" is not a file of src/')
                continue
            other = owner(target, folders)
            if other not in allowed[name]:
                errors.add(f'{path.relative_to(ROOT)}: {name} may not use {other} ("{included}")')
    for error in sorted(errors):
        print(error)
    print(f"layers: {len(modules)} modules, {files} files, {len(errors)} violations")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
