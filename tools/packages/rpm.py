# SPDX-License-Identifier: Apache-2.0
"""The package of Fedora, RHEL and openSUSE, by rpmbuild."""
import os
import pathlib
import subprocess
import tempfile
import time

from . import facts
from .contents import lay

SPEC = """\
Name: clrscope
Version: {version}
Release: 1
Summary: {summary}
License: {license}
Group: Development/Tools
AutoReqProv: no

%description
{description}
%install
cp -a {stage}/. %{{buildroot}}/

%preun
if [ "$1" = 0 ] && [ -d /run/systemd/system ]; then
  systemctl --no-reload disable --now clrscope-watch.service >/dev/null 2>&1 || :
fi

%postun
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload >/dev/null 2>&1 || :
fi

%files
{files}

%changelog
* {date} {maintainer} - {version}-1
- What has changed is told in CHANGELOG.md.
"""
MACROS = {
    "_buildhost": "localhost", "use_source_date_epoch_as_buildtime": "1", "clamp_mtime_to_source_date_epoch": "1",
    # The program comes as it is: stripped, and with debug information nowhere else.
    "debug_package": "%{nil}", "__os_install_post": "%{nil}", "__spec_install_post": "%{nil}", "_build_id_links": "none",
    "_binary_payload": "w9.xzdio",  # RHEL 8 reads it, too
}


def make(contents):
    license_folder, doc = "usr/share/licenses/clrscope", "usr/share/doc/clrscope"
    tree = contents.tree(zsh="usr/share/zsh/site-functions/_clrscope")
    tree.update({
        f"{license_folder}/LICENSE": (0o644, contents.license),
        f"{license_folder}/THIRD-PARTY-NOTICES": (0o644, contents.notices),
        f"{doc}/CHANGELOG.md": (0o644, contents.changelog),
        f"{doc}/README.md": (0o644, contents.readme),
    })
    files = []
    for path in sorted(tree):
        mark = "%license " if path.startswith(license_folder) else "%doc " if path.startswith((doc, "usr/share/man")) else ""
        files.append(f"%attr({tree[path][0]:04o},root,root) {mark}/{path}")
    # Folders of completions belong to every package that has a file in them, as the shell may not be there.
    shared = [f"usr/share/{folder}" for folder in ("bash-completion", "bash-completion/completions", "fish", "fish/vendor_completions.d",
                                                   "zsh", "zsh/site-functions")]
    files += [f"%dir %attr(0755,root,root) /{folder}" for folder in (license_folder, doc, *shared)]
    with tempfile.TemporaryDirectory() as folder:
        lay(tree, f"{folder}/stage", contents.time)
        spec = pathlib.Path(folder, "clrscope.spec")
        spec.write_text(SPEC.format(
            version=facts.VERSION, summary=facts.SUMMARY[0].upper() + facts.SUMMARY[1:], license=facts.LICENSE, description=facts.DESCRIPTION,
            stage=f"{folder}/stage", files="\n".join(files), maintainer=facts.MAINTAINER,
            date=time.strftime("%a %b %d %Y", time.gmtime(contents.time))))
        defined = {**MACROS, "_topdir": f"{folder}/top", "_tmppath": f"{folder}/tmp"}
        made = subprocess.run(
            ["rpmbuild", "-bb", "--quiet", "--target", f"{contents.target.rpm}-linux", spec,
             *(word for name, value in defined.items() for word in ("--define", f"{name} {value}"))],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(contents.time), "HOME": folder})
        found = list(pathlib.Path(folder, "top/RPMS").rglob("*.rpm"))
        if made.returncode != 0 or len(found) != 1:
            raise SystemExit(f"tools/package: rpmbuild failed:\n{made.stdout}")
        return {found[0].name: found[0].read_bytes()}
