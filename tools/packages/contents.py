# SPDX-License-Identifier: Apache-2.0
"""The files of every package: what they are, apart from where each kind of package has them."""
import dataclasses
import gzip
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time

from . import facts, parts
from .facts import ROOT, run

FILES = pathlib.Path(__file__).parent / "files"


def gz(data):
    """Without a name and a time, so that the same bytes give the same bytes."""
    return gzip.compress(data, 9, mtime=0)


@dataclasses.dataclass
class Contents:
    target: facts.Target
    time: int              # of every file, in seconds since 1970
    program: bytes
    man: bytes
    completions: dict      # "bash", "zsh", "fish"
    unit: bytes
    license: bytes
    notices: bytes         # whose code is in the program, and on what terms
    readme: bytes
    changelog: bytes
    parts: list            # parts.Part

    @property
    def date(self):
        return time.strftime("%Y-%m-%d", time.gmtime(self.time))

    def tree(self, program="usr/bin/clrscope", zsh="usr/share/zsh/vendor-completions/_clrscope", unit="usr/lib/systemd/system"):
        """Path → (mode, bytes), as a distribution has them; its documents are the distribution's matter."""
        return {
            program: (0o755, self.program),
            "usr/share/man/man1/clrscope.1.gz": (0o644, gz(self.man)),
            "usr/share/bash-completion/completions/clrscope": (0o644, self.completions["bash"]),
            zsh: (0o644, self.completions["zsh"]),
            "usr/share/fish/vendor_completions.d/clrscope.fish": (0o644, self.completions["fish"]),
            f"{unit}/clrscope-watch.service": (0o644, self.unit),
        }


def stripped(target, program):
    """Without symbols, and with a build id of what is left."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "clrscope")
        subprocess.run([f"{target.binutils}strip", "-o", copy, program], check=True)
        subprocess.run([ROOT / "cmake/build_id", f"{target.binutils}objcopy", copy], check=True)
        data = copy.read_bytes()
    machine = struct.unpack_from("<H", data, 18)[0]
    if machine != target.elf:
        raise SystemExit(f"tools/package: {program} is not for {target.rid}: its machine is {machine}")
    return data


def collect(target, build=None, tell=None):
    """`tell`: the program that is asked for its texts; the packaged one if it runs here."""
    build = ROOT / (build or target.build)
    program = build / "bin/clrscope"
    if not program.exists():
        raise SystemExit(f"tools/package: there is no {program}: build it first")
    tell = tell or program
    now = facts.commit_time()
    version = run(tell, "--version").split()[1]
    if version != facts.VERSION:
        raise SystemExit(f"tools/package: {tell} is {version}, the sources are {facts.VERSION}: build it first")
    found = parts.find(target, build)
    return Contents(
        target=target, time=now, program=stripped(target, program),
        man=run(tell, "--man-page", time.strftime("%Y-%m-%d", time.gmtime(now))).encode(),
        completions={shell: run(tell, "completion", shell).encode() for shell in ("bash", "zsh", "fish")},
        unit=(FILES / "clrscope-watch.service").read_bytes(), license=(ROOT / "LICENSE").read_bytes(),
        notices=parts.notices(found).encode(), readme=(FILES / "README.md").read_bytes(),
        changelog=(ROOT / "CHANGELOG.md").read_bytes(), parts=found)


def lay(tree, root, seconds):
    """Writes the files below `root`; all times are `seconds`."""
    for path, (mode, data) in tree.items():
        file = pathlib.Path(root, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(mode)
    for entry in [pathlib.Path(root), *pathlib.Path(root).rglob("*")]:
        if entry.is_dir():
            entry.chmod(0o755)
        shutil.os.utime(entry, (seconds, seconds))
