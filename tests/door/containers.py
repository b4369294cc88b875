# SPDX-License-Identifier: Apache-2.0
"""Containers as Kubernetes and Docker make them: an app in namespaces of its own, and clrscope in a container beside it."""
import json
import os
import shutil
import signal
import subprocess

import harness
from harness import clrscope
from roots import Root, may_mount
from seccomp import as_in_a_container

APP = 1000  # the user and group of the app
# What containerd gives a container that runs as root. Source: containerd, pkg/oci/spec.go, defaultUnixCaps
CAPABILITIES = ("chown", "dac_override", "fsetid", "fowner", "mknod", "net_raw", "setgid", "setuid", "setfcap", "setpcap",
                "net_bind_service", "sys_chroot", "kill", "audit_write")


def limits(*more):
    wanted = ",".join(["-all", *(f"+{name}" for name in (*CAPABILITIES, *more))])
    return ["setpriv", "--bounding-set", wanted, "--inh-caps", wanted]


class App:
    """A .NET program as process 1 of a pid namespace, with a root and a /tmp of its own."""

    def __init__(self, folder, tmp=None, mounts=":", user=APP):
        program = os.path.join(folder, "program")
        shutil.copytree(os.path.join(harness.WORKLOADS, "alloc-net9"), program)
        os.chmod(program, 0o755)
        own_tmp = "mount -t tmpfs -o mode=1777 tmpfs /tmp" if tmp is None else f'mount --bind "{tmp}" /tmp'
        # The program may lie in /tmp, of which it gets another.
        script = (f'set -e; mkdir -p /mnt; mount --bind "{program}" /mnt; {own_tmp}; {mounts}; unset TMPDIR; export HOME=/nonexistent; cd /; '
                  f'exec {" ".join(limits())} setpriv --reuid {user} --regid {user} --clear-groups '
                  '/mnt/alloc --seconds 120 --rate 200000000')
        self.process = subprocess.Popen(["unshare", "--pid", "--fork", "--mount", "--mount-proc", "--propagation", "private", "--kill-child",
                                         "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=as_in_a_container())
        if "ready" not in self.process.stdout.readline():
            raise RuntimeError("the app did not start")
        # unshare's child is the shell, which became the app.
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as children:
            self.pid = int(children.read().split()[0])

    def end(self):
        os.kill(self.pid, signal.SIGKILL)  # another user's process: --kill-child does not reach it
        self.process.wait()
        self.process.stdout.close()


class DebugContainer:
    """clrscope in a root where nothing else is, read-only, in the app's pid namespace or in one of its own."""

    def __init__(self, path, app, user=APP, capabilities=(), tmp=None, shares_processes=True):
        self.root, self.app, self.user = Root(path), app, user
        self.capabilities, self.tmp, self.shares_processes = capabilities, tmp, shares_processes
        if tmp is not None:
            os.makedirs(f"{path}/tmp", exist_ok=True)

    def command(self, *args):
        shared = f'mount --bind "{self.tmp}" "$root/tmp"; ' if self.tmp is not None else ""
        script = (f'set -e; root=$1; shift; mount --bind "$root" "$root"; mount -o remount,ro,bind "$root"; {shared}'
                  'mount -t proc proc "$root/proc"; '
                  f'exec {" ".join(limits(*self.capabilities))} chroot --userspec={self.user}:{self.user} --groups= "$root" "$@"')
        enter = ["nsenter", f"--pid=/proc/{self.app.pid}/ns/pid", "--"] if self.shares_processes else ["unshare", "--pid", "--fork"]
        return [*enter, "unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", self.root.path, *map(str, args)]

    def run(self, *args, text=True):
        return subprocess.run(self.command("/clrscope", *args), capture_output=True, text=text, timeout=60, preexec_fn=as_in_a_container(),
                              env={"PATH": os.environ["PATH"]})


def cases(DoorCase):
    class Containers(DoorCase):
        def setUp(self):
            if not may_mount() or not shutil.which("setpriv") or not shutil.which("nsenter"):
                self.skipTest("containers are made by root, with util-linux's unshare, nsenter and setpriv")
            if not os.path.isdir(os.path.join(harness.WORKLOADS, "alloc-net9")):
                self.skipTest("there is no self-contained alloc-net9")
            super().setUp()

        def app(self, **options):
            app = App(self.dir, **options)
            self.addCleanup(app.end)
            return app

        def shared_tmp(self):
            os.mkdir(self.path("tmp"))
            os.chmod(self.path("tmp"), 0o1777)
            return self.path("tmp")

        def container(self, app, **options):
            return DebugContainer(self.path("root"), app, **options)

        def records(self, run, *options):
            """… to standard output, as no folder may be written."""
            recorded = run("record", "-p", "1", "-d", "2s", *options, "-o", "-", text=False)
            self.assertEqual(recorded.returncode, 0, recorded.stderr)
            with open(self.path("app.clrscope"), "wb") as file:
                file.write(recorded.stdout)
            shown = clrscope("report", self.path("app.clrscope"), "--json")
            self.assert_ok(shown)
            document = json.loads(shown.stdout)
            self.assertIn("byte[]", [row["type"] for row in document["rows"]])
            return document

        def check(self, run, name):
            """`doctor`'s word on one matter, and its exit code."""
            told = run("doctor", "1", "--json")
            found = [c for c in json.loads(told.stdout)["checks"] if c["name"] == name]
            return (found[0] if found else None), told.returncode

        def test_an_ephemeral_container_of_the_apps_user(self):
            run = self.container(self.app()).run
            self.assertRegex(run("ps").stdout, r"(?m)^ *1 +alloc .*yes$")
            told = run("doctor", "1")
            self.assert_ok(told)
            self.assertIn("It can be profiled", told.stdout)
            self.assertEqual(self.check(run, "cpu")[0]["verdict"], "warn", "containers may not use perf_event_open")
            self.assertEqual(self.check(run, "agent")[0]["verdict"], "ok")
            self.records(run, "--live", "--cpu")
            shown = clrscope("report", self.path("app.clrscope"), "--measure", "cpu", "--json")
            self.assertEqual(json.loads(shown.stdout)["sampler"], "ptrace")
            self.assertGreater(json.loads(shown.stdout)["totals"]["samples"], 5)

        def test_root_without_ptrace_is_told_what_it_needs(self):
            app = self.app()
            run = self.container(app, user=0).run
            reach, code = self.check(run, "reach")
            self.assertEqual((reach["verdict"], code), ("fail", 5))
            self.assertIn("{runAsUser: 1000, runAsGroup: 1000}", reach["fix"])
            self.assertIn("{add: [SYS_PTRACE]}", reach["fix"])
            refused = run("record", "-p", "1", "-d", "1s", "-o", "-")
            self.assert_refuses(refused, 5, "SYS_PTRACE", "runAsUser: 1000")
            self.assertIn("SYS_PTRACE", run("ps", "--json").stdout)
            self.records(self.container(app, user=0, capabilities=("sys_ptrace",)).run, "--live")

        def test_a_sidecar_that_shares_tmp_and_the_processes(self):
            tmp = self.shared_tmp()
            run = self.container(self.app(tmp=tmp), user=0, tmp=tmp).run
            reach, code = self.check(run, "reach")
            self.assertEqual((reach["verdict"], code), ("warn", 0))
            self.records(run, "--live")
            refused = run("record", "-p", "1", "-d", "1s", "--cpu", "-o", "-")
            self.assert_refuses(refused, 5, "CPU time cannot be sampled", "CAP_SYS_PTRACE")

        def test_a_sidecar_that_shares_tmp_alone(self):
            tmp = self.shared_tmp()
            app = self.app(tmp=tmp)
            run = self.container(app, tmp=tmp, shares_processes=False).run
            for verb in (("ps",), ("doctor", "1")):
                result = run(*verb)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn("cannot be seen from this pid namespace", " ".join((result.stdout + result.stderr).split()))
                self.assertIn("shareProcessNamespace: true", result.stdout + result.stderr)

        def test_the_node(self):
            app = self.app()
            told = clrscope("doctor", app.pid, "--json")
            self.assert_ok(told)
            checks = {c["name"]: c for c in json.loads(told.stdout)["checks"]}
            self.assertIn("it sees itself as process 1", checks["namespace"]["what"])
            self.assert_ok(clrscope("record", "-p", app.pid, "--live", "-d", "2s", "-o", self.path("app.clrscope")))

        def test_an_app_that_can_load_nothing(self):
            closed = "; ".join(f"mount -t tmpfs -o noexec,mode=1777 tmpfs {folder}" for folder in ("/tmp", "/dev/shm", "/var/tmp"))
            run = self.container(self.app(mounts=closed)).run
            agent, code = self.check(run, "agent")
            self.assertEqual((agent["verdict"], code), ("warn", 0))
            self.assertIn("/tmp (is mounted noexec)", agent["what"])
            self.records(run)
            refused = run("record", "-p", "1", "-d", "1s", "--live", "-o", "-")
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("noexec", refused.stderr)

        def test_a_user_namespace(self):
            """As rootless containers have: root there is a user without privileges elsewhere."""
            unshare = ["setpriv", "--reuid", str(APP), "--regid", str(APP), "--clear-groups", "unshare", "--user", "--map-root-user", "--pid",
                       "--fork", "--mount", "--mount-proc", "--kill-child"]
            if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
                self.skipTest("user namespaces are not permitted here")
            os.chmod(self.dir, 0o777)
            shutil.copytree(os.path.join(harness.WORKLOADS, "alloc-net9"), self.path("program"))
            shutil.copy(harness.CLRSCOPE, self.path("clrscope"))
            script = (f"{self.path('program')}/alloc --seconds 60 --rate 50000000 >/dev/null & "
                      f"app=$!; n=0; until {self.path('clrscope')} doctor $app >/dev/null 2>&1 || [ $n = 50 ]; do n=$((n+1)); sleep 0.1; done; "
                      f"{self.path('clrscope')} record -q -p $app --live -d 2s -o -; code=$?; kill $app; exit $code")
            made = subprocess.run([*unshare, "sh", "-c", script], capture_output=True, timeout=60)
            self.assertEqual(made.returncode, 0, made.stderr)
            with open(self.path("app.clrscope"), "wb") as file:
                file.write(made.stdout)
            self.assertIn("byte[]", clrscope("report", self.path("app.clrscope")).stdout)

    return Containers
