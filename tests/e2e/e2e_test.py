# SPDX-License-Identifier: Apache-2.0
"""clrscope on live .NET 8, 9 and 10 processes: what it says, what it survives, what it leaves behind."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import harness
from collecting import Collecting  # noqa: F401  (these are run with the others)
from cpu_hazards import CpuHazards  # noqa: F401
from cpu_names import CpuNames  # noqa: F401
from cpu_time import CpuTime  # noqa: F401
from event_sources import EventSources  # noqa: F401
from events import Events  # noqa: F401
from every_process import EveryProcess  # noqa: F401
from stacks import Stacks  # noqa: F401
from threads import Threads  # noqa: F401
from lines import Lines  # noqa: F401
from live_views import Metrics, TopPlain, TopScreen  # noqa: F401
from null_references import NullReferences  # noqa: F401
from owners import Owners  # noqa: F401
from overhead import Overhead, OverheadOfRequests  # noqa: F401
from launches import Launch, LeftBehind, Unheard  # noqa: F401
from left_running import DotnetBuild, LeftRunning  # noqa: F401
from harness import SIGMAS, Case, Workload, clrscope, loss, report, sigma, sockets, start_clrscope, start_recording, wait_until
from native_calls import NativeCalls  # noqa: F401
from native_names import NativeNames  # noqa: F401
from request_actions import RequestActions  # noqa: F401
from request_cpu import RequestCpu  # noqa: F401
from request_costs import Requests  # noqa: F401
from request_error_pages import ErrorPages  # noqa: F401
from request_exports import RequestExports  # noqa: F401
from request_hazards import RequestHazards  # noqa: F401
from request_idle import RequestIdle  # noqa: F401
from request_lives import Lives  # noqa: F401
from request_operations import RequestOperations  # noqa: F401
from runtime_sampler import CpuCompared, LiveProcessors, RuntimeSampler  # noqa: F401
from routes_workload import RoutesWorkload  # noqa: F401
from stops import Stops  # noqa: F401
from standard_output import StandardOutput  # noqa: F401
from together import Together  # noqa: F401
from wall import Wall, WallUntilTheEnd  # noqa: F401
from watching import Watching  # noqa: F401


class MixedRuntimes(Case):
    def test_each_process_is_told_by_the_event_that_its_runtime_has(self):
        load = ("--seconds", "60", "--rate", "50000000")
        with Workload(*load) as new, Workload(*load, flavour="alloc-net8") as old:
            r = clrscope("record", "-p", new.pid, "-p", old.pid, "-d", "8s", "-o", self.path())
            self.assert_ok(r)
        p = report(self.path(), "--by", "process")
        self.assertTrue(p["mixed"])
        self.assertEqual(p["also"], [])
        events = {q["pid"]: q["event"] for q in p["processes"]}
        self.assertEqual(events, {new.pid: "AllocationSampled", old.pid: "AllocationTick"})
        rows = {row["pid"]: row for row in p["rows"]}
        for pid in (new.pid, old.pid):
            self.assertGreater(rows[pid]["bytes"], 100e6)
        self.assertIsNotNone(rows[new.pid]["bytes_low"])
        self.assertIsNone(rows[old.pid]["bytes_low"])
        self.assertIsNone(p["totals"]["bytes_low"])
        self.assertEqual(report(self.path(), "--event", "sampled", "--by", "process")["rows"][0]["pid"], new.pid)


class Accuracy(Case):
    def record_whole_run(self, flavour, *args):
        """Attaches before the program begins, stops after it has ended its work."""
        with Workload("--bytes", "300000000", "--rate", "200000000", "--threads", "2", "--start-on-stdin", "--hold-on-stdin", *args,
                      flavour=flavour) as w:
            recording = start_recording("-p", w.pid, "-o", self.path())
            w.go()
            truth = w.truth()
            time.sleep(0.3)  # the runtime flushes ten times a second
            recording.send_signal(signal.SIGINT)
            _, words = recording.communicate(timeout=60)
            self.assertEqual(recording.returncode, 0, words)
        return truth

    def test_sampled_totals_and_types_agree_with_the_truth_within_their_error(self):
        truth = self.record_whole_run("alloc")
        p = report(self.path(), "--by", "type", "-n", "1000")
        self.assertEqual(p["event"], "AllocationSampled")
        self.assertFalse(p["biased"])
        self.assertEqual(loss(p, "events_dropped"), 0)
        total = p["totals"]
        self.assertLess(abs(total["bytes"] - truth["total_allocated_bytes"]), SIGMAS * sigma(total, "bytes") + 2e6)
        rows = {}
        for row in p["rows"]:
            rows.setdefault(row["type"], []).append(row)
        checked = 0
        for t in truth["types"]:
            name = t["type"]
            found = rows.get(name, [])
            if sum(r["samples"] for r in found) < 50:
                continue
            checked += 1
            for what in ("bytes", "objects"):
                error = sum(sigma(r, what) ** 2 for r in found) ** 0.5
                estimate = sum(r[what] for r in found)
                self.assertLess(abs(estimate - t[what]), SIGMAS * error + 0.002 * t[what], f"{what} of {name}")
        self.assertGreaterEqual(checked, 3)

    def test_sites_agree_with_the_truth(self):
        truth = self.record_whole_run("alloc")
        p = report(self.path(), "--by", "site", "-n", "1000")
        sites = {(r["method"].split(".")[-1], r["type"]): r for r in p["rows"]}
        checked = 0
        for s in truth["sites"]:
            row = sites.get((s["site"].split(".")[-1], s["type"]))
            if row is None or row["samples"] < 50:
                continue
            checked += 1
            self.assertLess(abs(row["bytes"] - s["bytes"]), SIGMAS * sigma(row, "bytes") + 0.002 * s["bytes"], s["site"])
        self.assertGreaterEqual(checked, 3)

    def tick(self, flavour):
        truth = self.record_whole_run(flavour)
        p = report(self.path(), "--by", "type")
        self.assertEqual(p["event"], "AllocationTick")
        self.assertTrue(p["biased"])
        self.assertIsNone(p["totals"]["bytes_low"])
        self.assertIsNone(p["rows"][0]["objects_high"])
        # The amounts of all ticks are what was allocated but for an unfinished stride per heap.
        self.assertLess(abs(p["totals"]["bytes"] - truth["total_allocated_bytes"]), 0.02 * truth["total_allocated_bytes"])

    def test_ticks_of_net8_add_up_and_claim_no_error(self):
        self.tick("alloc-net8")

    def test_ticks_of_net9_add_up_and_claim_no_error(self):
        self.tick("alloc-net9")

    def test_every_frame_has_a_name(self):
        for flavour in ("alloc", "alloc-net8", "alloc-net9"):
            self.record_whole_run(flavour, "--mode", "async")
            p = report(self.path(), "--by", "stack", "-n", "100000")
            named = sum(1 for r in p["rows"] for f in r["frames"] if not f["method"].startswith("0x"))
            total = sum(len(r["frames"]) for r in p["rows"])
            self.assertGreater(named / total, 0.999, flavour)
            os.remove(self.path())

    def test_async_methods_are_called_what_their_source_calls_them(self):
        self.record_whole_run("alloc", "--mode", "async")
        p = report(self.path(), "--by", "method", "-n", "100000", "--framework")
        methods = " ".join(r["method"] for r in p["rows"])
        self.assertIn("[async]", methods)
        self.assertIn("[iterator]", methods)
        self.assertIn(".λ", methods)


class Survival(Case):
    def test_a_killed_target_is_still_named(self):
        with Workload("--seconds", "30", "--rate", "50000000") as w:
            recording = start_recording("-p", w.pid, "-o", self.path())
            time.sleep(2.0)
            w.process.kill()
            _, words = recording.communicate(timeout=60)
            self.assertEqual(recording.returncode, 0, words)
            self.assertIn(f"process {w.pid} died; what it did last", words)
        p = report(self.path(), "--by", "site")
        self.assertGreater(p["totals"]["samples"], 100)
        self.assertEqual(loss(p, "unresolved_frames"), 0)
        self.assertEqual(loss(p, "target_lost"), 1)

    def test_a_stopped_target_holds_nobody_up(self):
        with Workload("--seconds", "30", "--rate", "50000000") as w:
            recording = start_recording("-p", w.pid, "-o", self.path())
            time.sleep(2.0)
            harness.stop_process(w.pid)
            recording.send_signal(signal.SIGINT)
            _, words = recording.communicate(timeout=60)  # the program stands still until then
            self.assertIn("is stopped", words)
            os.kill(w.pid, signal.SIGCONT)
            self.assertGreater(report(self.path())["totals"]["samples"], 20)

    def test_a_killed_clrscope_leaves_a_readable_capture_and_no_session(self):
        with Workload("--seconds", "30", "--rate", "100000000") as w:
            before = sockets(w.pid)
            recording = start_recording("-p", w.pid, "-o", self.path())
            self.assertGreater(sockets(w.pid), before)
            # It is written each second, in a transaction.
            wait_until(lambda: self.written("samples") > 500 and self.written("duration_s") > 1, 60, "more than a second is in the file")
            recording.kill()
            recording.communicate()
            wait_until(lambda: sockets(w.pid) == before, 60, "the sessions of a busy target to close")
            r = clrscope("report", self.path(), "--json")
            self.assertEqual(r.returncode, 8)  # it says that it is incomplete
            p = json.loads(r.stdout)
            self.assertGreater(p["totals"]["samples"], 500)
            self.assertGreater(p["duration_s"], 1)

    def test_nothing_is_left_behind_in_the_target(self):
        with Workload("--seconds", "30", "--rate", "50000000") as w:
            before = sockets(w.pid)
            for _ in range(5):
                self.assert_ok(clrscope("record", "-p", w.pid, "-d", "0.3s", "-f", "-o", self.path()))
            wait_until(lambda: sockets(w.pid) == before, 60, "all sessions to be closed")

    def test_a_target_can_exit_while_clrscope_is_suspended(self):
        with Workload("--seconds", "8", "--rate", "50000000") as w:
            recording = start_recording("-p", w.pid, "-o", self.path())
            recording.send_signal(signal.SIGTSTP)
            w.truth()
            w.process.wait(timeout=60)
            recording.send_signal(signal.SIGCONT)
            _, words = recording.communicate(timeout=60)
            self.assertEqual(recording.returncode, 0, words)
            self.assertIn("suspended", words)

    def test_ctrl_c_stops_and_writes(self):
        with Workload("--seconds", "30", "--rate", "50000000") as w:
            recording = start_recording("-p", w.pid, "-o", self.path())
            time.sleep(1.5)
            recording.send_signal(signal.SIGINT)
            _, words = recording.communicate(timeout=60)
            self.assertEqual(recording.returncode, 0)
            self.assertIn("clrscope report", words)
            self.assertGreater(report(self.path())["totals"]["samples"], 100)

    def test_a_full_disk_is_said_and_the_target_runs_on(self):
        disk = os.path.join(self.dir, "disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", disk], capture_output=True).returncode != 0:
            self.skipTest("mounting a small file system is not permitted here")
        try:
            with Workload("--seconds", "20", "--rate", "100000000", "--mode", "deep") as w:
                r = clrscope("record", "-p", w.pid, "-d", "10s", "-o", os.path.join(disk, "x.clrscope"))
                self.assertEqual(r.returncode, 1, r.stderr)
                self.assertIn("full", r.stderr)
                self.assertIsNone(w.process.poll())
        finally:
            subprocess.run(["umount", disk])

    def test_a_flood_loses_nothing_at_default_settings(self):
        with Workload("--seconds", "30", "--rate", "max", "--threads", "2") as w:
            self.assert_ok(clrscope("record", "-p", w.pid, "-d", "3s", "-o", self.path()))
        p = report(self.path())
        self.assertEqual(loss(p, "events_dropped"), 0)
        self.assertEqual(loss(p, "blocks_discarded"), 0)

    def test_kept_streams_say_what_the_capture_says(self):
        def frame(f):
            # A stream does not say which libraries are mapped where: only a capture knows the library of an unresolved address.
            return "unresolved" if f["method"].startswith("0x") or "+0x" in f["method"] else f["method"]

        for flavour in ("alloc", "alloc-net8"):
            with Workload("--bytes", "100000000", "--seconds", "60", "--rate", "max", "--mode", "async", "--start-on-stdin", "--hold-on-stdin", flavour=flavour) as w:
                self.record_to_its_end(w, self.path("x.clrscope"), "--keep-nettrace")
            self.assertIn("x.nettrace", self.said)
            for by in ("type", "stack"):
                capture = report(self.path("x.clrscope"), "--by", by, "-n", "0")
                kept = report(self.path("x.nettrace"), "--by", by, "-n", "0")
                self.assertGreater(capture["totals"]["samples"], 500)
                for what in ("samples", "bytes", "objects"):
                    self.assertEqual(capture["totals"][what], kept["totals"][what], f"{what} on {flavour}")
                # A stream does not say either whose nested types are: by their ids they are the same.
                key = (lambda row: (row["type_id"], row["samples"], row["bytes"])) if by == "type" else (
                    lambda row: (list(map(frame, row["frames"])), row["samples"], row["bytes"]))
                self.assertEqual(sorted(map(key, capture["rows"])), sorted(map(key, kept["rows"])), f"{by} on {flavour}")
                if by == "type":
                    names = {row["type_id"]: row["raw"] for row in capture["rows"]}
                    for row in kept["rows"]:
                        self.assertTrue(("+" + names[row["type_id"]]).endswith(("+" + row["raw"], "." + row["raw"])), (names[row["type_id"]], row["raw"]))
                # The main stream has its own rundown: it names its frames without the other files.
                self.assertEqual(loss(kept, "unresolved_frames"), loss(capture, "unresolved_frames"))
                self.assertEqual(loss(kept, "truncated_input"), 0)
            for side in ("x.rundown.nettrace", "x.entry-points.nettrace"):
                self.assert_ok(clrscope("inspect", self.path(side)))

    def test_a_raw_stream_that_cannot_be_kept_does_not_end_the_recording(self):
        os.symlink("/dev/full", self.path("x.nettrace"))
        with Workload("--seconds", "30", "--rate", "100000000") as w:
            r = clrscope("record", "-p", w.pid, "-d", "4s", "--keep-nettrace", "-f", "-o", self.path("x.clrscope"))
        self.assert_ok(r)
        self.assertIn("No space left on device", r.stderr)
        p = report(self.path("x.clrscope"))
        self.assertGreater(p["duration_s"], 1.5)
        self.assertGreater(p["totals"]["samples"], 500)
        self.assertGreater(loss(p, "raw_bytes_not_kept"), 100000)

    def test_every_launched_process_keeps_streams_of_its_own(self):
        alloc = os.path.join(harness.WORKLOADS, "alloc", "alloc.dll")
        one = f"dotnet {alloc} --bytes 30000000 > /dev/null"
        self.assert_ok(clrscope("record", "--keep-nettrace", "-o", self.path(), "--", "sh", "-c", f"{one}; {one}"))
        p = report(self.path())
        pids = [process["pid"] for process in p["processes"]]
        self.assertEqual(len(pids), 2)
        totals = [report(self.path(name))["totals"]["samples"] for name in ("x.nettrace", f"x.{pids[1]}.nettrace")]
        self.assertEqual(sum(totals), p["totals"]["samples"])


class Refusals(Case):
    def refuse(self, code, word, *args, **kwargs):
        r = clrscope("record", "-d", "1s", "-o", self.path("refused.clrscope"), *args, **kwargs)
        self.assertEqual(r.returncode, code, r.stderr)
        self.assertIn(word, r.stderr)
        self.assertFalse(os.path.exists(self.path("refused.clrscope")))

    def test_no_such_process(self):
        self.refuse(4, "4194000", "-p", 4194000)

    def test_not_a_dotnet_process(self):
        sleeper = subprocess.Popen(["sleep", "60"])
        try:
            self.refuse(4, ".NET", "-p", sleeper.pid)
        finally:
            sleeper.kill()
            sleeper.wait()

    def test_diagnostics_switched_off(self):
        with Workload("--seconds", "30", "--rate", "1000000", env={"DOTNET_EnableDiagnostics": "0"}) as w:
            r = clrscope("record", "-d", "1s", "-o", self.path(), "-p", w.pid)
            self.assertNotEqual(r.returncode, 0)
            self.assertIn("EnableDiagnostics", r.stderr)
            d = clrscope("doctor", w.pid)
            self.assertIn("EnableDiagnostics", d.stdout + d.stderr)

    def test_another_users_process(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become somebody else")
        with Workload("--seconds", "30", "--rate", "1000000") as w:
            r = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", harness.CLRSCOPE, "record",
                                "-d", "1s", "-o", os.path.join(tempfile.gettempdir(), "clrscope-nobody.clrscope"), "-p", str(w.pid)], capture_output=True, text=True)
            if "Permission denied" in r.stderr and r.returncode == 126:
                self.skipTest("the binary lies where nobody may not go")
            self.assertEqual(r.returncode, 5, r.stderr)

    def test_unwritable_output(self):
        with Workload("--seconds", "30", "--rate", "1000000") as w:
            r = clrscope("record", "-d", "1s", "-o", "/proc/x.clrscope", "-p", w.pid)
            self.assertNotEqual(r.returncode, 0)
            self.assertIn("/proc/x.clrscope", r.stderr)

    def test_existing_output_is_kept_without_force(self):
        with open(self.path(), "w") as f:
            f.write("mine")
        r = clrscope("record", "-d", "1s", "-o", self.path(), "--", "true")
        self.assertEqual(r.returncode, 2)
        with open(self.path()) as f:
            self.assertEqual(f.read(), "mine")

    def test_poisson_needs_net10(self):
        with Workload("--seconds", "30", "--rate", "1000000", flavour="alloc-net8") as w:
            self.refuse(6, "AllocationSampled", "--sampling", "poisson", "-p", w.pid)


class Usage(Case):
    def test_ps_lists_the_process(self):
        with Workload("--seconds", "30", "--rate", "1000000") as w:
            listed = json.loads(clrscope("ps", "--json").stdout)
            mine = [p for p in listed["processes"] if p["pid"] == w.pid]
            self.assertEqual(len(mine), 1)
            self.assertTrue(mine[0]["attachable"])
            self.assertEqual(mine[0]["name"], "alloc")
            self.assertTrue(mine[0]["runtime"].startswith("10."))

    def test_doctor_finds_nothing_wrong_with_a_healthy_process(self):
        with Workload("--seconds", "30", "--rate", "1000000") as w:
            self.assert_ok(clrscope("doctor", w.pid))

    def test_doctor_resumes_a_program_whose_tool_is_gone(self):
        alloc = os.path.join(harness.WORKLOADS, "alloc", "alloc.dll")
        for name, value in (("DOTNET_DiagnosticPorts", self.path("gone.sock")), ("DOTNET_DefaultDiagnosticPortSuspend", "1")):
            program = subprocess.Popen(["dotnet", alloc, "--seconds", "30", "--rate", "1000000"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, env={**os.environ, name: value}, text=True)
            try:
                def waits():
                    checks = json.loads(clrscope("doctor", program.pid, "--json").stdout or '{"checks": []}')["checks"]
                    return [c for c in checks if c["name"] == "start" and name in c["what"] and "--resume" in (c["fix"] or "")]
                wait_until(waits, 60, f"doctor to name {name}")
                self.assert_ok(clrscope("doctor", program.pid, "--resume"))
                self.assertIn("ready", program.stdout.readline())
                self.assertEqual(clrscope("doctor", program.pid, "--resume").returncode, 2)  # it waits no more
            finally:
                program.kill()
                program.wait()
                program.stdout.close()

    def test_record_by_name_and_default_file_name(self):
        with Workload("--seconds", "30", "--rate", "50000000") as w:
            self.assert_ok(clrscope("record", "-n", "alloc", "-d", "0.5s", cwd=self.dir))
        files = os.listdir(self.dir)
        self.assertEqual(len(files), 1)
        self.assertRegex(files[0], rf"^clrscope\.alloc\.{w.pid}\.\d{{8}}T\d{{6}}Z\.clrscope$")

    def test_sampling_by_tick_on_net10(self):
        with Workload("--seconds", "30", "--rate", "100000000") as w:
            self.assert_ok(clrscope("record", "-p", w.pid, "-d", "5s", "--sampling", "tick", "-o", self.path()))
        p = report(self.path(), "--by", "kind")
        self.assertEqual(p["event"], "AllocationTick")
        # Ticks go on after the first GC: the event filter keeps the runtime's probe events.
        self.assertGreater(p["totals"]["bytes"], 100e6)


if __name__ == "__main__":
    harness.main("__main__")
