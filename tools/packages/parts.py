# SPDX-License-Identifier: Apache-2.0
"""Whose code is in the program: what the linker put into it (clrscope.map), the headers that it was compiled with (Ninja) and
the packages of the web page (web/package-lock.json). Versions and terms are those of the Debian packages that these files are of."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess

from .facts import ROOT, run

# Source package → the terms of what of it is in the program, as SPDX names them. One that is missing here is an error.
LICENSES = {
    "ca-certificates": "MPL-2.0",
    "cli11": "BSD-3-Clause",
    "fmtlib": "MIT",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "libevent": "BSD-3-Clause",
    "musl": "MIT",
    "ncurses": "X11-distribute-modifications-variant",
    "nlohmann-json3": "MIT",
    "openssl": "Apache-2.0",
    "protozero": "BSD-2-Clause",
    "re2": "BSD-3-Clause",
    "sqlite3": "blessing",
    "xz-utils": "LicenseRef-liblzma-public-domain",
    "zlib": "Zlib",
    "libzstd": "BSD-3-Clause",
}
TEXTS = {"LicenseRef-liblzma-public-domain": "liblzma has been put into the public domain by its authors."}
# Headers of the kernel describe its calls, and no code comes of them.
INTERFACES = {"linux"}


@dataclasses.dataclass(frozen=True, order=True)
class Part:
    name: str       # "zlib"
    version: str    # "1:1.2.13.dfsg-1"
    license: str
    package: str    # what it was built from: "zlib1g-dev", or "preact"
    kind: str       # "deb" or "npm"
    linked: bool    # archives of it were linked; else it was compiled in
    terms: str      # the file that holds its terms
    origin: str     # the source package, or ""


def archives(link_map):
    """The archives of which a member was linked, and the objects that stand alone."""
    found = set()
    with open(link_map, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = re.match(r"(/\S+\.a)\(|LOAD (/\S+\.o)$", line)
            if match:
                found.add(os.path.normpath(match[1] or match[2]))
            if line.startswith("Discarded input sections"):
                break
        for line in lines:
            match = re.match(r"LOAD (/\S+\.o)$", line)
            if match:
                found.add(os.path.normpath(match[1]))
    return found


def headers(build):
    """The headers of others that the program's objects were compiled with."""
    found, ours = set(), False
    listing = subprocess.Popen(["ninja", "-C", str(build), "-t", "deps"], stdout=subprocess.PIPE, text=True)
    for line in listing.stdout:
        if not line.startswith(" "):
            ours = bool(re.search(r"CMakeFiles/clrscope[-_a-z]*\.dir/", line)) and "_testing.dir" not in line
        elif ours and line.startswith("    /usr/"):
            found.add(os.path.normpath(line.strip()))
    if listing.wait() != 0:
        raise SystemExit(f"tools/package: Ninja does not know the build in {build}")
    return found


def owners(files, machine):
    """File → the Debian package that it is of; of several that share it, that of the machine."""
    listing = subprocess.run(["dpkg", "-S", *sorted(files)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    found = {}
    for line in listing.stdout.splitlines():
        package, _, path = line.rpartition(": ")
        shared = package.split(", ")
        found[path] = next((one for one in shared if one.endswith(f":{machine}")), shared[0])
    missing = sorted(set(files) - set(found))
    if missing:
        raise SystemExit(f"tools/package: {missing[0]} is in the program, but of no Debian package: what it is cannot be told")
    return found


def debian(package, linked):
    source, version, own = run("dpkg-query", "-W", "-f", "${source:Package}\t${source:Version}\t${Version}", package).split("\t")
    name = re.sub(r"^gcc-\d+(-cross)?$", "gcc", source)
    if name in INTERFACES:
        return None
    if name not in LICENSES:
        raise SystemExit(f"tools/package: the terms of {name} ({package}) are not known: add them to tools/packages/parts.py")
    bare = package.split(":")[0]
    terms = pathlib.Path("/usr/share/doc", bare, "copyright")
    if not terms.exists():
        raise SystemExit(f"tools/package: {terms} is missing, which has the terms of {name}")
    return Part(name, own, LICENSES[name], bare, "deb", linked, str(terms.resolve()), f"{source} {version}")


def find(target, build):
    """[Part], by name."""
    linked = archives(build / "bin/clrscope.map")
    linked = {path for path in linked if path.startswith("/usr/")}
    compiled = headers(build)
    of = owners(linked | compiled, target.deb)
    packages = {}
    for path in sorted(linked):
        packages[of[path]] = True
    for path in sorted(compiled):
        packages.setdefault(of[path], False)
    if (build / "lib/libclrscope-agent-musl.so").exists():
        packages[f"gcc-{run('g++', '-dumpversion').strip().split('.')[0]}-source"] = True  # libstdc++ for musl is built from it
    found = [part for part in (debian(package, is_linked) for package, is_linked in packages.items()) if part]
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    for path, entry in lock["packages"].items():
        if not path or entry.get("dev"):
            continue
        folder = ROOT / "web" / path
        terms = next((file for file in sorted(folder.glob("LICENSE*"))), None)
        if terms is None:
            raise SystemExit(f"tools/package: {folder} has no LICENSE")
        found.append(Part(path.removeprefix("node_modules/"), entry["version"], entry["license"], path.removeprefix("node_modules/"),
                          "npm", False, str(terms), ""))
    # Libraries of which a header and an archive are in different packages have one row each.
    return sorted(found)


def notices(found):
    """The terms of all parts, as their licenses want them to be handed on."""
    text = ["clrscope is one static program. Beside its own code it has in it, wholly or in part:\n"]
    width = max(len(part.name) for part in found)
    for part in found:
        text.append(f"  {part.name:<{width}}  {part.version}  ({part.package}; {part.license})")
    text.append("\nglibc's terms (LGPL) let everybody link the program with another version of it: the sources of clrscope are free\n"
                "(Apache-2.0) and say how it is built.\n")
    shown = set()
    for part in found:
        words = pathlib.Path(part.terms).read_text(errors="replace")
        if (part.name, words) in shown:
            continue
        shown.add((part.name, words))
        text.append("=" * 100 + f"\n{part.name}: the terms of {part.package} {part.version}\n" + "=" * 100 + f"\n{words}")
    return "\n".join(text)
