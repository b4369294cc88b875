#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent in live .NET processes: what it says against what the programs counted themselves."""
from collections import Counter
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

from agent_case import (FLAVOURS, AgentCase, Probe, agent_threads, await_sampling, bytes_of, count_fds, has_agent, library_mappings, rss_kb,
                        status)
from clock import clock
import harness
from harness import clrscope, start_clrscope, wait_until
from agent_events import AgentEvents  # noqa: F401
from async_callers import AsyncCallers  # noqa: F401
from commands import Commands  # noqa: F401
from dynamic_code import DynamicCode  # noqa: F401
from handles import Handles  # noqa: F401  (run with the others)
from hazards import Hazards  # noqa: F401
from left_behind import LeftBehind  # noqa: F401
from limits import Limits  # noqa: F401
from metadata import Metadata  # noqa: F401
from musl import Musl  # noqa: F401
from own_frames import OwnFrames  # noqa: F401
from permission import Permission  # noqa: F401
from pprof_file import PprofFile
from surroundings import Surroundings  # noqa: F401


class Totals(AgentCase):
    def measure(self, flavour, mode="mix", *options):
        work = self.workload(flavour, "--mode", mode, "--threads", "4", "--rate", "max", "--bytes", "3e9", "--seconds",
                             "30", "--start-on-stdin", "--hold-on-stdin")
        probe = Probe(work.pid, 60, *options)
        self.assertIn("attached", probe.attached)
        time.sleep(0.3)
        work.go()
        truth = work.truth()
        self.state = status(work.pid)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        report = probe.report()
        self.assertTrue(report["last"])
        self.assertFalse(report["gap"])
        self.assertEqual(report["losses"].get("agent_table_full", 0), 0)
        return truth, report

    def test_net10_total_is_within_its_interval(self):
        truth, report = self.measure("alloc")
        total, real = report["total"], truth["total_allocated_bytes"]
        self.check_interval(total, real)
        self.assertLess((total["high"] - total["low"]) / 2, 0.03 * real)

    def test_net10_a_periodic_program_misleads_nobody(self):
        truth, report = self.measure("alloc", "periodic")
        sites = {name: n for name, n in report["leaves"].items() if "PeriodicSites" in name}
        expected = report["total"]["samples"] / 4
        for site in ("North", "East", "South", "West"):
            samples = next(n for name, n in sites.items() if name.endswith(site))
            self.assertLess(abs(samples - expected), 6 * expected ** 0.5, site)
        self.assertLess(abs(report["total"]["bytes"] / truth["total_allocated_bytes"] - 1), 0.05)

    def test_net8_and_net9_totals(self):
        for flavour in ("alloc-net8", "alloc-net9"):
            with self.subTest(flavour):
                truth, report = self.measure(flavour)
                self.assertLess(abs(report["total"]["bytes"] / truth["total_allocated_bytes"] - 1), 0.06)

    def test_walk_and_fold_cost_and_background_gcs_go_on(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                _, report = self.measure(flavour)
                self.assertGreater(report["gcs"], 5)
                self.assertLess(report["meter"]["agent_bytes"], 20e6)
                # Few stacks are left to the runtime, but for those with code that was new: how many these are depends on how
                # soon the agent's thread gets a processor.
                left = self.state["walk_fallbacks"] - self.state["walk_new"]
                self.assertLessEqual(left, self.state["samples"] * self.LEFT_OVER.get("mix", 0.01), self.state)

    def test_the_cause_of_gcs_stays_concurrent(self):
        """MONITOR_GC is not asked for, and HIGH_BASIC_GC changes nothing: generation 2 is still collected in the background."""
        _, report = self.measure("alloc", "lohpoh")
        self.assertGreater(report["background_gcs"], 0)

    def test_types_have_their_whole_names(self):
        _, report = self.measure("alloc", "generic")
        self.assertNotIn("?", report["types"])
        self.assertTrue(any("<" in name for name in report["types"]), report["types"].keys())


class Stacks(AgentCase):
    def test_own_walk_is_the_runtimes(self):
        for flavour in FLAVOURS:
            for mode in ("mix", "deep", "generic", "async", "dynamic", "funclets", "stackalloc", "interop", "osr", "values"):
                with self.subTest(flavour=flavour, mode=mode):
                    self.compare_walks(flavour, mode)


class Names(AgentCase):
    """A method has one name, whether the agent tells it or the runtime's events: captures of both kinds can be compared."""

    # A method that is seen less often may have other overloads in each of two recordings.
    LEAST_SAMPLES = 10

    def frames(self, path):
        """Names by method; and how often each method was seen."""
        names, samples = {}, Counter()
        for row in harness.report(path, "--by", "stack", "--framework", "-n", "0")["rows"]:
            for frame in row["frames"]:
                key = (frame["module"], frame["method"])
                names.setdefault(key, set()).add(frame["raw"])
                samples[key] += row["samples"]
        return names, samples

    def test_the_agents_are_those_of_events(self):
        for flavour in FLAVOURS:
            for mode in ("generic", "async", "dynamic"):
                with self.subTest(flavour=flavour, mode=mode):
                    folder = os.path.join(harness.WORKLOADS, flavour)
                    command = ["dotnet", f"{folder}/alloc.dll"] if flavour == "alloc" else [f"{folder}/alloc"]
                    command += ["--mode", mode, "--rate", "max", "--bytes", "3e8", "--seconds", "20"]
                    told = []
                    for live in ([], ["--live"]):
                        path = self.path(f"{flavour}-{mode}{len(live)}.clrscope")
                        self.assert_ok(clrscope("record", *live, "-o", path, "--", *command, timeout=90))
                        told.append(self.frames(path))
                    (events, seen), (agent, seen_by_agent) = told
                    shared = [key for key in events if key[0] is not None and min(seen[key], seen_by_agent[key]) >= self.LEAST_SAMPLES]
                    # A name that holds an address of the process is another one in each.
                    shared = [key for key in shared if not any("pMT:" in raw for raw in events[key])]
                    self.assertGreater(sum(key[0] == "alloc" for key in shared), 3, shared)
                    for key in shared:
                        self.assertTrue(events[key] & agent[key], f"{key}: {events[key]} but {agent[key]}")
                    for (module, method), raws in agent.items():
                        if module is not None and not method.startswith("0x"):
                            self.assertTrue(all("(" in raw for raw in raws), raws)


class Live(AgentCase):
    def test_a_known_live_set(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                work = self.workload(flavour, "--mode", "keep", "--threads", "2", "--rate", "max", "--bytes", "4e9",
                                     "--seconds", "30", "--start-on-stdin", "--hold-on-stdin")
                probe = Probe(work.pid, 60)
                work.go()
                truth = work.truth()
                time.sleep(0.5)
                self.assert_ok(clrscope("detach", "-p", work.pid))
                report = probe.report()
                work.end()
                live = report["live"]
                for name in ("Kept", "Block[]"):
                    real = bytes_of(truth, name)
                    estimate = next(v for k, v in live.items() if k.endswith("." + name))
                    if flavour == "alloc":
                        self.check_interval(estimate, real, name)
                    # A tick comes when an allocation context is used up, which small objects among larger ones do more often than
                    # their bytes say: its figures claim nothing. But whatever was sampled of these types is still there.
                    sampled = next(v for k, v in report["types"].items() if k.endswith("." + name))
                    self.assertAlmostEqual(estimate["bytes"] / sampled["bytes"], 1, delta=0.01, msg=name)
                # Garbage is not called live.
                garbage = live.get("byte[]", {"bytes": 0})["bytes"]
                self.assertLess(garbage, 0.01 * truth["bytes"])

    def test_a_small_cap_stays_honest(self):
        work = self.workload("alloc", "--mode", "keep", "--threads", "2", "--rate", "max", "--bytes", "4e9", "--seconds",
                             "30", "--start-on-stdin", "--hold-on-stdin")
        probe = Probe(work.pid, 60, "cap=256")
        work.go()
        truth = work.truth()
        time.sleep(0.5)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        report = probe.report()
        self.assertLessEqual(report["meter"]["handles"], 256)
        estimate = next(v for k, v in report["live"].items() if k.endswith(".Block[]"))
        self.check_interval(estimate, bytes_of(truth, "Block[]"))


class RealGenerations(AgentCase):
    """The generation that a live object is told in, against GC.GetGeneration of the program itself."""
    GENERATIONS = {"gen0": 0, "gen1": 1, "gen2": 2, "LOH": 3, "POH": 4}

    def told(self, path, name):
        rows = harness.report(path, "--live", "--by", "generation", "--type", rf"\.{name}\[\]$", "-n", "0")["rows"]
        out = [0] * 5
        for row in rows:
            out[self.GENERATIONS[row["generation"]]] = row["samples"]
        return out

    def check(self, flavour, server):
        work = self.workload(flavour, "--mode", "generations", "--start-on-stdin", "--hold-on-stdin",
                             env={"DOTNET_gcServer": server})
        path = self.path(f"{flavour}-{server}.clrscope")
        recorder = start_clrscope("record", "-p", work.pid, "--live", "-o", path)
        await_sampling(work.pid)
        work.go()
        truth = work.truth()["generations"]
        time.sleep(0.5)
        self.assertEqual(status(work.pid)["generations_derived"], 0)
        recorder.send_signal(signal.SIGINT)
        _, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, err)
        work.end()
        for name in ("Elder", "Middle", "Stuck"):
            told, real = self.told(path, name), truth[name]
            samples = sum(told)
            self.assertGreater(samples, 20, name)
            self.assertEqual(told[3:], [0, 0], name)
            for g in range(3):
                share = real[g] / sum(real)
                # A generation that holds all or none of them is told without an exception.
                slack = 4.5 * (share * (1 - share) / samples) ** 0.5
                self.assertLessEqual(abs(told[g] / samples - share), slack + 1e-9, f"{name}: {told} of {real}")
        for name, at in (("Large", 3), ("Pinned", 4)):
            told = self.told(path, name)
            self.assertGreater(told[at], 20, name)
            self.assertEqual(sum(told), told[at], name)
        self.assertEqual(sum(self.told(path, "Fresh")), 0, "no collection has looked at them")

    @clock
    def test_they_are_what_the_runtime_says(self):
        for flavour in ("gc", "gc-net9", "gc-net8"):
            for server in ("0", "1"):
                with self.subTest(flavour=flavour, server=server):
                    self.check(flavour, server)


class GcStress(AgentCase):
    """Live objects while another thread collects all the time, compacting and in the background, with a gen0 of 64 KB; objects of
    all heaps, and of types that could be unloaded."""
    KEPT = ("Kept", "Block[]", "PinnedBlock[]", "PluginItem")

    def stress(self, flavour, server):
        work = self.workload(flavour, "--mode", "stress", "--collect", "--threads", "2", "--rate", "max", "--bytes", "12e8",
                             "--seconds", "40", "--start-on-stdin", "--hold-on-stdin",
                             env={"DOTNET_gcServer": server, "DOTNET_GCgen0size": "0x10000"})
        probe = Probe(work.pid, 90)
        work.go()
        truth = work.truth()
        time.sleep(0.5)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        report = probe.report()
        work.process.stdin.close()
        self.assertEqual(work.process.wait(30), 0)
        self.assertTrue(report["last"])
        self.assertGreater(report["gcs"], 20)
        self.assertEqual(report["losses"].get("agent_table_full", 0), 0)
        for name in self.KEPT:
            real = bytes_of(truth, "." + name)
            estimate = next(v for k, v in report["live"].items() if k.endswith("." + name))
            if flavour == "alloc":
                self.check_interval(estimate, real, name)
            sampled = next(v for k, v in report["types"].items() if k.endswith("." + name))
            self.assertAlmostEqual(estimate["bytes"] / sampled["bytes"], 1, delta=0.01, msg=name)
        self.assertLess(report["live"].get("byte[]", {"bytes": 0})["bytes"], 0.02 * truth["bytes"])

    @clock
    def test_the_runtimes_own_stress(self):
        """DOTNET_GCStress=0xF: collections at allocations and in the middle of code, thousands a second. The runtime heeds it in most
        runs, not in all."""
        collections = []
        for flavour in 3 * FLAVOURS:
            if len(collections) >= len(FLAVOURS) and max(collections) > 1000:
                break
            with self.subTest(flavour=flavour):
                work = self.workload(flavour, "--mode", "check", "--threads", "2", "--rate", "max", "--bytes", "1e9", "--seconds", "5",
                                     "--start-on-stdin", "--hold-on-stdin",
                                     env={"DOTNET_GCStress": "0xF", **self.load_variables("every=1s")})
                work.go()
                truth = work.truth()
                state = status(work.pid)
                work.process.stdin.close()
                self.assertEqual(work.process.wait(60), 0)
                self.assertEqual(truth["different"], 0)
                self.assertGreater(truth["same"], 0)
                self.assertGreater(state["samples"], 50)
                collections.append(truth["collections"][0])
        self.assertGreater(max(collections), 1000, "the stress is there")

    def test_live_objects_under_constant_collections(self):
        for flavour in FLAVOURS:
            for server in ("0", "1"):
                with self.subTest(flavour=flavour, server=server):
                    self.stress(flavour, server)


class ComingAndGoing(AgentCase):
    @staticmethod
    def least_rss_kb(pid):
        """Of some readings: the program's own heap comes and goes by ten MB and more between two collections."""
        least = rss_kb(pid)
        for _ in range(20):
            time.sleep(0.05)
            least = min(least, rss_kb(pid))
        return least

    def test_attach_waits_for_a_runtime_that_starts(self):
        """A runtime answers before it takes a profiler. This one stays there until it is resumed."""
        for flavour in ("alloc-net8", "alloc-net9", "alloc"):
            with self.subTest(flavour):
                program = subprocess.Popen([*harness.command(flavour), "--seconds", "60", "--rate", "1000000"], stdout=subprocess.DEVNULL,
                                           env={**os.environ, "DOTNET_DefaultDiagnosticPortSuspend": "1"})
                self.addCleanup(program.wait)
                self.addCleanup(program.kill)
                wait_until(lambda: '"start"' in clrscope("doctor", program.pid, "--json").stdout, 60, "the runtime waits")
                attach = start_clrscope("attach", "-p", program.pid)
                self.addCleanup(attach.kill)
                with self.assertRaises(subprocess.TimeoutExpired):
                    attach.wait(0.5)
                self.assert_ok(clrscope("doctor", program.pid, "--resume"))
                _, words = attach.communicate(timeout=60)
                self.assertEqual(attach.returncode, 0, words)
                self.assertTrue(status(program.pid)["sampling"])

    @clock
    def test_twenty_rounds_leave_nothing_behind(self):
        work = self.workload("alloc", "--threads", "2", "--rate", "200e6", "--seconds", "900", "--start-on-stdin")
        work.go()

        def around():
            self.assert_ok(clrscope("attach", "-p", work.pid))
            time.sleep(0.1)
            self.assert_ok(clrscope("detach", "-p", work.pid))

        for _ in range(3):
            around()
        time.sleep(0.5)
        fds, mappings, rss = count_fds(work.pid), library_mappings(work.pid), self.least_rss_kb(work.pid)
        for _ in range(20):
            around()
        wait_until(lambda: agent_threads(work.pid) == 0, 60, "the agent's thread ended")
        # The runtime lets go within 0.6 s, or, where a thread of its own is held up, after another five.
        wait_until(lambda: count_fds(work.pid) <= fds, 60, "descriptors are closed")
        self.assertEqual(library_mappings(work.pid), mappings)
        self.assertLess(self.least_rss_kb(work.pid), rss + 20_000)
        self.assertEqual(glob.glob(os.path.join(self.tmp, "clrscope-agent*")), [])
        self.assertIsNone(work.process.poll())

    def test_two_at_once(self):
        work = self.workload("alloc", "--rate", "50e6", "--seconds", "60", "--start-on-stdin")
        work.go()
        self.assert_ok(clrscope("attach", "-p", work.pid))
        self.assert_ok(clrscope("attach", "-p", work.pid))
        recording = clrscope("record", "-p", work.pid, "--live", "-d", "1s", "-o", self.path("second.clrscope"))
        self.assertIn("has a clrscope agent already", recording.stderr)
        self.assertGreater(status(work.pid)["uptime_ms"], 0)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        self.assertEqual(clrscope("detach", "-p", work.pid).returncode, 4)

    def test_an_agent_that_is_there_is_stopped_started_and_changed(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                folder = os.path.join(self.dir, f"{flavour}-spool")
                work = self.workload(flavour, "--rate", "100e6", "--seconds", "120", "--start-on-stdin")
                work.go()
                self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1h"))
                self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1s", "-o", f"{folder}/%t.pb"))
                state = status(work.pid)
                self.assertEqual((state["every_ms"], state["sampling"], state["stopped"]), (1000, True, False))
                wait_until(lambda: glob.glob(f"{folder}/*.pb"), 60, "the new interval is kept")
                wrong = clrscope("attach", "-p", work.pid, "--no-live")
                self.assertEqual(wrong.returncode, 6)
                self.assertIn("cannot be changed", wrong.stderr)
                self.assert_ok(clrscope("detach", "-p", work.pid, "--stay"))
                stopped = status(work.pid)
                self.assertEqual((stopped["sampling"], stopped["stopped"]), (False, True))
                wait_until(lambda: status(work.pid)["files_waiting"] == 0, 60, "the last file is written")
                files = len(glob.glob(f"{folder}/*.pb"))
                time.sleep(2.5)
                self.assertEqual(status(work.pid)["samples"], stopped["samples"])
                self.assertEqual(len(glob.glob(f"{folder}/*.pb")), files)
                self.assert_ok(clrscope("attach", "-p", work.pid))
                again = status(work.pid)
                self.assertEqual((again["sampling"], again["every_ms"]), (True, 1000))
                wait_until(lambda: status(work.pid)["samples"] > stopped["samples"] + 100, 60, "it samples again")
                wait_until(lambda: len(glob.glob(f"{folder}/*.pb")) > files, 60, "it writes again")
                self.assertGreaterEqual(status(work.pid)["uptime_ms"], stopped["uptime_ms"])
                self.assert_ok(clrscope("detach", "-p", work.pid))
                self.assertIsNone(work.process.poll())
                work.end()

    def test_a_stopped_agent_lets_go_and_a_recordings_agent_is_left_alone(self):
        work = self.workload("alloc", "--rate", "50e6", "--seconds", "60", "--start-on-stdin")
        work.go()
        self.assert_ok(clrscope("attach", "-p", work.pid))
        self.assert_ok(clrscope("detach", "-p", work.pid, "--stay"))
        self.assert_ok(clrscope("detach", "-p", work.pid))
        self.assertFalse(has_agent(work.pid))
        probe = Probe(work.pid, 60)
        refused = clrscope("attach", "-p", work.pid, "--every", "2s")
        self.assertEqual(refused.returncode, 6)
        self.assertIn("belongs to a recording", refused.stderr)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        probe.report()

    def test_the_agent_goes_when_its_clrscope_is_killed(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                work = self.workload(flavour, "--rate", "100e6", "--seconds", "60", "--start-on-stdin")
                work.go()
                probe = Probe(work.pid, 60)
                self.assertTrue(has_agent(work.pid))
                probe.process.send_signal(signal.SIGKILL)
                probe.process.communicate()
                wait_until(lambda: not has_agent(work.pid), 60, "the agent went")
                wait_until(lambda: agent_threads(work.pid) == 0, 60, "its thread ended")
                self.assertIsNone(work.process.poll())
                self.assert_ok(clrscope("attach", "-p", work.pid))
                self.assert_ok(clrscope("detach", "-p", work.pid))
                work.end()

    def test_an_owner_that_never_comes(self):
        work = self.workload("alloc", "--rate", "10e6", "--seconds", "60", "--start-on-stdin")
        probe = Probe(work.pid, 0.1, "--keep")  # leaves without a word
        probe.process.communicate(timeout=60)
        wait_until(lambda: not has_agent(work.pid), 60, "the agent went")

    def test_the_target_ends_while_attached(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                work = self.workload(flavour, "--rate", "200e6", "--seconds", "2", "--start-on-stdin")
                probe = Probe(work.pid, 60)
                work.go()
                truth = work.truth()
                report = probe.report()
                self.assertEqual(work.process.wait(20), 0)
                self.assertTrue(report["last"], "the agent has said its last words")
                self.assertLess(abs(report["total"]["bytes"] / truth["total_allocated_bytes"] - 1), 0.25)

    @clock
    def test_the_target_is_killed_in_mid_attach(self):
        for delay in (0.0, 0.005, 0.02, 0.05, 0.1):
            work = self.workload("alloc", "--rate", "200e6", "--seconds", "60", "--start-on-stdin")
            work.go()
            attach = start_clrscope("attach", "-p", work.pid)
            time.sleep(delay)
            work.process.kill()
            killed = time.monotonic()
            out = attach.communicate(timeout=60)
            self.assertIn(attach.returncode, (0, 4), out)  # it was there, or it has ended
            self.assertLess(time.monotonic() - killed, 5, "the end is noticed, nobody is waited for")
            work.end()

    def test_a_process_without_dotnet(self):
        sleeper = subprocess.Popen(["sleep", "30"])
        try:
            self.assertEqual(clrscope("attach", "-p", sleeper.pid).returncode, 4)
        finally:
            sleeper.kill()
            sleeper.wait()

    def test_an_agent_that_hangs_up_is_gone(self):
        """One that leaves by itself as it is asked to."""
        sleeper = subprocess.Popen(["sleep", "60"], env={**os.environ, "TMPDIR": self.tmp})
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        with open(f"/proc/{sleeper.pid}/stat", encoding="ascii") as file:
            started = file.read().rpartition(")")[2].split()[19]
        path = os.path.join(self.tmp, f"clrscope-agent-{sleeper.pid}-{started}.socket")

        def hang_up(leaves):
            connection, _ = listener.accept()
            if leaves:
                os.remove(path)
            connection.close()  # with what was said unread: a reset

        for leaves in (True, False):
            with self.subTest(leaves=leaves), socket.socket(socket.AF_UNIX) as listener:
                listener.bind(path)
                listener.settimeout(30)
                listener.listen()
                agent = threading.Thread(target=hang_up, args=(leaves,))
                agent.start()
                detached = clrscope("detach", "-p", sleeper.pid)
                agent.join()
                if leaves:
                    self.assert_ok(detached)
                else:
                    self.assertEqual(detached.returncode, 1, "it is there still")


class StartUp(AgentCase):
    def test_spooled_profiles(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                folder = os.path.join(self.dir, flavour)
                work = self.workload(flavour, "--rate", "max", "--bytes", "1e9", "--threads", "2", "--start-on-stdin",
                                     env=self.load_variables(f"every=1s,output={folder}/%n-%p-%t.pb,label.service=shop"))
                work.go()
                truth = work.truth()
                self.assertEqual(work.process.wait(20), 0)
                files = sorted(f for f in glob.glob(f"{folder}/*.pb") if "gccpu" not in f)
                self.assertTrue(files)
                self.assertTrue(os.path.basename(files[0]).startswith(f"alloc-{work.pid}-"))
                self.assertEqual(glob.glob(f"{folder}/*.part"), [])
                if shutil.which("go"):
                    total = 0
                    for path in files:
                        top = subprocess.run(["go", "tool", "pprof", "-sample_index=alloc_space", "-unit=b", "-top", path],
                                             capture_output=True, text=True, timeout=60).stdout
                        # An interval in which nothing was allocated has no unit: the machine had other work.
                        told = re.search(r"Total samples = ([\d.e+]+)B", top)
                        total += float(told[1]) if told else 0
                    self.assertLess(abs(total / truth["total_allocated_bytes"] - 1), 0.15)

    @clock
    def test_spooled_profiles_are_as_those_of_convert(self):
        """The agent's files and those of `convert` have the same values, labels, names and words."""
        args = ["--mode", "keep", "--threads", "2", "--rate", "max", "--bytes", "2e9", "--seconds", "30", "--start-on-stdin",
                "--hold-on-stdin"]
        for flavour in ("alloc", "alloc-net8"):
            with self.subTest(flavour):
                folder = os.path.join(self.dir, flavour)
                work = self.workload(flavour, *args, env=self.load_variables(f"every=60s,output={folder}/%p.pb"))
                work.go()
                work.truth()
                work.process.stdin.close()
                self.assertEqual(work.process.wait(20), 0)
                spool = PprofFile(f"{folder}/{work.pid}.pb")

                # Names of threads are read now and then: these live for some seconds.
                work = self.workload(flavour, *args, "--rate", "500e6")
                capture, converted = self.path(flavour + ".clrscope"), self.path(flavour + ".pb.gz")
                recorder = start_clrscope("record", "-p", work.pid, "--live", "-o", capture)
                await_sampling(work.pid)
                work.go()
                work.truth()
                time.sleep(1)
                recorder.send_signal(signal.SIGINT)
                _, err = recorder.communicate(timeout=60)
                self.assertEqual(recorder.returncode, 0, err)
                self.assert_ok(clrscope("convert", capture, "-o", converted))
                convert = PprofFile(converted)

                self.assertEqual(spool.sample_types, ["alloc_objects/count", "alloc_space/bytes", "inuse_objects/count",
                                                      "inuse_space/bytes"])
                self.assertEqual(spool.sample_types, convert.sample_types)
                self.assertEqual((spool.default_type, convert.default_type), ("inuse_space", "inuse_space"))
                if flavour == "alloc":
                    self.assertEqual((spool.period, convert.period), (102400, 102400))
                for profile, threads in ((spool, set()), (convert, {"thread", "thread_name"})):  # the agent's files hold none
                    self.assertEqual({key for _, labels in profile.samples for key in labels}, {"heap", "generation", "age"} | threads)
                    self.assertLessEqual(profile.values_of("heap"), {"SOH", "LOH", "POH"})
                    self.assertLessEqual(profile.values_of("generation"), {"0", "1", "2", "LOH", "POH"})
                    self.assertLessEqual(profile.values_of("age"), {(s, "seconds") for s in (0, 1, 2, 5, 10, 20, 30, 60, 120)})
                    self.assertEqual(os.path.basename(profile.main_module).removesuffix(".dll"), "alloc")
                    for values, labels in profile.samples:
                        self.assertEqual("age" in labels, values[:2] == [0, 0] and values[2:] != [0, 0], (values, labels))
                for key in ("heap", "generation"):
                    self.assertTrue(spool.values_of(key) & convert.values_of(key), key)

                def frames(profile):  # the same stacks need not be sampled in both: by module and raw name
                    return {re.sub("!0x[0-9a-f]+:", "!", system): (system, name) for system, name in profile.names.items()}
                one, other = frames(spool), frames(convert)
                shared = [key for key in one if key in other]
                self.assertGreater(sum("!0x" in one[key][0] for key in shared), 3, shared)
                self.assertGreater(sum(key.startswith("[type]!") for key in shared), 0, shared)
                for key in shared:
                    self.assertEqual(one[key], other[key])
                self.assertFalse([s for s in spool.names if "System.Threading.ExecutionContext." in s])

                def words(profile):
                    return {c.split(":")[0]: c for c in profile.comments}
                one, other = words(spool), words(convert)
                for key in ("event", "biased"):
                    self.assertEqual(one.get(key), other.get(key))
                for said in (one, other):
                    self.assertRegex(said["process"], r"^process: alloc \(\d+\)$")
                    self.assertIn("runtime", said)

    def test_sigterm_writes_the_last_profile(self):
        folder = os.path.join(self.dir, "out")
        work = self.workload("alloc", "--rate", "100e6", "--seconds", "60", "--start-on-stdin",
                             env=self.load_variables(f"every=1h,output={folder}/%p.pb"))
        work.go()
        time.sleep(1)
        work.process.terminate()
        self.assertEqual(work.process.wait(20), -signal.SIGTERM)
        self.assertEqual(len(glob.glob(f"{folder}/{work.pid}.pb")), 1)

    def test_every_allocation(self):
        folder = os.path.join(self.dir, "exact")
        work = self.workload("alloc", "--mode", "types", "--bytes", "3e8", "--rate", "max", "--start-on-stdin",
                             "--hold-on-stdin", env=self.load_variables("exact=1,owned=1,every=1s"))
        probe = Probe(work.pid, 60, "--no-attach")
        before = status(work.pid)["samples"]
        work.go()
        truth = work.truth()
        after = status(work.pid)["samples"]
        work.process.stdin.close()
        report = probe.report()
        self.assertLess(after - before, truth["objects"] * 1.02 + 20_000)
        for t in truth["types"]:
            mine = report["types"].get(t["type"])
            # The rest of the program makes bytes and strings too; .NET 10 puts boxes on the stack where it can.
            if t["type"] in ("byte[]", "string", "Clrscope.Workloads.Pixel"):
                continue
            self.assertGreaterEqual(mine["objects"], t["objects"], t["type"])
            self.assertLess(mine["objects"], t["objects"] * 1.05 + 200, t["type"])

    def test_variables_of_env(self):
        result = clrscope("env", "--every", "2s", env={**os.environ, "XDG_CACHE_HOME": self.dir})
        self.assert_ok(result)
        lines = dict(line[len("export "):].split("=", 1) for line in result.stdout.splitlines())
        env = {name: value.strip("'") for name, value in lines.items()}
        self.assertEqual(os.stat(env["CORECLR_PROFILER_PATH"]).st_mode & 0o777, 0o500)
        work = self.workload("alloc", "--rate", "100e6", "--seconds", "60", "--start-on-stdin", env=env)
        work.go()
        wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 0, 60, "it samples")
        self.assert_ok(clrscope("detach", "-p", work.pid))
        self.assertIsNone(work.process.poll())


class Recordings(AgentCase):
    def test_record_live(self):
        work = self.workload("alloc", "--mode", "keep", "--threads", "2", "--rate", "max", "--bytes", "3e9", "--seconds",
                             "30", "--start-on-stdin", "--hold-on-stdin")
        truth = self.record_live(work)
        self.assertFalse(has_agent(work.pid))
        report = harness.report(self.path())
        total = report["totals"]
        self.assertLess(abs(total["bytes"] / truth["total_allocated_bytes"] - 1), 0.05)

    def test_record_live_of_a_launched_program(self):
        for flavour in ("alloc", "alloc-net8"):
            with self.subTest(flavour):
                folder = os.path.join(harness.WORKLOADS, flavour)
                if not os.path.isdir(folder):
                    self.skipTest(f"{flavour} was not built")
                command = (["dotnet", os.path.join(folder, "alloc.dll")] if flavour == "alloc"
                           else [os.path.join(folder, "alloc")])
                path = self.path(flavour + ".clrscope")
                result = clrscope("record", "--live", "-o", path, "--", *command, "--rate", "max", "--bytes", "1e9",
                                  "--whole", timeout=90)
                self.assert_ok(result)
                truth = json.loads(result.stdout.splitlines()[-1])
                whole = harness.report(path)
                self.assertLess(abs(whole["totals"]["bytes"] / truth["total_allocated_bytes"] - 1), 0.1)
                rows = harness.report(path, "--live")["rows"]
                self.assertGreater(len(rows), 0)
                times = harness.report(path, "--by", "time:1s")["rows"]
                self.assertTrue(all(0 <= row["start_s"] <= whole["duration_s"] + 1 for row in times), times)

    def test_record_exact(self):
        path = self.path()
        result = clrscope("record", "--exact", "-o", path, "--", "dotnet",
                          os.path.join(harness.WORKLOADS, "alloc", "alloc.dll"), "--mode", "types", "--rate", "max",
                          "--bytes", "2e8", timeout=90)
        self.assert_ok(result)
        truth = json.loads(result.stdout.splitlines()[-1])
        told = harness.report(path, "--by", "type")
        self.assertEqual((told["event"], told["exact"]), ("ObjectAllocated", True), told["notes"])
        whole = [row for row in told["rows"] if row["exact"]]
        self.assertTrue(whole)
        for row in whole:
            self.assertEqual((row["objects_low"], row["objects_high"]), (row["objects"], row["objects"]), row["type"])
        self.assertIn("ObjectAllocated callbacks", clrscope("report", path).stdout)
        counted = {r["type"]: r["objects"] for r in harness.report(path, "--by", "type", "-n", "0")["rows"]}
        for told in truth["types"]:
            name, objects = told["type"], told["objects"]
            if name.startswith("Clrscope.") and name != "Clrscope.Workloads.Pixel":
                # A few more from before the program begins to count.
                self.assertLessEqual(objects, counted[name], name)
                self.assertLessEqual(counted[name], objects + 20, name)
            elif name != "Clrscope.Workloads.Pixel":  # .NET 10 puts boxes that nobody keeps on the stack
                self.assertLessEqual(objects, counted[name], name)


if __name__ == "__main__":
    harness.main("__main__")
