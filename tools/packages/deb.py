# SPDX-License-Identifier: Apache-2.0
"""The package of Debian and Ubuntu, by dpkg-deb."""
import hashlib
import os
import pathlib
import subprocess
import tempfile
import time

from . import facts
from .contents import FILES, gz, lay

COPYRIGHT = """\
clrscope
Copyright: 2026 The clrscope contributors
License: Apache-2.0. On Debian systems its text is in
/usr/share/common-licenses/Apache-2.0.

The program is linked statically. Whose code it has in it beside its own, and
on what terms, is said in THIRD-PARTY-NOTICES.gz beside this file.
"""


def make(contents):
    doc = "usr/share/doc/clrscope"
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(contents.time))
    changelog = (f"clrscope ({facts.VERSION}) stable; urgency=medium\n\n"
                 f"  * What has changed is told in CHANGELOG.md.gz beside this file.\n\n -- {facts.MAINTAINER}  {date}\n")
    tree = contents.tree()
    tree.update({
        f"{doc}/copyright": (0o644, COPYRIGHT.encode()),
        f"{doc}/changelog.gz": (0o644, gz(changelog.encode())),
        f"{doc}/CHANGELOG.md.gz": (0o644, gz(contents.changelog)),
        f"{doc}/THIRD-PARTY-NOTICES.gz": (0o644, gz(contents.notices)),
        "usr/share/lintian/overrides/clrscope": (0o644, (FILES / "lintian-overrides").read_bytes()),
    })
    size = sum(max(1, -(-len(data) // 1024)) for _, data in tree.values())
    first, *more = facts.DESCRIPTION.splitlines()
    control = (f"Package: clrscope\nVersion: {facts.VERSION}\nArchitecture: {contents.target.deb}\nMaintainer: {facts.MAINTAINER}\n"
               f"Installed-Size: {size}\nSuggests: ca-certificates\nSection: devel\nPriority: optional\n"
               f"Description: {facts.SUMMARY}\n" + "".join(f" {line}\n" for line in [first, *more]))
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {path}\n" for path, (_, data) in sorted(tree.items()))
    tree["DEBIAN/control"] = (0o644, control.encode())
    tree["DEBIAN/md5sums"] = (0o644, sums.encode())
    for script in ("prerm", "postrm"):
        tree[f"DEBIAN/{script}"] = (0o755, (FILES / script).read_bytes())
    name = f"clrscope_{facts.VERSION}_{contents.target.deb}.deb"
    with tempfile.TemporaryDirectory() as folder:
        lay(tree, f"{folder}/root", contents.time)
        # Threads would cut the data at other places on another machine.
        subprocess.run(["dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", "-b", f"{folder}/root", f"{folder}/{name}"],
                       check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(contents.time)})
        return {name: pathlib.Path(folder, name).read_bytes()}
