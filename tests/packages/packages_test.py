#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The packages of the release build: what is in them, that they are the same each time, and that each can be installed, used and taken away."""
import glob
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(f"{HERE}/../..")
sys.path[:0] = [f"{HERE}/../e2e", f"{HERE}/../door", f"{ROOT}/tools"]
import harness
from harness import Workload
from packages import facts, nupkg, parts
from release_test import Release  # noqa: F401, a test case
from roots import debian, may_mount

RID = "linux-x64"
VERSION = facts.VERSION
NAMES = {
    "tar": f"clrscope-{VERSION}-{RID}.tar.gz",
    "deb": f"clrscope_{VERSION}_amd64.deb",
    "rpm": f"clrscope-{VERSION}-1.x86_64.rpm",
    "tool": f"clrscope.{RID}.{VERSION}.nupkg",
    "list": f"clrscope.{VERSION}.nupkg",
    "oci": f"clrscope-{VERSION}-{RID}.oci.tar",
    "sbom": f"clrscope-{VERSION}-{RID}.spdx.json",
}
MADE = {}  # kind → path


def setUpModule():
    folder = os.environ.get("CLRSCOPE_PACKAGES")
    if not folder:
        folder = tempfile.mkdtemp(prefix="clrscope-packages-")
        unittest.addModuleCleanup(shutil.rmtree, folder)
        subprocess.run([f"{ROOT}/tools/package", "--out", folder], check=True)
    MADE.update({kind: os.path.abspath(f"{folder}/{name}") for kind, name in NAMES.items()}, folder=os.path.abspath(folder))


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False, **options)


def command(words):
    """The command of docs/packages.md that begins with these words."""
    with open(f"{ROOT}/docs/packages.md", encoding="utf-8") as text:
        return re.search(rf"(?m)^({words} .*?)(?: +#.*)?$", text.read())[1]


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="clrscope-package-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def ok(self, *command, **options):
        result = run(*command, **options)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}{result.stderr}")
        return result.stdout

    def need(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"SKIPPED: there is no {program}")

    def check_works(self, here):
        """`here`: runs a command where the package is installed. The program tells its version, finds a program that runs and records it."""
        self.assertRegex(self.ok(*here("clrscope", "--version")), rf"^clrscope {re.escape(VERSION)} \(([0-9a-f]{{12}}(-dirty)?|unknown)\)\n")
        self.assertIn("Examples:", self.ok(*here("clrscope", "record", "--help")))
        if not os.path.exists(f"{harness.WORKLOADS}/alloc/alloc.dll") or shutil.which("dotnet") is None:
            return
        with Workload("--seconds", "60", "--rate", "50000000") as work:
            self.assertRegex(self.ok(*here("clrscope", "ps")), rf"(?m)^ *{work.pid} +alloc ")
            recorded = self.ok(*here("clrscope", "record", "-q", "-p", work.pid, "-d", "2s", "-f", "-o", "/tmp/x.clrscope"))
            self.assertEqual(recorded, "")
            self.assertIn("Point[]", self.ok(*here("clrscope", "report", "/tmp/x.clrscope")))


class Together(Case):
    def test_files_and_sums(self):
        self.assertEqual(sorted(os.listdir(MADE["folder"])), sorted([*NAMES.values(), "SHA256SUMS"]))
        self.ok("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=MADE["folder"])
        with open(f"{MADE['folder']}/SHA256SUMS", encoding="utf-8") as sums:
            self.assertEqual([line.split()[1] for line in sums], sorted(NAMES.values()))

    def test_sizes(self):
        for kind in NAMES:
            self.assertLess(os.path.getsize(MADE[kind]), 12_000_000, kind)

    def test_the_same_once_more(self):
        with open(f"{MADE['folder']}/SHA256SUMS", encoding="utf-8") as sums:
            first = sums.read()
        self.ok(f"{ROOT}/tools/package", "--out", f"{self.dir}/again", env={**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C"})
        with open(f"{self.dir}/again/SHA256SUMS", encoding="utf-8") as sums:
            self.assertEqual(sums.read(), first)

    def test_all_hold_the_same_program(self):
        with tarfile.open(MADE["tar"]) as archive:
            program = archive.extractfile(f"clrscope-{VERSION}-{RID}/bin/clrscope").read()
        with zipfile.ZipFile(MADE["tool"]) as archive:
            self.assertEqual(archive.read(f"tools/any/{RID}/clrscope"), program)
        with open(MADE["sbom"], encoding="utf-8") as sbom:
            described = next(p for p in json.load(sbom)["packages"] if p["name"] == "clrscope")
        self.assertEqual(described["checksums"][0]["checksumValue"], hashlib.sha256(program).hexdigest())
        self.assertEqual(described["versionInfo"], VERSION)
        file = f"{self.dir}/clrscope"
        with open(file, "wb") as out:
            out.write(program)
        os.chmod(file, 0o755)
        self.assertEqual(self.ok(file, "--version"), self.ok(harness.CLRSCOPE, "--version"))
        sections = self.ok("readelf", "-SW", file)
        for name in (".symtab", ".debug_info"):
            self.assertNotIn(name, sections)


class Sbom(Case):
    def setUp(self):
        super().setUp()
        with open(MADE["sbom"], encoding="utf-8") as sbom:
            self.document = json.load(sbom)
        self.packages = {package["name"]: package for package in self.document["packages"]}

    def test_is_spdx(self):
        self.assertEqual((self.document["spdxVersion"], self.document["dataLicense"]), ("SPDX-2.3", "CC0-1.0"))
        self.assertRegex(self.document["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        ids = [package["SPDXID"] for package in self.document["packages"]]
        self.assertEqual(len(ids), len(set(ids)))
        for name in ids:
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
        related = {relation["relatedSpdxElement"] for relation in self.document["relationships"]}
        self.assertEqual(related, set(ids))
        own = {info["licenseId"] for info in self.document["hasExtractedLicensingInfos"]}
        for package in self.document["packages"]:
            self.assertLessEqual(set(re.findall(r"LicenseRef-[\w.-]+", package["licenseConcluded"])), own)

    def test_tells_what_is_linked(self):
        """The linker's own list, read once more and in another way: each archive is of a package that the document names with its version."""
        with open(os.path.dirname(harness.CLRSCOPE) + "/clrscope.map", encoding="utf-8", errors="replace") as lines:
            archives = {os.path.realpath(path) for path in re.findall(r"^(/usr/\S+\.a)\(", lines.read(), re.M)}
        names = {os.path.basename(path) for path in archives}
        self.assertLessEqual({"libc.a", "libstdc++.a", "libssl.a", "libcrypto.a", "libsqlite3.a", "libzstd.a", "libz.a", "libre2.a"}, names)
        for path in archives:
            package = self.ok("dpkg-query", "-S", path).split(":")[0]
            version = self.ok("dpkg-query", "-W", "-f", "${Version}\n", package).splitlines()[0]
            self.assertEqual(self.packages[package]["versionInfo"], version, path)
            self.assertRegex(self.packages[package]["sourceInfo"], r"^built by Debian from \S+ \S+$")

    def test_tells_what_is_compiled_in(self):
        for name in ("libfmt-dev", "libcli11-dev", "nlohmann-json3-dev", "libprotozero-dev", "preact", "@preact/signals"):
            self.assertIn(name, self.packages)
        self.assertFalse([name for name in self.packages if "gtest" in name or "benchmark" in name or "esbuild" in name])

    def test_everything_has_its_terms(self):
        with tarfile.open(MADE["tar"]) as archive:
            notices = archive.extractfile(f"clrscope-{VERSION}-{RID}/THIRD-PARTY-NOTICES").read().decode()
        for name, package in self.packages.items():
            if name != "clrscope":
                self.assertIn(f"{package['versionInfo']}  ({name}; {package['licenseConcluded']})", notices)
        for words in ("GNU Lesser General Public", "OpenSSL", "Jason Miller", "Facebook"):
            self.assertIn(words, notices)


class Tarball(Case):
    def test_unpacked_anywhere(self):
        self.ok("tar", "-xf", MADE["tar"], "-C", self.dir)
        top = f"{self.dir}/clrscope-{VERSION}-{RID}"
        found = sorted(os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names)
        self.assertEqual(found, sorted([
            "CHANGELOG.md", "LICENSE", "README.md", "THIRD-PARTY-NOTICES", "bin/clrscope", "lib/systemd/system/clrscope-watch.service",
            "share/bash-completion/completions/clrscope", "share/fish/vendor_completions.d/clrscope.fish", "share/man/man1/clrscope.1.gz",
            "share/zsh/site-functions/_clrscope"]))
        self.check_works(lambda name, *rest: (f"{top}/bin/{name}", *(str(word).replace("/tmp/", f"{self.dir}/") for word in rest)))
        with tarfile.open(MADE["tar"]) as archive:
            self.assertEqual({(entry.uid, entry.gid, entry.uname, entry.mtime) for entry in archive}, {(0, 0, "root", facts.commit_time())})

    def test_manual_page(self):
        self.need("man", "mandoc")
        self.ok("tar", "-xf", MADE["tar"], "-C", self.dir)
        page = f"{self.dir}/clrscope-{VERSION}-{RID}/share/man/man1/clrscope.1.gz"
        shown = run("man", "--warnings", "-E", "UTF-8", "-l", page, env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        for words in ("clrscope record", "--max-overhead", "EXIT STATUS", "ENVIRONMENT"):
            self.assertIn(words, shown.stdout)
        linted = run("sh", "-c", f"gunzip -c '{page}' | mandoc -T lint -W warning")
        self.assertEqual((linted.returncode, linted.stdout), (0, ""))


class Unit(Case):
    def test_is_what_systemd_takes(self):
        self.ok("tar", "-xf", MADE["tar"], "-C", self.dir)
        unit = f"{self.dir}/clrscope-{VERSION}-{RID}/lib/systemd/system/clrscope-watch.service"
        with open(unit, encoding="utf-8") as file:
            lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
        self.assertEqual([line for line in lines if line.startswith("[")], ["[Unit]", "[Service]", "[Install]"])
        [command] = [line.partition("=")[2].split() for line in lines if line.startswith("ExecStart=")]
        self.assertEqual(command[0], "/usr/bin/clrscope")
        # Its words are ones that the program takes: with a size that is too small it says just that.
        refused = run(harness.CLRSCOPE, *command[1:], "--max-size", "1M")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("64M is the least", refused.stderr)
        if shutil.which("systemd-analyze"):
            verified = run("systemd-analyze", "verify", "--man=no", unit)
            said = [line for line in verified.stderr.splitlines() if "Command /usr/bin/clrscope is not executable" not in line]
            self.assertFalse([line for line in said if "clrscope-watch.service" in line], said)


class Installed(Case):
    """A Debian whose files are kept; what a package does to it lies in a layer above them."""

    def enter(self):
        if not may_mount():
            self.skipTest("SKIPPED: no right to mount")
        base, why = debian("bullseye")
        if base is None:
            self.skipTest(f"SKIPPED: {why}")
        self.root = f"{self.dir}/root"
        for folder in ("root", "upper/proc", "upper/tmp", "upper/packages", "upper/usr/share/licenses", "work"):
            os.makedirs(f"{self.dir}/{folder}")
        os.chmod(f"{self.dir}/upper/tmp", 0o1777)
        for kind in ("deb", "rpm"):
            shutil.copy(MADE[kind], f"{self.dir}/upper/packages")
        holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c",
             f'mount -t overlay overlay -o lowerdir={base},upperdir={self.dir}/upper,workdir={self.dir}/work {self.root} && '
             f'mount -t proc proc {self.root}/proc && mkdir -p {self.root}/dev && mount --bind /dev {self.root}/dev && echo ready && exec sleep 1000'], stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), "ready\n")
        self.outside = ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "--"]

    def inside(self, *command):
        return [*self.outside, "chroot", self.root, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
                "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", *command]

    def files(self):
        listed = self.ok(*self.inside("find", "/", "-xdev", "-not", "-path", "/proc/*", "-not", "-path", "/tmp/*"))
        return {line for line in listed.splitlines() if not line.startswith(("/var/lib/dpkg", "/var/lib/apt", "/var/lib/rpm", "/var/log", "/var/cache"))}

    def check_installed(self, added, zsh):
        for path in ("/usr/bin/clrscope", "/usr/share/man/man1/clrscope.1.gz", "/usr/share/bash-completion/completions/clrscope", zsh,
                     "/usr/share/fish/vendor_completions.d/clrscope.fish", "/usr/lib/systemd/system/clrscope-watch.service"):
            self.assertIn(path, added)
        # Nothing is enabled, and nothing lies outside of what packages may bring.
        self.assertEqual({path for path in added if not path.startswith("/usr/")}, set())
        self.check_works(lambda *words: self.inside(*words))
        completed = self.ok(*self.inside("bash", "-c", "source /usr/share/bash-completion/completions/clrscope; COMP_WORDS=(clrscope rec); "
                                                       'COMP_CWORD=1; _clrscope; echo "${COMPREPLY[@]}"'))
        self.assertEqual(completed, "record\n")

    def test_deb(self):
        self.enter()
        before = self.files()
        deb = f"/packages/{NAMES['deb']}"
        # As docs/packages.md says, by somebody who answers yes.
        self.ok(*self.inside("sh", "-c", "cd /packages; " + command("apt install").replace("apt ", "apt -y ")))
        self.assertIn("install ok installed", self.ok(*self.inside("dpkg-query", "-W", "-f", "${Status} ${Version}", "clrscope")))
        self.check_installed(self.files() - before, "/usr/share/zsh/vendor-completions/_clrscope")
        self.assertEqual(self.ok(*self.inside("dpkg", "--verify", "clrscope")), "")
        self.ok(*self.inside("dpkg", "-i", deb))  # over itself
        self.ok(*self.inside("dpkg", "-r", "clrscope"))
        self.ok(*self.inside("dpkg", "-P", "clrscope"))
        self.assertEqual(self.files() - before, set())

    def test_rpm(self):
        self.need("rpm")
        self.enter()
        before = self.files()
        rpm = lambda *words: (*self.outside, "rpm", "--root", self.root, "--dbpath", "/var/lib/rpm", *words)
        self.ok(*rpm("--initdb"))
        # Its database knows nothing of the Debian around it: /bin/sh, which its scripts need.
        file = f"{self.dir}/upper/packages/{NAMES['rpm']}"
        self.ok(*rpm("-i", "--nodeps", file))
        self.check_installed(self.files() - before, "/usr/share/zsh/site-functions/_clrscope")
        self.ok(*rpm("-V", "--nodeps", "clrscope"))
        self.ok(*rpm("-e", "clrscope"))
        self.assertEqual(self.files() - before, set())

    def test_rpm_needs_nothing(self):
        self.need("rpm")
        needs = self.ok("rpm", "-qp", "--requires", MADE["rpm"]).split("\n")
        self.assertFalse([line for line in needs if line and not line.startswith(("rpmlib(", "/bin/sh"))], needs)
        self.assertIn("Depends", self.ok("dpkg-deb", "-f", MADE["deb"]) + "Depends")
        self.assertNotRegex(self.ok("dpkg-deb", "-f", MADE["deb"]), "(?m)^(Pre-)?Depends:")


class Linters(Case):
    def test_lintian(self):
        self.need("lintian")
        said = run("lintian", "--allow-root", "--fail-on", "error,warning", MADE["deb"])
        print(said.stdout, flush=True)
        self.assertEqual((said.returncode, re.findall("(?m)^[EW]: .*", said.stdout)), (0, []), said.stdout + said.stderr)

    def test_every_override_is_needed(self):
        self.need("lintian")
        self.assertNotIn("unused-override", run("lintian", "--allow-root", "--info", "-I", MADE["deb"]).stdout)

    def test_rpmlint(self):
        self.need("rpmlint")
        said = run("rpmlint", "-c", f"{ROOT}/tools/packages/files/rpmlint.toml", MADE["rpm"])
        print(said.stdout, flush=True)
        self.assertRegex(said.stdout, r"0 errors, 0 warnings")


class Tool(Case):
    def setUp(self):
        super().setUp()
        self.need("dotnet")
        if int(self.ok("dotnet", "--version").split(".")[0]) < 10:
            self.skipTest("SKIPPED: tools by machine need the SDK 10")
        self.source(MADE["folder"])
        self.env = {**os.environ, "DOTNET_CLI_HOME": f"{self.dir}/home", "NUGET_PACKAGES": f"{self.dir}/nuget", "DOTNET_NOLOGO": "1"}

    def source(self, folder):
        with open(f"{self.dir}/nuget.config", "w", encoding="utf-8") as file:
            file.write(f'<configuration><packageSources><clear /><add key="made" value="{folder}" /></packageSources></configuration>')

    def tool(self, verb, *words):
        return run("dotnet", "tool", verb, *words, env=self.env, cwd=self.dir)

    def test_installed_by_its_path(self):
        tools = f"{self.dir}/tools"
        done = self.tool("install", "clrscope", "--tool-path", tools, "--configfile", f"{self.dir}/nuget.config")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(VERSION, self.tool("list", "--tool-path", tools).stdout)
        self.check_works(lambda name, *rest: (f"{tools}/{name}", *(str(word).replace("/tmp/", f"{self.dir}/") for word in rest)))
        # It is the program itself, and no managed one around it.
        held = subprocess.Popen([f"{tools}/clrscope", "watch", "-n", "nobody", "-o", f"{self.dir}/captures"])
        self.addCleanup(held.wait)
        self.addCleanup(held.kill)
        harness.wait_until(lambda: os.path.basename(os.readlink(f"/proc/{held.pid}/exe")) == "clrscope", 60, "it is the program itself")
        self.assertEqual(self.tool("uninstall", "clrscope", "--tool-path", tools).returncode, 0)
        self.assertEqual(glob.glob(f"{tools}/clrscope*"), [])

    def test_installed_for_the_user(self):
        # As docs/packages.md says, in the folder of the packages; of a user who has no other source.
        os.makedirs(f"{self.dir}/home/.nuget/NuGet")
        with open(f"{self.dir}/home/.nuget/NuGet/NuGet.Config", "w", encoding="utf-8") as file:
            file.write("<configuration><packageSources><clear /></packageSources></configuration>")
        self.ok("sh", "-c", command("dotnet tool install"), cwd=MADE["folder"], env={**self.env, "HOME": f"{self.dir}/home"})
        self.assertIn(f"clrscope {VERSION}", self.ok(f"{self.dir}/home/.dotnet/tools/clrscope", "--version"))

    def test_says_so_on_other_machines(self):
        class OfOthers:
            time, readme = facts.commit_time(), b"x"

        os.mkdir(f"{self.dir}/others")
        for name, data in nupkg.make_list(OfOthers, ["linux-s390x"]).items():
            with open(f"{self.dir}/others/{name}", "wb") as file:
                file.write(data)
        self.source(f"{self.dir}/others")
        done = self.tool("install", "clrscope", "--tool-path", f"{self.dir}/tools", "--configfile", f"{self.dir}/nuget.config")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout + done.stderr, rf"does not support the current architecture or operating system \({RID}\).*linux-s390x")


class Oci(Case):
    def test_runs_as_any_user_from_nothing(self):
        self.need("umoci")
        os.mkdir(f"{self.dir}/image")
        self.ok("tar", "-xf", MADE["oci"], "-C", f"{self.dir}/image")
        self.ok("umoci", "unpack", *(() if os.geteuid() == 0 else ("--rootless",)), "--image", f"{self.dir}/image:{VERSION}", f"{self.dir}/bundle")
        root = f"{self.dir}/bundle/rootfs"
        found = sorted(os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names)
        self.assertEqual(found, ["etc/ssl/certs/ca-certificates.crt", "licenses/LICENSE", "licenses/THIRD-PARTY-NOTICES",
                                 "licenses/ca-certificates", "usr/bin/clrscope"])
        self.assertEqual(stat.S_IMODE(os.stat(f"{root}/tmp").st_mode), 0o1777)
        with open(f"{self.dir}/bundle/config.json", encoding="utf-8") as file:
            process = json.load(file)["process"]
        self.assertEqual((process["args"], process["cwd"]), (["/usr/bin/clrscope", "--help"], "/tmp"))
        # Only what Debian's package has: an authority that this machine trusts beside them is nobody else's matter.
        with open(f"{root}/etc/ssl/certs/ca-certificates.crt", encoding="utf-8") as file:
            authorities = file.read().count("BEGIN CERTIFICATE")
        self.assertEqual(authorities, len(glob.glob("/usr/share/ca-certificates/mozilla/*.crt")))
        if not may_mount():
            self.skipTest("SKIPPED: no right to mount")
        os.mkdir(f"{root}/proc")
        script = f'mount --bind {root} {root} && mount -t proc proc {root}/proc && exec chroot --userspec="$0" --groups= {root} "$@"'
        inside = lambda user: lambda name, *rest: (
            "unshare", "--mount", "--propagation", "private", "env", "-i", *process["env"], shutil.which("sh"), "-c",
            f"PATH=/usr/sbin:/usr/bin:/sbin:/bin; {script}", f"{user}:{user}", f"/usr/bin/{name}", *map(str, rest))
        self.check_works(inside(0))
        version = self.ok(*inside(12345)("clrscope", "--version"))
        self.assertIn(VERSION, version)
        # What another user may do: no program of others can be recorded, which is told.
        self.assertIn(run(*inside(12345)("clrscope", "ps")).returncode, (0, 3))
        trace = f"{root}/tmp/trace.nettrace"
        self.ok("zstd", "-dqf", f"{ROOT}/tests/golden/traces/03b-allocsampled-tick-csc.nettrace.zst", "-o", trace)
        os.chmod(trace, 0o644)
        self.ok(*inside(12345)("clrscope", "convert", "/tmp/trace.nettrace", "-o", "/tmp/mine.clrscope"))
        self.assertIn("Types", self.ok(*inside(12345)("clrscope", "report", "/tmp/mine.clrscope")))

    def test_is_what_others_read(self):
        self.need("skopeo")
        told = json.loads(self.ok("skopeo", "inspect", f"oci-archive:{MADE['oci']}"))
        self.assertEqual((told["Architecture"], told["Os"], len(told["Layers"])), ("amd64", "linux", 1))
        self.assertEqual(told["Labels"]["org.opencontainers.image.version"], VERSION)


class MakeInstall(Case):
    def test_brings_what_packages_bring(self):
        self.need("cmake")
        self.ok("cmake", "--install", os.path.dirname(os.path.dirname(harness.CLRSCOPE)), "--prefix", self.dir, "--strip")
        found = sorted(os.path.relpath(os.path.join(folder, name), self.dir) for folder, _, names in os.walk(self.dir) for name in names)
        self.assertEqual(found, ["bin/clrscope", "share/bash-completion/completions/clrscope", "share/fish/vendor_completions.d/clrscope.fish",
                                 "share/man/man1/clrscope.1", "share/zsh/site-functions/_clrscope"])
        with open(f"{self.dir}/share/man/man1/clrscope.1", encoding="utf-8") as page:
            self.assertIn(".SH COMMANDS", page.read())


class Parts(unittest.TestCase):
    def test_what_is_unknown_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "of no Debian package"):
            parts.owners({"/usr/lib/of-nobody.a"}, "amd64")
        with self.assertRaisesRegex(SystemExit, "terms of dpkg"):
            parts.debian("dpkg", True)


if __name__ == "__main__":
    harness.main(__name__)
