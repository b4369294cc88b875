# SPDX-License-Identifier: Apache-2.0
"""Roots of file systems for clrscope to run in: empty ones, and those of older distributions."""
import fcntl
import glob
import os
import shutil
import subprocess

import harness

NOBODY = 65534


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


class Root:
    """A folder with clrscope in it, and whatever else is put there; commands see it as / in a mount namespace of their own."""

    def __init__(self, path):
        self.path = path
        os.makedirs(f"{path}/proc", exist_ok=True)
        shutil.copy(harness.CLRSCOPE, f"{path}/clrscope")

    def command(self, *args, setup=":", user=0, namespace_of=None):
        """`setup` runs before the root is entered, which it finds in $root. namespace_of: a process whose namespace serves."""
        script = ('set -e; root=$1; shift; mount --bind "$root" "$root"; mount -t proc proc "$root/proc"; '
                  f'{setup}; exec chroot --userspec={user}:{user} --groups= "$root" "$@"')
        namespace = ["unshare", "--mount", "--propagation", "private"] if namespace_of is None else [
            "nsenter", f"--mount=/proc/{namespace_of}/ns/mnt", "--"]
        return [*namespace, "sh", "-c", script, "sh", self.path, *map(str, args)]

    @staticmethod
    def environment(more=None):
        return {"PATH": os.environ["PATH"], **(more or {})}

    def run(self, *args, env=None, timeout=60, **options):
        return subprocess.run(self.command(*args, **options), capture_output=True, text=True, timeout=timeout,
                              env=self.environment(env))

    def clrscope(self, *args, **options):
        return self.run("/clrscope", *args, **options)


def mirror():
    """Where this machine's apt has Debian from; "" when it has none, or no apt."""
    try:
        lines = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN)|$(COMPONENT)|$(SITE)"], capture_output=True,
                               text=True).stdout.splitlines()
    except OSError:
        return ""
    return next((line.split("|")[2] for line in lines if line.startswith("Debian|main|")), "")


def debian(suite):
    """The unpacked base of a Debian release, kept in the user's cache; or why there is none. Nobody writes into it."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    kept = os.path.join(caches, "clrscope", f"debian-{suite}")
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    with open(f"{kept}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two clones may ask at once
        if os.path.isdir(kept):
            return kept, ""
        if shutil.which("debootstrap") is None:
            return None, "debootstrap is not installed"
        source = mirror()
        if not source:
            return None, "apt knows no Debian archive here"
        partial = f"{kept}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        # The first stage alone: what is required is unpacked, the rest only fetched; nothing of it need be set up.
        made = subprocess.run(["debootstrap", "--foreign", "--variant=minbase", suite, partial, source], capture_output=True,
                              text=True, timeout=600)
        if made.returncode != 0:
            return None, f"Debian's archive does not have it here: {(made.stderr + made.stdout).strip().splitlines()[-1]}"
        for package in glob.glob(f"{partial}/var/cache/apt/archives/libstdc++6_*.deb"):  # for .NET
            subprocess.run(["dpkg-deb", "-x", package, partial], check=True)
        shutil.rmtree(f"{partial}/var/cache/apt/archives", ignore_errors=True)
        os.rename(partial, kept)
    return kept, ""
