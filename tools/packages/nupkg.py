# SPDX-License-Identifier: Apache-2.0
"""The .NET tool: a package that says for which machines there is one, and one for each with the native program in it, which
the SDK (10 or later) runs as it is (Runner="executable"). `dotnet pack` would need a managed program around it."""
import io
import time
import zipfile
from xml.sax.saxutils import escape

from . import facts

NUSPEC = """\
<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata>
    <id>{id}</id>
    <version>{version}</version>
    <authors>{authors}</authors>
    <license type="expression">{license}</license>
    <readme>README.md</readme>
    <description>{description}</description>
    <tags>profiler memory allocations gc leak linux</tags>
    <packageTypes>
      <packageType name="{kind}" />
    </packageTypes>
  </metadata>
</package>
"""
SETTINGS = """\
<?xml version="1.0" encoding="utf-8"?>
<DotNetCliTool Version="2">
  <Commands>
    <Command Name="clrscope"{runs} />
  </Commands>
{packages}</DotNetCliTool>
"""
TYPES = """\
<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />
  <Default Extension="nuspec" ContentType="application/octet" />
  <Default Extension="xml" ContentType="application/octet" />
  <Default Extension="md" ContentType="application/octet" />
{parts}</Types>
"""
RELATIONS = """\
<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{id}.nuspec" Id="R1" />
</Relationships>
"""


def package(identity, kind, tree, contents):
    nuspec = NUSPEC.format(id=identity, version=facts.VERSION, authors=escape(facts.MAINTAINER.split(" <")[0]), license=facts.LICENSE, kind=kind,
                           description=escape(facts.DESCRIPTION.replace("\n", " ").strip()))
    tree = {f"{identity}.nuspec": (0o644, nuspec.encode()), "README.md": (0o644, contents.readme), **tree}
    bare = "".join(f'  <Override PartName="/{path}" ContentType="application/octet" />\n'
                   for path in sorted(tree) if "." not in path.rpartition("/")[2])
    tree = {"_rels/.rels": (0o644, RELATIONS.format(id=identity).encode()), **tree,
            "[Content_Types].xml": (0o644, TYPES.format(parts=bare).encode())}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (mode, data) in tree.items():
            entry = zipfile.ZipInfo(path, time.gmtime(contents.time)[:6])
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16, 3
            archive.writestr(entry, data)
    return {f"{identity}.{facts.VERSION}.nupkg": out.getvalue()}


def make(contents):
    """The package of one machine."""
    rid = contents.target.rid
    folder = f"tools/any/{rid}"
    settings = SETTINGS.format(runs=' EntryPoint="clrscope" Runner="executable"', packages="")
    return package(f"clrscope.{rid}", "DotnetToolRidPackage", {
        f"{folder}/clrscope": (0o755, contents.program),
        f"{folder}/DotnetToolSettings.xml": (0o644, settings.encode()),
        "LICENSE": (0o644, contents.license),
        "THIRD-PARTY-NOTICES": (0o644, contents.notices),
    }, contents)


def make_list(contents, rids):
    """The package that is asked for by name, which leads to those of `rids`."""
    rows = "".join(f'    <RuntimeIdentifierPackage RuntimeIdentifier="{rid}" Id="clrscope.{rid}" />\n' for rid in rids)
    settings = SETTINGS.format(runs="", packages=f"  <RuntimeIdentifierPackages>\n{rows}  </RuntimeIdentifierPackages>\n")
    return package("clrscope", "DotnetTool", {"tools/net10.0/any/DotnetToolSettings.xml": (0o644, settings.encode())}, contents)
