# SPDX-License-Identifier: Apache-2.0
"""`gcstats` on live processes: what the runtime itself counted, the same from a capture and from its trace, and the GC's threads."""
import json
import os
import re
import signal
import subprocess
import time

from clock import clock
import harness
from harness import Case, clrscope, start_clrscope, wait_until

GENERATIONS = ("gen0", "gen1", "gen2", "loh", "poh")
SERVER = {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2", "DOTNET_GCDynamicAdaptationMode": "0"}

class Collector:
    """The program `gc`, which keeps the collector busy and then tells what the runtime counted."""

    def __init__(self, *args, flavour="gc", env=None):
        self.process = subprocess.Popen(harness.command(flavour) + ["--start-on-stdin", "--hold-on-stdin", *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        self.pid = json.loads(self.process.stdout.readline())["ready"]

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def truth(self):
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

def without_types(value):
    """The same without the names of types: those of equal figures come in the order of their names, and so does which of them are left out."""
    if isinstance(value, list):
        out = [without_types(v) for v in value]
        return sorted(out, key=json.dumps) if value and isinstance(value[0], dict) and "type" in value[0] else out
    if not isinstance(value, dict):
        return value
    return {name: without_types(v) for name, v in value.items() if name not in ("type", "raw", "raw_type", "type_id")}


class Collecting(Case):
    def watch(self, w, *args):
        before = harness.sockets(w.pid)
        c = start_clrscope("gcstats", "-p", w.pid, *args)
        self.addCleanup(c.stdout.close)
        self.addCleanup(c.stderr.close)
        self.addCleanup(c.kill)
        # Its sessions are open, and stay so while others come and go: nothing of what comes now is missed.
        quiet = 0
        deadline = time.monotonic() + 60
        while quiet < 20 and time.monotonic() < deadline:
            quiet = quiet + 1 if harness.sockets(w.pid) >= before + 2 else 0
            time.sleep(0.05)
        self.assertEqual(quiet, 20, "no sessions were opened")
        return c

    def seen(self, *args, env=None, flavour="gc"):
        """The whole life of a program's collections: what gcstats says, and what the runtime says."""
        with Collector(*args, flavour=flavour, env=env) as w:
            c = self.watch(w, "--json")
            w.go()
            truth = w.truth()
            time.sleep(0.5)
            c.send_signal(signal.SIGINT)
            out, err = c.communicate(timeout=60)
            self.assertEqual(c.returncode, 0, err)
        return json.loads(out), truth

    def test_regions_without_collections(self):
        """TryStartNoGCRegion counts a collection even where it runs none, so that numbers are left out. None of them is lost."""
        for flavour in ("gc", "gc-net8", "gc-net9"):
            with self.subTest(flavour):
                document, truth = self.seen("--mode", "regions", flavour=flavour)
                gcs, sums = document["gcs"], document["processes"][0]
                self.assertEqual((sums["gcs_missing"], document["losses"]), (0, []))
                self.assertGreater(sums["gcs_counted_only"], truth["regions"] / 2)
                self.assertEqual(truth["collections"][0], gcs[0]["number"] - 1 + len(gcs) + sums["gcs_counted_only"])
                # The first one's is not known, where another ran before it.
                told = sum(gc["allocated_bytes"] or 0 for gc in gcs)
                self.assertLess(abs(told / truth["allocated"] - 1), 0.1, (told, truth))

    def agree(self, document, truth, pauses=True):
        """`pauses`: as long as the GC's own clock says, too, which a busy machine may come between."""
        gcs = document["gcs"]
        by_number = {gc["number"]: gc for gc in gcs}
        self.assertEqual(document["losses"], [])
        # GC.CollectionCount counts a collection for its generation and all younger ones.
        missed = gcs[0]["number"] - 1
        for g in range(3):
            counted = sum(gc["generation"] >= g for gc in gcs)
            self.assertTrue(counted <= truth["collections"][g] <= counted + missed, (g, counted, missed, truth["collections"]))
        self.assertEqual(truth["collections"][0], len(gcs) + missed)
        self.assertEqual([gc["number"] for gc in gcs], list(range(missed + 1, missed + 1 + len(gcs))))
        compared = 0
        for kind, info in truth["infos"].items():
            gc = by_number.get(info["index"])
            if gc is None:
                continue  # there was none of this kind, or before
            with self.subTest(kind=kind, gc=gc["number"]):
                compared += 1
                if kind == "Background" and info["heap_bytes"] == 0:
                    # It was begun and became a blocking one before it marked anything: the runtime tells the rest with FullBlocking,
                    # whose place a later one takes.
                    self.assertTrue(gc["type"] != "background" or gc["fell_back_to_blocking"], gc)
                    self.assertGreaterEqual(truth["infos"]["FullBlocking"]["index"], info["index"])
                    continue
                self.assertEqual(gc["generation"], info["generation"])
                self.assertEqual(gc["type"] == "background" and not gc["fell_back_to_blocking"], info["concurrent"])
                self.assertEqual(gc["compacting"], info["compacted"])
                # GCHeapStats leaves out what lives on in the POH; the histories do not.
                self.assertEqual(gc["promoted_total_bytes"] + (gc["survived_bytes"]["poh"] or 0), info["promoted_bytes"])
                # At a background GC's end GCHeapStats counts what the foreground ones inside of it found pinned.
                if not info["concurrent"]:
                    self.assertEqual(gc["pinned_objects"], info["pinned"], "pinned")
                # While a background GC ends, the program allocates on, and foreground ones promote: the two are of different moments.
                moving = {"gen0"} if info["concurrent"] else set()
                within = [other["generation"] for other in gcs if gc["start_ms"] < other["start_ms"] < gc["end_ms"]]
                if info["concurrent"] and within:
                    moving |= {"gen1", "gen2"} if 1 in within else {"gen1"}
                for name, g in zip(GENERATIONS, info["generations"]):
                    self.assertEqual(gc["size_before_bytes"][name], g["before"], name)
                    if name not in moving:
                        self.assertEqual(gc["size_after_bytes"][name], g["after"], name)
                    self.assertEqual(gc["fragmentation_bytes"][name], g["free_after"], name)
                # The GC's own clock stops before all threads run again: its pauses lie within those that events tell, but for what
                # writing the events takes. How much shorter they are is the system's doing.
                # It counts a young GC that begins a background one in both.
                inside = by_number.get(gc["number"] + 1)
                young = inside["pause_ms"] if inside and inside["inside_pause_of_previous"] else 0
                if pauses:
                    self.assertGreater(gc["pause_ms"] + young + 1, sum(info["pauses_ms"]))
        self.assertGreaterEqual(compared, 2)

    @clock
    def test_small_objects(self):
        self.agree(*self.seen("--mode", "soh", "--seconds", "1.5"))

    @clock
    def test_large_objects_with_background_collections(self):
        document, truth = self.seen("--mode", "loh", "--seconds", "1.5")
        self.assertTrue(any(gc["type"] == "background" for gc in document["gcs"]))
        self.agree(document, truth)

    @clock
    def test_pinned_object_heap_not_concurrent(self):
        document, truth = self.seen("--mode", "poh", "--seconds", "1.5", env={"DOTNET_gcConcurrent": "0"})
        self.assertGreater(max(gc["size_after_bytes"]["poh"] for gc in document["gcs"]), 1_000_000)
        self.assertTrue(all(gc["type"] == "blocking" for gc in document["gcs"]))
        self.agree(document, truth)

    def test_induced_ones_and_who_asked(self):
        document, truth = self.seen("--mode", "induced", "--seconds", "1.5")
        self.agree(document, truth, pauses=False)
        [process] = document["processes"]
        induced = [gc for gc in document["gcs"] if gc["induced"]]
        self.assertTrue(0 < len(induced) <= truth["induced"])
        self.assertEqual(sum(s["gcs"] for s in process["induced_by"]), len(induced))
        for s in process["induced_by"]:
            self.assertTrue(any("Program." in frame for frame in s["stack"]), s)
        # Where threads get no processor, they are slow to stop.
        self.assertEqual({a["rule"] for a in process["advice"]} - {"slow_suspension"}, {"induced"})

    def test_what_was_allocated_before_each(self):
        document, _ = self.seen("--mode", "soh", "--seconds", "1.5")
        named = [gc for gc in document["gcs"] if gc["top_types"]]
        self.assertGreater(len(named), len(document["gcs"]) * 0.8)
        for gc in named:
            self.assertEqual(gc["top_types"][0]["type"], "byte[]")
            self.assertIn("Program.Allocate", gc["top_sites"][0]["method"])
        # Estimates of all of them together are close to what the heap's sizes say.
        known = [gc for gc in document["gcs"][1:] if gc["allocated_estimate_bytes"] and gc["allocated_bytes"]]
        estimated, exact = (sum(gc[k] for gc in known) for k in ("allocated_estimate_bytes", "allocated_bytes"))
        self.assertAlmostEqual(estimated / exact, 1, delta=0.15)

    @clock
    def test_server_gc_and_the_time_of_its_threads(self):
        document, truth = self.seen("--mode", "soh", "--seconds", "2", "--threads", "2", env=SERVER)
        self.assertTrue(truth["server"])
        self.agree(document, truth)
        [process] = document["processes"]
        self.assertTrue(process["gc_server"])
        self.assertEqual(process["heap_count_max"], 2)
        cpu = process["gc_cpu"]
        self.assertEqual(cpu["server_gc_threads"], 2)
        self.assertGreater(cpu["server_gc_cpu_ms"], 0)
        self.assertLess(cpu["server_gc_cpu_ms"], cpu["process_cpu_ms"] + 50)

    @clock
    def test_older_runtimes(self):
        for flavour in ("gc-net8", "gc-net9"):
            with self.subTest(flavour=flavour):
                self.agree(*self.seen("--mode", "loh", "--seconds", "1", flavour=flavour))
                self.agree(*self.seen("--mode", "induced", "--seconds", "1", flavour=flavour, env=SERVER))

    def test_settings_of_launched_programs(self):
        """.NET 8 tells them in a rundown of all methods alone, which is nothing for a program that starts."""
        for flavour, known in (("gc", True), ("gc-net9", True), ("gc-net8", False)):
            with self.subTest(flavour=flavour):
                program = harness.command(flavour)
                self.assert_ok(clrscope("record", "-f", "-o", self.path(), "--", *program, "--mode", "soh", "--seconds", "0.5"))
                document = json.loads(clrscope("gcstats", self.path(), "--json").stdout)
                [process] = document["processes"]
                self.assertEqual((process["gc_server"], process["gc_concurrent"]), (False, True))
                self.assertEqual(process["settings"] is not None, known)

    def test_a_capture_says_what_its_trace_says(self):
        with Collector("--mode", "loh", "--seconds", "1.5") as w:
            r = start_clrscope("record", "-q", "-p", w.pid, "--keep-nettrace", "-o", self.path("x.clrscope"))
            wait_until(lambda: os.path.exists(self.path("x.nettrace")), 60, "the recording began")
            time.sleep(1)
            w.go()
            w.truth()
            r.send_signal(signal.SIGINT)
            _, err = r.communicate(timeout=60)
            self.assertEqual(r.returncode, 0, err)
        capture, trace = (json.loads(clrscope("gcstats", self.path(n), "--json").stdout) for n in ("x.clrscope", "x.nettrace"))
        self.assertGreater(len(capture["gcs"]), 3)
        # A trace does not say whose nested types are.
        self.assertEqual(without_types(capture["gcs"]), without_types(trace["gcs"]))
        # What only a recording knows: the GC's threads. How a command line is written, /proc and the runtime differ.
        for d in (capture, trace):
            [process] = d["processes"]
            for name in ("gc_cpu", "command_line"):
                process.pop(name)
        self.assertEqual(without_types(capture["processes"]), without_types(trace["processes"]))
        # A few hundred bytes for each collection, everything included.
        self.assertLess(os.path.getsize(self.path("x.clrscope")), 300_000 + 1000 * len(capture["gcs"]))

    def test_lines_come_as_collections_end(self):
        with Collector("--mode", "soh", "--seconds", "60") as w:
            c = self.watch(w, "--follow", "--json")
            w.go()
            rows = [json.loads(c.stdout.readline()) for _ in range(5)]
            self.assertIsNone(c.poll())  # it goes on
            c.send_signal(signal.SIGINT)
            rest = [json.loads(line) for line in c.stdout]
            self.assertEqual(c.wait(timeout=60), 0)
            rows += rest[:-1]
            numbers = [r["number"] for r in rows]
            self.assertEqual(len(set(numbers)), len(numbers))
            self.assertEqual(rest[-1]["processes"][0]["gcs"], len(rows))
            self.assertEqual(rest[-1]["schema_version"], 1)

    def test_text_sums_up_when_the_process_ends(self):
        with Collector("--mode", "soh", "--seconds", "3") as w:
            c = self.watch(w)
            w.go()
            w.truth()
            w.process.kill()
            out, err = c.communicate(timeout=60)
            self.assertEqual(c.returncode, 0, err)
        self.assertIn("ended", err)
        lines = out.splitlines()
        self.assertRegex(lines[0], r"GC +At s +Gen +Reason")
        self.assertRegex(lines[1], r"^ *\d+ +[\d.]+ 0N +AllocSmall")
        self.assertLessEqual(max(len(line) for line in lines), 100)
        self.assertIn("By generation", out)
        self.assertIn("Pauses  p50", out)

    def test_a_page_after_a_given_time(self):
        with Collector("--mode", "soh", "--seconds", "60") as w:
            w.go()
            page = self.path("gc.html")
            r = clrscope("gcstats", "-p", w.pid, "-d", "1s", "-o", page)
            self.assert_ok(r)
            self.assertEqual(r.stdout, "")
            with open(page) as f:
                self.assertIn(f"gc ({w.pid}) · GC - clrscope</title>", f.read(5000))
            self.assertEqual(clrscope("gcstats", "-p", w.pid, "-d", "1s", "-o", page).returncode, 2)  # it exists

    def test_nothing_collected_and_wrong_options(self):
        with Collector() as w:
            r = clrscope("gcstats", "-p", w.pid, "-d", "1s")
            self.assertEqual((r.returncode, r.stderr), (3, "clrscope: no collection ran meanwhile\n"))
            self.assertEqual(clrscope("gcstats", "-p", w.pid, "x.nettrace").returncode, 2)
        self.assertEqual(clrscope("gcstats", "x.nettrace", "--follow").returncode, 2)
        self.assertEqual(clrscope("gcstats", "-p", "999999999", "-d", "1s").returncode, 4)

if __name__ == "__main__":
    harness.main(__name__)
