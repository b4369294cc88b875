# SPDX-License-Identifier: Apache-2.0
"""A container image from nothing but the program, the certificates of authorities, a /tmp and the terms of what is in it, as an OCI archive."""
import hashlib
import json
import pathlib
import time

from . import facts, parts
from .contents import gz
from .facts import run
from .tarball import tar


def certificates():
    """What Debian's ca-certificates brings; not the machine's bundle, which may have authorities of its own in it."""
    listed = [line for line in run("dpkg", "-L", "ca-certificates").splitlines()
              if line.startswith("/usr/share/ca-certificates/") and line.endswith(".crt")]
    if not listed:
        raise SystemExit("tools/package: the package ca-certificates has no certificates here")
    return b"".join(pathlib.Path(path).read_bytes().rstrip(b"\n") + b"\n" for path in sorted(listed))


def make(contents):
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(contents.time))
    authorities = parts.debian("ca-certificates", False)
    layer = tar({
        "usr/bin/clrscope": (0o755, contents.program),
        "etc/ssl/certs/ca-certificates.crt": (0o644, certificates()),
        "licenses/LICENSE": (0o644, contents.license),
        "licenses/THIRD-PARTY-NOTICES": (0o644, contents.notices),
        "licenses/ca-certificates": (0o644, pathlib.Path(authorities.terms).read_bytes()),
    }, contents.time, folders={"tmp": 0o1777})
    packed = gz(layer)
    blobs = {}

    def blob(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = (0o644, data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    def text(value):
        return json.dumps(value, indent=1, sort_keys=True).encode()

    labels = {"org.opencontainers.image.title": "clrscope", "org.opencontainers.image.description": facts.SUMMARY,
              "org.opencontainers.image.version": facts.VERSION, "org.opencontainers.image.licenses": facts.LICENSE}
    platform = {"architecture": contents.target.oci, "os": "linux"}
    config = blob("config.v1+json", text({
        **platform, "created": created,
        # No user: whose programs are to be recorded decides whom it runs as. /tmp is all that must be writable.
        "config": {"Entrypoint": ["/usr/bin/clrscope"], "Cmd": ["--help"], "WorkingDir": "/tmp", "Labels": labels,
                   "Env": ["PATH=/usr/bin", "XDG_CACHE_HOME=/tmp/.cache"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "tools/package"}]}))
    manifest = blob("manifest.v1+json", text({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": [blob("layer.v1.tar+gzip", packed)], "annotations": labels}))
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
        {**manifest, "platform": platform, "annotations": {"org.opencontainers.image.ref.name": facts.VERSION}}]}
    archive = {"oci-layout": (0o644, text({"imageLayoutVersion": "1.0.0"})), "index.json": (0o644, text(index)), **blobs}
    return {f"clrscope-{facts.VERSION}-{contents.target.rid}.oci.tar": tar(archive, contents.time)}
