# SPDX-License-Identifier: Apache-2.0
"""The list of what the program is made of (SBOM), as SPDX 2.3."""
import hashlib
import json
import re
import time

from . import facts, parts


def make(contents):
    rid = contents.target.rid
    digest = hashlib.sha256(contents.program).hexdigest()

    def of(name, spdx, version, terms, **more):
        return {"SPDXID": spdx, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                "licenseConcluded": terms, "licenseDeclared": terms, "copyrightText": "NOASSERTION", **more}

    packages = [of("clrscope", "SPDXRef-clrscope", facts.VERSION, facts.LICENSE, primaryPackagePurpose="APPLICATION",
                   checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
                   comment=f"The program for {rid}. The agent that it puts into processes is embedded in it.")]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-clrscope"}]
    for part in contents.parts:
        spdx = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", f"{part.kind}-{part.package}")
        if part.kind == "deb":
            where = f"pkg:deb/debian/{part.package}@{part.version.replace(':', '%3A').replace('+', '%2B')}?arch={contents.target.deb}"
            more = {"supplier": "Organization: Debian", "sourceInfo": f"built by Debian from {part.origin}"}
        else:
            where = f"pkg:npm/{part.package.replace('@', '%40')}@{part.version}"
            more = {"supplier": "NOASSERTION"}
        packages.append(of(part.package, spdx, part.version, part.license, externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": where}], **more))
        relations.append({"spdxElementId": "SPDXRef-clrscope", "relatedSpdxElement": spdx,
                          "relationshipType": "STATIC_LINK" if part.linked else "CONTAINS"})
    used = {part.license for part in contents.parts}
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"clrscope-{facts.VERSION}-{rid}",
        "documentNamespace": f"https://spdx.org/spdxdocs/clrscope-{facts.VERSION}-{rid}-{digest}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(contents.time)), "creators": ["Tool: clrscope-tools-package"]},
        "packages": packages, "relationships": relations,
        "hasExtractedLicensingInfos": [{"licenseId": name, "extractedText": text} for name, text in parts.TEXTS.items() if name in used],
    }
    return {f"clrscope-{facts.VERSION}-{rid}.spdx.json": json.dumps(document, indent=1).encode() + b"\n"}
