# SPDX-License-Identifier: Apache-2.0
"""Archives whose bytes follow from what is in them alone, and the one to unpack anywhere."""
import io
import tarfile

from . import facts
from .contents import gz


def tar(tree, seconds, folders=()):
    """`tree`: path → (mode, bytes). All that lies above them is a folder of 0755; `folders`: path → mode of others."""
    modes = dict(folders)
    for path in [*tree, *folders]:
        while "/" in path:
            path = path.rpartition("/")[0]
            modes.setdefault(path, 0o755)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted({*modes, *tree}):
            entry = tarfile.TarInfo(path)
            entry.mtime, entry.uname, entry.gname = seconds, "root", "root"
            if path in tree:
                entry.mode, data = tree[path]
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
            else:
                entry.type, entry.mode = tarfile.DIRTYPE, modes[path]
                archive.addfile(entry)
    return out.getvalue()


def make(contents):
    """{name of the file: its bytes}"""
    name = f"clrscope-{facts.VERSION}-{contents.target.rid}"
    tree = contents.tree(program="bin/clrscope", zsh="share/zsh/site-functions/_clrscope", unit="lib/systemd/system")
    tree = {path.removeprefix("usr/"): file for path, file in tree.items()}
    for path, data in {"LICENSE": contents.license, "THIRD-PARTY-NOTICES": contents.notices, "README.md": contents.readme,
                       "CHANGELOG.md": contents.changelog}.items():
        tree[path] = (0o644, data)
    return {f"{name}.tar.gz": gz(tar({f"{name}/{path}": file for path, file in tree.items()}, contents.time))}
