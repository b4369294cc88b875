#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the paths which the documents name exist, and that lines of prose have 120 characters at most.

Looks at docs/**/*.md and the *.md of the top folder. A path is what stands in backticks and begins
with a folder of the repository (`src/base/fd.h`, `tools/ci`, `src/*/CMakeLists.txt`,
`src/export/pprof.{h,cc}`), and the target of a relative link. Tables and fenced blocks may be wider.
Exit code 1, and one line per missing path and long line, otherwise.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
ROOT = ROOT if ROOT.is_dir() else ROOT.parent.parent
FOLDERS = ("src/", "docs/", "tools/", "web/", "workloads/", "tests/", "fuzz/", "bench/", "cmake/",
           ".ci/")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)")
MOST = 120


def alternatives(path):
    """Expands {a,b} as a shell does."""
    match = re.search(r"\{([^{}]*)\}", path)
    if not match:
        return [path]
    return [one for part in match[1].split(",")
            for one in alternatives(path[:match.start()] + part + path[match.end():])]


def exists(base, path):
    if any(c in path for c in "*?["):
        return any(base.glob(path))
    return (base / path).exists()


def main():
    documents = sorted((ROOT / "docs").rglob("*.md")) + sorted(ROOT.glob("*.md"))
    paths, bad = 0, []
    for document in documents:
        whole = document.read_text()
        text = FENCE.sub("", whole)
        # The lines of a fence stay, empty, so that the others keep their numbers.
        for number, line in enumerate(FENCE.sub(lambda m: "\n" * m[0].count("\n"), whole).split("\n"), 1):
            if len(line) > MOST and not line.lstrip().startswith("|"):
                bad.append(f"{document.relative_to(ROOT)}:{number}: {len(line)} characters, at most {MOST}")
        named = [(ROOT, word) for word in CODE.findall(text) if word.startswith(FOLDERS)]
        named += [(document.parent, link) for link in LINK.findall(text) if "://" not in link]
        for base, word in named:
            word = word.split()[0]  # `tools/ci format`: a command with arguments
            if re.search(r"[A-Z]{3,}|<|\.\.\.|…", word) and not exists(base, word):
                continue  # a placeholder: `build/workloads/NAME`
            for path in alternatives(word.rstrip(".,:;")):
                paths += 1
                if not exists(base, path):
                    bad.append(f"{document.relative_to(ROOT)}: there is no {path}")
    for line in bad:
        print(line)
    print(f"docs: {len(documents)} documents, {paths} paths, {len(bad)} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
