# SPDX-License-Identifier: Apache-2.0
"""The agent where it is not made welcome: in other namespaces, folders that forbid it, beside another profiler."""
import glob
import json
import os
import shutil
import signal
import subprocess
import time

from agent_case import AgentCase, Probe, agent_threads, has_agent, library_mappings, status
import harness
from harness import Workload, clrscope, start_clrscope, wait_until


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(text) for text in file.read().split()]
    except OSError:
        return []


def may_unshare():
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"],
                                                capture_output=True).returncode == 0


def mapped_at(pid):
    """Where the agent's library was loaded from, as the process sees it."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        paths = {line.split(None, 5)[5].strip().removesuffix(" (deleted)") for line in file if "clrscope-agent-" in line}
    return paths.pop() if len(paths) == 1 else paths


class Confined(Workload):
    """`alloc` behind a shell script that makes its surroundings, in mount and pid namespaces of its own. `pid` is as we see it."""

    def __init__(self, setup, *args, launcher="exec"):
        # What lies below /tmp may be hidden by then.
        script = f'set -e; mount --bind "$1" /mnt; shift; {setup}; {launcher} dotnet /mnt/alloc/alloc.dll "$@"'
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-c", script, "sh",
             harness.WORKLOADS, *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.inner_pid = json.loads(line)["ready"]
        self.pid = self.process.pid
        while inside := children(self.pid):
            self.pid = inside[0]


class Surroundings(AgentCase):
    def confined(self, setup, **kwargs):
        if not may_unshare():
            self.skipTest("namespaces of its own are for root")
        del os.environ["TMPDIR"]  # AgentCase restores it; the target is to keep its sockets in /tmp
        work = Confined(setup, "--rate", "50e6", "--seconds", "60", "--start-on-stdin", **kwargs)
        self.addCleanup(work.end)
        work.go()
        return work

    def around(self, work):
        """Attaches, sees samples, detaches; where the library came from."""
        self.assert_ok(clrscope("attach", "-p", work.pid))
        wait_until(lambda: status(work.pid)["samples"] > 0, 60, "it samples")
        place = mapped_at(work.pid)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        wait_until(lambda: agent_threads(work.pid) == 0, 60, "its thread ended")
        self.assertIsNone(work.process.poll())
        return place

    def test_a_program_that_has_changed_its_environment(self):
        library = os.path.abspath(os.path.join(os.path.dirname(harness.CLRSCOPE), "..", "lib", "libchange-tmpdir.so"))
        work = self.workload("alloc", "--rate", "50e6", "--seconds", "60", "--start-on-stdin", env={"LD_PRELOAD": library})
        work.go()
        self.around(work)

    def test_other_mount_and_pid_namespaces(self):
        work = self.confined("mount -t tmpfs tmpfs /tmp")
        self.assertNotEqual(work.inner_pid, work.pid)
        self.assertTrue(self.around(work).startswith("/tmp/clrscope-agent-"))
        self.assertEqual(glob.glob(f"/proc/{work.pid}/root/tmp/clrscope*"), [])

    def test_another_root(self):
        root = os.path.join(self.dir, "root")
        os.mkdir(root)
        # The same programs under another root, with a /tmp of its own.
        work = self.confined(f"mount --rbind / {root}; mount -t tmpfs tmpfs {root}/tmp; mount -t proc proc {root}/proc",
                             launcher=f"exec chroot {root}")
        self.assertEqual(os.readlink(f"/proc/{work.pid}/root"), root)
        self.assertIn(f"{root}/tmp/clrscope-agent-", self.around(work))
        self.assertEqual(glob.glob(f"/proc/{work.pid}/root/tmp/clrscope*"), [])

    def test_noexec_and_read_only_folders_are_passed_over(self):
        work = self.confined("mount -t tmpfs -o noexec tmpfs /tmp; mount -t tmpfs -o ro tmpfs /dev/shm; "
                             "mount -t tmpfs tmpfs /var/tmp")
        self.assertTrue(self.around(work).startswith("/var/tmp/clrscope-agent-"))
        self.assertEqual(glob.glob(f"/proc/{work.pid}/root/var/tmp/clrscope*"), [])

    def test_its_home_is_the_last_resort(self):
        work = self.confined("mount -t tmpfs -o noexec tmpfs /tmp; mount -t tmpfs -o ro tmpfs /dev/shm; "
                             "mount -t tmpfs -o noexec tmpfs /var/tmp; mount -t tmpfs tmpfs /srv; export HOME=/srv")
        self.assertTrue(self.around(work).startswith("/srv/clrscope-agent-"))

    def test_no_folder_at_all(self):
        work = self.confined("mount -t tmpfs -o noexec tmpfs /tmp; mount -t tmpfs -o ro tmpfs /dev/shm; "
                             "mount -t tmpfs -o noexec tmpfs /var/tmp; export HOME=/nowhere")
        result = clrscope("attach", "-p", work.pid)
        self.assertEqual(result.returncode, 6, result.stderr)
        for words in ("no folder that the agent could be loaded from", "/tmp (is mounted noexec)", "/dev/shm (is read-only)",
                      "/nowhere (No such file"):
            self.assertIn(words, result.stderr)
        self.assertIsNone(work.process.poll())

    def test_another_profiler_is_there(self):
        library = os.path.join(os.path.dirname(harness.CLRSCOPE), "..", "lib", "libother-profiler.so")
        work = self.workload("alloc", "--rate", "50e6", "--seconds", "60", "--start-on-stdin",
                             env={"CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": "{0B5ADBE1-22E1-4E0A-8F3D-6C9D4D8C2A11}",
                                  "CORECLR_PROFILER_PATH": os.path.abspath(library)})
        work.go()
        with open(f"/proc/{work.pid}/maps", encoding="utf-8") as file:
            self.assertIn("libother-profiler.so", file.read())
        result = clrscope("attach", "-p", work.pid)
        self.assertEqual(result.returncode, 6, result.stderr)
        self.assertIn("has another profiler loaded, and a runtime takes only one", result.stderr)
        recorded = clrscope("record", "-p", work.pid, "-d", "1s", "-o", self.path())
        self.assert_ok(recorded)  # as the sentence says
        self.assertIsNone(work.process.poll())

    def test_two_live_recordings(self):
        work = self.workload("alloc", "--rate", "100e6", "--seconds", "60", "--start-on-stdin")
        work.go()
        first = start_clrscope("record", "-p", work.pid, "--live", "-o", self.path("first.clrscope"))
        wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 0, 60, "the first one's agent samples")
        second = clrscope("record", "-p", work.pid, "--live", "-d", "1s", "-o", self.path("second.clrscope"))
        self.assertEqual(second.returncode, 6, second.stderr)
        self.assertIn("has a clrscope agent already", second.stderr)
        self.assertTrue(has_agent(work.pid))
        first.send_signal(signal.SIGINT)
        _, words = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0, words)
        self.assertGreater(harness.report(self.path("first.clrscope"))["totals"]["samples"], 0)
        self.assertFalse(has_agent(work.pid))

    def test_a_killed_recording_lets_go(self):
        work = self.workload("alloc", "--rate", "100e6", "--seconds", "60", "--start-on-stdin")
        work.go()
        recording = start_clrscope("record", "-p", work.pid, "--live", "-o", self.path())
        wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 0, 60, "the agent samples")
        recording.kill()
        recording.communicate()
        wait_until(lambda: not has_agent(work.pid) and agent_threads(work.pid) == 0, 60, "the agent went")
        self.assertIsNone(work.process.poll())
        self.assert_ok(clrscope("record", "-p", work.pid, "--live", "-d", "1s", "-o", self.path("again.clrscope")))

    def test_the_target_exits_in_mid_attach(self):
        for seconds in (0.05, 0.1, 0.2, 0.4):
            with self.subTest(seconds):
                work = self.workload("alloc", "--rate", "100e6", "--seconds", str(seconds), "--start-on-stdin")
                attach = start_clrscope("attach", "-p", work.pid)
                work.go()
                truth = work.truth()
                self.assertEqual(work.process.wait(20), 0, "the program ends as if nobody had come")
                self.assertGreater(truth["objects"], 0)
                words = attach.communicate(timeout=60)
                self.assertIn(attach.returncode, (0, 1, 4, 5, 6), words)
                work.end()

    def test_detach_in_the_middle_of_samples(self):
        """Threads that do nothing but allocate under deep stacks: some are always in a sample."""
        work = self.workload("alloc", "--mode", "deep", "--threads", "6", "--rate", "max", "--bytes", "1e12", "--seconds", "120",
                             "--start-on-stdin")
        work.go()
        for pause in (0, 0.01, 0.05, 0.1, 0.3, 0):
            probe = Probe(work.pid, 60)
            time.sleep(pause)
            self.assert_ok(clrscope("detach", "-p", work.pid))
            report = probe.report()
            self.assertTrue(report["last"])
            self.assertFalse(report["gap"])
            self.assertIsNone(work.process.poll())
        self.assertGreater(library_mappings(work.pid), 0)
        wait_until(lambda: agent_threads(work.pid) == 0, 60, "the last thread ended")
