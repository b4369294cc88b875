#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""End-to-end tests of the command line on recorded traces.

  python3 tests/cli/cli_test.py --clrscope build/bin/clrscope [--traces DIR] [-v]

DIR holds *.nettrace or *.nettrace.zst; tests/golden/traces by default. Without traces only what
needs none is tested, loudly.
"""
import argparse
import contextlib
import csv
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import completion
from completion import Completion  # noqa: F401  (run with the others)

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLRSCOPE = None
TRACES = {}
TMP = None


def run(*args, env=None, stdin=None, **kwargs):
    full = {k: v for k, v in os.environ.items() if k != "COLUMNS" and not k.startswith("CLRSCOPE_")}
    full.update(env or {})
    return subprocess.run([CLRSCOPE, *map(str, args)], capture_output=True, env=full, input=stdin,
                          timeout=120, **kwargs)


def trace(prefix):
    for name, path in TRACES.items():
        if name.startswith(prefix):
            return path
    raise unittest.SkipTest(f"no trace {prefix}*")


class Case(unittest.TestCase):
    def ok(self, *args, code=0, **kwargs):
        r = run(*args, **kwargs)
        self.assertEqual(r.returncode, code, f"{args}\n{r.stderr.decode()}")
        return r.stdout.decode()

    def fails(self, code, words, *args, **kwargs):
        r = run(*args, **kwargs)
        self.assertEqual(r.returncode, code, f"{args}\n{r.stderr.decode()}")
        err = r.stderr.decode()
        self.assertIn(words, err)
        self.assertEqual(len(err.strip().splitlines()), 1, err)
        return r

    def json(self, *args, **kwargs):
        document = json.loads(self.ok(*args, "--json", **kwargs))
        self.assertEqual(document["schema_version"], 1)
        return document


class Basics(Case):
    def test_help_starts_with_examples(self):
        text = self.ok("--help")
        self.assertIn("Examples:", text.splitlines()[2])
        for verb in ("ps", "doctor", "record", "watch", "report", "diff", "gcstats", "convert", "query", "inspect", "completion"):
            self.assertIn(verb, text)
            lines = self.ok(verb, "--help").splitlines()
            self.assertIn("Examples:", lines[:5])
            self.assertLessEqual(max(map(len, lines)), 120)
            self.assertEqual("\n".join(lines), self.ok("help", verb).rstrip("\n"))

    def test_help_is_quick(self):
        best, tries = 1.0, 0
        while best >= 0.05 and tries < 60:  # 20 ms is the aim; the machine may be busy
            start = time.perf_counter()
            run("--help")
            best = min(best, time.perf_counter() - start)
            tries += 1
        self.assertLess(best, 0.05)

    def test_version(self):
        first, parts = self.ok("--version").splitlines()
        self.assertRegex(first, r"^clrscope \d+\.\d+\.\d+ \(([0-9a-f]{12}(-dirty)?|unknown)\)$")
        self.assertRegex(parts, r"^linux-(x64|arm64)(, static)?, agent \(glibc.*\)(, web page)?, TLS \(OpenSSL [\d.]+\)$")

    def test_man_page(self):
        page = self.ok("--man-page", "2026-01-02")
        self.assertIn('.TH CLRSCOPE 1 "2026-01-02" "clrscope ', page)
        shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-"], input=page, capture_output=True, text=True,
                               env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"}, check=False) if shutil.which("man") else None
        if shown is None:
            self.skipTest("there is no man")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        words = " ".join(shown.stdout.replace("\u2010", "-").split())
        for verb in re.findall(r"^  (\w+) +\S", self.ok("--help").split("Verbs:\n")[1].split("\n\n")[0] + "\n", re.M):
            self.assertIn(f"clrscope {verb} ", words)
            for line in self.ok(verb, "--list-options").splitlines():
                for name in line.split("\t")[0].split():
                    self.assertIn(name.partition("=")[0], words, verb)

    def test_usage_errors(self):
        self.fails(2, "a verb is missing")
        self.fails(2, "did you mean `clrscope report`", "reprot")
        self.fails(2, "there is no verb", "frobnicate")
        self.fails(2, "needs a verb", "--json")
        self.fails(2, "see `clrscope report --help`", "report")
        self.fails(2, "--frobnicate", "report", "x", "--frobnicate")
        self.fails(2, "--sort", "report", "x", "--sort", "size")
        self.fails(2, "--by nonsense", "report", "x", "--by", "nonsense")
        self.fails(2, "no duration", "report", "x", "--from", "5x")
        self.fails(2, "not before", "report", "x", "--from", "5m", "--to", "10")
        self.fails(2, "--json", "report", "x", "--json", "--csv")
        self.fails(2, "give --cpu as well", "record", "-p", "1", "--sampler", "kernel")
        for verb in ("record", "top", "watch"):
            self.fails(2, "agent not in {auto,kernel,ptrace,runtime}", verb, "-p", "1", "--cpu", "--sampler", "agent")
        for verb in ("top", "metrics", "attach"):  # which keep no messages
            self.fails(2, "--messages", verb, "-p", "1", "--messages")

    def test_unreadable_files(self):
        self.fails(4, "No such file", "report", TMP / "absent.nettrace")
        self.fails(1, "not a nettrace", "report", __file__)
        self.fails(1, "", "report", "/dev/null")

    def test_gzipped_traces(self):
        plain = ROOT / "fuzz/corpus/nettrace/v5_compressed_64"
        trace, packed = plain.read_bytes(), TMP / "trace.gz"
        packed.write_bytes(gzip.compress(trace[:99]) + gzip.compress(trace[99:]))
        for verb in ("report", "gcstats", "inspect"):
            told, wanted = run(verb, packed, "--json"), run(verb, plain, "--json")
            self.assertEqual(told.returncode, wanted.returncode, told.stderr)
            self.assertEqual(told.stdout.decode().replace(str(packed), str(plain)), wanted.stdout.decode())
        self.assertEqual(run("inspect", "-", stdin=packed.read_bytes()).stdout, run("inspect", plain).stdout)
        self.ok("convert", packed, "-o", TMP / "of-gzip.clrscope")
        self.assertEqual(json.loads(self.ok("report", TMP / "of-gzip.clrscope", "--json"))["totals"],
                         json.loads(self.ok("report", plain, "--json"))["totals"])
        cut, whole = TMP / "cut.gz", gzip.compress(trace)
        cut.write_bytes(whole[:-1])
        self.assertIn(f"is damaged at byte {len(whole) - 1}: the gzip stream ends too early; everything before it was",
                      run("inspect", cut).stderr.decode())
        cut.write_bytes(gzip.compress(trace[:-5]))
        self.assertRegex(run("inspect", cut).stderr.decode(), rf"cut.gz, unpacked, is cut off: .* of {len(trace) - 5};")
        cut.write_bytes(whole + b"tail")
        self.assertIn("is followed by something else", run("inspect", cut).stderr.decode())
        for other in (trace[:8] + b"????" + trace[12:], b"Nettrace\0\0\0\0\x09\0\0\0\0\0\0\0"):
            for cut_bytes in (other, gzip.compress(other)):
                cut.write_bytes(cut_bytes)
                self.assertRegex(run("inspect", cut).stderr.decode(),
                                 "cut.gz: (not a nettrace file: its header|nettrace version 9)")

    def test_a_named_pipe(self):
        pipe = TMP / "pipe"
        os.mkfifo(pipe)
        plain = ROOT / "fuzz/corpus/nettrace/v5_compressed_64"
        with subprocess.Popen(["cp", plain, pipe]):
            told = self.ok("inspect", pipe)
        self.assertEqual(told, self.ok("inspect", plain))

    def test_files_that_are_not_read_are_named(self):
        gunzip, untar = "; decompress it first with `gzip -dc {} > FILE`", "; unpack it first with `tar -xf {}`"
        unread = ", which clrscope does not read"
        capture = "a clrscope capture or another SQLite database"
        kinds = [(b"\x28\xb5\x2f\xfd..", "compressed with zstd", "; decompress it first with `zstd -dc {} > FILE`", gunzip),
                 (b"\xfd7zXZ\0..", "compressed with xz", "; decompress it first with `xz -dc {} > FILE`", gunzip),
                 (b"BZh9..", "compressed with bzip2", "; decompress it first with `bzip2 -dc {} > FILE`", gunzip),
                 (b"\x04\x22\x4d\x18..", "compressed with lz4", "; decompress it first with `lz4 -dc {} > FILE`", gunzip),
                 (b"PK\x03\x04..", "a zip archive", "; unpack it first with `unzip {}`", gunzip),
                 (b"x" * 257 + b"ustar", "a tar archive", untar, untar),
                 (b"SQLite format 3\0..", capture, None, gunzip),
                 (b"\x14\0\0\0!FastSerialization.1..", "a .gcdump, .netperf or .etlx file", unread, unread),
                 (b"PERFILE2..", "a file of perf", unread, unread),
                 (b"\x7fELF..", "an ELF file (a program or a core dump)", unread, unread),
                 (b"{}", "JSON", unread, unread),
                 (b"<!doctype html>", "an HTML page", unread, unread),
                 (gzip.compress(b"x"), "gzipped", None, gunzip),
                 (b"hello", "neither a nettrace nor a whole pprof profile", None, "")]
        for held, what, advice, of_gzipped in kinds:
            for name in ("x.nettrace", "x.pb", "x"):
                path = TMP / name
                if advice is not None:
                    path.write_bytes(held)
                    self.fails(1, f"{path} is {what}{advice.format(path)}\n", "report", path)
                if what.startswith("neither") and name == "x.pb":  # a damaged one, then
                    continue
                path.write_bytes(gzip.compress(held))
                told = f"{path} is gzipped, and what it holds is {what}{of_gzipped.format(path)}\n"
                self.fails(1, told, "report", path)
        self.fails(1, f"standard input is {capture}, which is not read from a pipe", "report", "-",
                   stdin=b"SQLite format 3\0")
        self.fails(1, "standard input is compressed with zstd", "inspect", "-", stdin=b"\x28\xb5\x2f\xfd")
        path.write_bytes(b"\x28\xb5\x2f\xfd")
        told = f"{path} is compressed with zstd; decompress it first with `zstd -dc {path} > FILE`"
        for verb in (["gcstats"], ["inspect"], ["convert", "-o", TMP / "x.html"], ["convert", "-o", TMP / "x.clrscope"],
                     ["leaks"], ["query", "select 1"], ["diff", TMP / "x"]):
            self.fails(1, told, verb[0], path, *verb[1:])

    def test_doctor_and_ps(self):
        document = self.json("doctor", str(os.getpid()), code=4)
        self.assertFalse(document["can_be_profiled"])
        self.assertEqual(document["exit_code"], 4)
        self.assertIn("fail", [c["verdict"] for c in document["checks"]])
        self.ok("doctor", "999999999", code=4)
        self.fails(4, "is called", "doctor", "no-such-program")
        r = run("ps", "--json")
        self.assertIn(r.returncode, (0, 3))
        for p in json.loads(r.stdout)["processes"]:
            self.assertTrue({"pid", "name", "runtime", "rss_bytes", "uptime_s", "attachable", "reason"} <= p.keys())


FIGURES = {"samples", "bytes", "bytes_low", "bytes_high", "objects", "objects_low", "objects_high"}


class Report(Case):
    def setUp(self):
        self.sampled = trace("03b-")
        self.tick = trace("08a-")

    def test_default_shows_types_and_sites(self):
        text = self.ok("report", self.sampled)
        self.assertIn("\nTypes\n", text)
        self.assertIn("\nSites", text)
        self.assertIn("±", text)
        self.assertIn("AllocationSampled", text)

    def test_fits_80_columns(self):
        for args in ([], ["--by", "method"], ["--by", "stack"], ["--by", "thread"], ["--by", "assembly"], ["--tree"],
                     ["--bottom-up"], ["--by", "time"], ["--by", "kind"], ["--by", "process"], ["--sort", "objects"]):
            for path in (self.sampled, self.tick):
                text = self.ok("report", path, *args, env={"COLUMNS": "80"})
                for line in text.splitlines():
                    self.assertLessEqual(len(line), 80, (args, line))

    def test_views_in_json(self):
        keys = {"type": {"type", "kind", "type_id", "raw", "share"} | FIGURES,
                "site": {"type", "module", "method"} | FIGURES, "stack": {"frames", "types"} | FIGURES,
                "method": {"module", "method", "raw", "samples", "self_bytes", "total_bytes", "self_bytes_low",
                           "total_bytes_high"},
                "kind": {"kind"} | FIGURES, "thread": {"thread", "pid"} | FIGURES, "assembly": {"module"} | FIGURES,
                "process": {"process", "pid"} | FIGURES, "time": {"start_s", "end_s", "bytes_per_s"} | FIGURES,
                "time:10s": {"start_s"} | FIGURES}
        for by, wanted in keys.items():
            document = self.json("report", self.sampled, "--by", by)
            self.assertTrue(document["rows"], by)
            for row in document["rows"]:
                self.assertTrue(wanted <= row.keys(), (by, wanted - row.keys()))
            if by != "method":
                total = document["totals"]["bytes"]
                self.assertAlmostEqual(sum(r["bytes"] for r in document["rows"]) / total, 1, places=3)
            self.assertEqual(document["rows_total"], len(document["rows"]))

    def test_head_of_json(self):
        document = self.json("report", self.sampled)
        self.assertEqual(document["event"], "AllocationSampled")
        self.assertFalse(document["biased"])
        self.assertEqual(document["by"], "site")
        self.assertTrue(FIGURES <= document["totals"].keys())
        self.assertLess(document["totals"]["bytes_low"], document["totals"]["bytes"])
        self.assertGreater(document["processes"][0]["pid"], 0)
        self.assertTrue(all({"name", "count"} <= loss.keys() for loss in document["losses"]))

    def test_tick_is_biased_without_interval(self):
        document = self.json("report", self.tick, "--by", "type")
        self.assertEqual(document["event"], "AllocationTick")
        self.assertTrue(document["biased"])
        for row in [document["totals"], *document["rows"]]:
            for name in ("bytes_low", "bytes_high", "objects_low", "objects_high"):
                self.assertIsNone(row[name])
        self.assertIn("biased", self.ok("report", self.tick))

    def test_sort_and_limit(self):
        for by in ("bytes", "objects", "samples"):
            rows = self.json("report", self.sampled, "--by", "type", "--sort", by, "-n", "7")["rows"]
            self.assertEqual(len(rows), 7)
            self.assertEqual([r[by] for r in rows], sorted((r[by] for r in rows), reverse=True))
        self.assertIn("more rows", self.ok("report", self.sampled, "--by", "type", "-n", "1"))
        self.assertNotIn("more rows", self.ok("report", self.sampled, "--by", "type", "-n", "0"))

    def test_only_what_can_be_narrowed_is(self):
        # Whatever narrows a table: what its rows add up to is what they are rows of.
        threads = self.json("report", self.sampled, "--by", "thread")["rows"]
        busiest = f"^{threads[0]['thread']}$"
        for arguments in (("--type", "String"), ("--method", "Parse"), ("--thread", busiest), ("--type", "String", "--thread", busiest)):
            whole = self.json("report", self.sampled, "--by", "type", *arguments)["totals"]
            self.assertGreater(whole["samples"], 0, arguments)
            for by in ("time:1s", "thread", "site", "stack", "process", "kind"):
                p = self.json("report", self.sampled, "--by", by, *arguments)
                self.assertEqual(sum(r["samples"] for r in p["rows"]), whole["samples"], (by, arguments))
                self.assertAlmostEqual(sum(r["bytes"] for r in p["rows"]) / whole["bytes"], 1, places=3)
        one = self.json("report", self.sampled, "--thread", busiest)["totals"]
        self.assertEqual(one["samples"], threads[0]["samples"])
        # A capture of the trace tells the same, a page and a pprof file narrow alike.
        capture = TMP / "threads.clrscope"
        self.ok("convert", self.sampled, "-o", capture, "--force")
        self.assertEqual(self.json("report", capture, "--thread", busiest, "--type", "String")["totals"],
                         self.json("report", self.sampled, "--thread", busiest, "--type", "String")["totals"])
        self.ok("convert", capture, "-o", TMP / "threads.folded", "--thread", busiest, "--weight", "samples", "--force")
        folded = sum(int(line.rsplit(" ", 1)[1]) for line in (TMP / "threads.folded").read_text().splitlines())
        self.assertEqual(folded, one["samples"])
        self.ok("convert", capture, "-o", TMP / "threads.html", "--thread", busiest, "--force")
        narrowed = self.json("diff", f"{capture}@0s..1s", f"{capture}@1s..2s", "--by", "thread", "--type", "String")
        self.assertEqual(narrowed["totals"]["samples_before"], sum(r["samples_before"] for r in narrowed["rows"]))
        self.fails(3, "matches --thread", "report", self.sampled, "--thread", "^no such thread$")
        counted = trace("04c-")
        self.fails(2, "not by both", "report", counted, "--event", "counted", "--thread", busiest)
        self.fails(2, "not by both", "report", counted, "--event", "counted", "--by", "thread", "--type", "String")
        p = self.json("report", counted, "--event", "counted", "--by", "time:1s", "--type", "String")
        self.assertEqual(sum(r["objects"] for r in p["rows"]), p["totals"]["objects"])
        self.fails(2, "use one of", "report", self.sampled, "--measure", "nonsense")
        self.fails(3, "record with --waits", "report", self.sampled, "--measure", "waits")

    def test_filters(self):
        whole = self.json("report", self.sampled)["totals"]
        strings = self.json("report", self.sampled, "--type", "^string$", "--by", "type")
        self.assertEqual({r["type"] for r in strings["rows"]}, {"string"})
        self.assertLess(strings["totals"]["samples"], whole["samples"])
        method = self.json("report", self.sampled, "--method", "Dictionary", "--by", "stack")
        for row in method["rows"]:
            self.assertTrue(any("Dictionary" in f["method"] + f["raw"] for f in row["frames"]))
        first = self.json("report", self.sampled, "--to", "10s")["totals"]["samples"]
        second = self.json("report", self.sampled, "--from", "00:00:10")["totals"]["samples"]
        self.assertEqual(first + second, whole["samples"])
        self.assertGreater(first, 0)
        pid = self.json("report", self.sampled)["processes"][0]["pid"]
        self.assertEqual(self.json("report", self.sampled, "--process", pid)["totals"], whole)

    def test_nothing_matches(self):
        self.fails(3, "--type zzzz", "report", self.sampled, "--type", "zzzz")
        self.fails(3, "there is", "report", self.sampled, "--process", "nobody")
        self.fails(3, "use --event sampled", "report", self.sampled, "--event", "counted")
        document = self.json("report", self.sampled, "--type", "zzzz", code=3)
        self.assertEqual(document["rows"], [])

    def test_no_allocation_events(self):
        self.fails(3, "holds no allocation samples", "report", trace("02-"))

    def test_bad_pattern(self):
        self.fails(2, "at character 3", "report", self.sampled, "--type", "ab[")
        self.fails(2, "--method", "report", self.sampled, "--method", "(")

    def test_trees(self):
        for option in ("--tree", "--bottom-up"):
            self.assertIn("100.0 %  all", self.ok("report", self.sampled, option))
            rows = self.json("report", self.sampled, option)["rows"]
            self.assertEqual(rows[0]["depth"], 0)
            total = sum(r["bytes"] for r in rows if r["depth"] == 0)
            self.assertAlmostEqual(total / self.json("report", self.sampled)["totals"]["bytes"], 1, places=3)

    def test_framework_changes_the_site(self):
        own = self.json("report", self.sampled)["rows"]
        raw = self.json("report", self.sampled, "--framework")["rows"]
        self.assertNotEqual([r["method"] for r in own[:20]], [r["method"] for r in raw[:20]])

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.ok("report", self.sampled, "--by", "type", "--csv"))))
        document = self.json("report", self.sampled, "--by", "type")
        self.assertEqual(len(rows), len(document["rows"]))
        self.assertEqual(rows[0]["type"], document["rows"][0]["type"])
        self.assertEqual(int(rows[0]["bytes"]), document["rows"][0]["bytes"])

    def test_colour_only_when_asked(self):
        self.assertNotIn("\x1b", self.ok("report", self.sampled))
        self.assertIn("\x1b[1m", self.ok("report", self.sampled, "--color", "always"))
        self.assertNotIn("\x1b", self.ok("report", self.sampled, "--color=never", env={"CLRSCOPE_COLOR": "always"}))
        self.assertIn("\x1b", self.ok("report", self.sampled, env={"CLRSCOPE_COLOR": "always"}))

    def test_standard_input(self):
        data = pathlib.Path(self.sampled).read_bytes()
        a = self.json("report", "-", stdin=data)
        b = self.json("report", self.sampled)
        self.assertEqual(a["rows"], b["rows"])

    def test_cut_input_shows_what_it_holds(self):
        data = pathlib.Path(self.sampled).read_bytes()
        cut = TMP / "cut.nettrace"
        cut.write_bytes(data[: len(data) // 2])
        r = run("report", cut, "--json")
        self.assertEqual(r.returncode, 8)
        self.assertRegex(r.stderr.decode(), r"byte \d+")
        document = json.loads(r.stdout)
        self.assertFalse(document["complete"])
        self.assertGreater(document["damage"]["offset"], 0)
        self.assertIn("truncated_input", [loss["name"] for loss in document["losses"]])
        self.assertGreater(document["totals"]["samples"], 0)

    def test_damaged_input_shows_what_came_before(self):
        data = bytearray(pathlib.Path(self.sampled).read_bytes())
        middle = len(data) // 2
        data[middle : middle + 40000] = b"\xff" * 40000
        bad = TMP / "bad.nettrace"
        bad.write_bytes(data)
        r = run("report", bad)
        self.assertEqual(r.returncode, 8, r.stderr.decode())
        self.assertIn("byte", r.stderr.decode())
        self.assertIn("Types", r.stdout.decode())

    def test_killed_recorder(self):
        r = run("report", trace("12c-"))
        self.assertEqual(r.returncode, 8)
        self.assertIn("byte", r.stderr.decode())

    def test_broken_pipe_is_quiet(self):
        with subprocess.Popen([CLRSCOPE, "report", self.sampled, "--by", "stack", "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            p.stdout.read(10)
            p.stdout.close()
            err = p.stderr.read()
            p.wait()
        self.assertEqual(err, b"")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk_fails(self):
        with open("/dev/full", "w") as full:
            r = subprocess.run([CLRSCOPE, "report", self.sampled], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"No space left", r.stderr)


GENERATIONS = ("gen0", "gen1", "gen2", "loh", "poh")


class GcStats(Case):
    def test_schema(self):
        d = self.json("gcstats", trace("08a-net8"))
        self.assertEqual(d["losses"], [])
        [process] = d["processes"]
        self.assertEqual(process["gcs"], 174)
        self.assertIs(process["gc_server"], False)
        self.assertEqual(len(d["gcs"]), 174)
        for gc in d["gcs"]:
            self.assertIn(gc["type"], ("blocking", "background", "foreground"))
            self.assertIn(gc["reason"], ("AllocSmall", "AllocLarge"))
            self.assertGreater(gc["pause_ms"], 0)
            self.assertLessEqual(gc["suspend_ms"], gc["pause_ms"])
            for name in ("size_before_bytes", "size_after_bytes", "promoted_bytes"):
                self.assertEqual(tuple(gc[name]), GENERATIONS)
                self.assertTrue(all(v >= 0 for v in gc[name].values()), gc["number"])
            self.assertEqual(sum(gc["size_after_bytes"].values()), gc["after_bytes"])
            self.assertGreaterEqual(gc["peak_bytes"], gc["before_bytes"])
            if gc["generation"] < 2:
                self.assertIsNone(gc["survival_percent"]["gen2"])
        rollup = {(r["generation"], r["background"]): r for r in process["by_generation"]}
        self.assertEqual(rollup[("all", None)]["count"], 174)
        self.assertEqual(sum(rollup[(g, None)]["count"] for g in (0, 1, 2)), 174)
        self.assertEqual(sum(b["count"] for b in process["pause_histogram"]), 174)
        self.assertAlmostEqual(sum(g["pause_ms"] for g in d["gcs"]), process["pause_total_ms"], 6)
        self.assertAlmostEqual(sum(b["paused_ms"] for b in process["pause_share"]), process["pause_total_ms"], 6)

    def test_every_heap_of_server_gc(self):
        d = self.json("gcstats", trace("07a-server"))
        self.assertEqual(d["processes"][0]["heap_count_max"], 2)
        for gc in d["gcs"]:
            self.assertEqual([h["heap"] for h in gc["heaps"]], [0, 1])
            self.assertGreaterEqual(gc["survived_imbalance"] or 1, 1)
        self.assertGreater(d["processes"][0]["pinned_types"][0]["count"], 30000)

    def test_csv_has_one_row_per_collection_and_as_many_cells(self):
        out = TMP / "gc.csv"
        self.ok("gcstats", trace("07a-server"), "-o", out, "-f")
        rows = list(csv.DictReader(io.StringIO(out.read_text())))
        self.assertEqual(len(rows), 44)
        self.assertNotIn(None, rows[0])
        d = self.json("gcstats", trace("07a-server"))
        for row, gc in zip(rows, d["gcs"]):
            self.assertNotIn(None, row.values())
            self.assertEqual(row["number"], str(gc["number"]))
            self.assertEqual(row["size_after_bytes.poh"], str(gc["size_after_bytes"]["poh"]))
            self.assertAlmostEqual(float(row["pause_ms"]), gc["pause_ms"])

    def test_json_file_is_what_json_prints(self):
        out = TMP / "gc.json"
        self.ok("gcstats", trace("02-"), "-o", out, "-f")
        self.assertEqual(out.read_text(), self.ok("gcstats", trace("02-"), "--json"))
        self.fails(2, "exists", "gcstats", trace("02-"), "-o", out)
        self.fails(2, "its ending tells", "gcstats", trace("02-"), "-o", TMP / "gc.doc")

    def test_tables_fit_100_columns_and_wide_shows_more(self):
        for name in ("02-", "07a-server", "08a-net8"):
            text = self.ok("gcstats", trace(name), "-n", "0")
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
            self.assertIn("POH", text)
        wide = self.ok("gcstats", trace("07a-server"), "--wide")
        self.assertIn("Surv2 %", wide)
        self.assertIn("Committed", wide)

    def test_wide_sums_up_marking_and_reasons(self):
        wide = self.ok("gcstats", trace("07a-server"), "--wide")
        gcs = self.json("gcstats", trace("07a-server"))["gcs"]
        marking = wide[wide.index("Marked from"):wide.index("\nCondemned\n")].splitlines()[2:]
        shown = {row.split()[4]: row.split()[:2] for row in marking if row}
        for kind in gcs[0]["mark_ms"]:
            told = [g["mark_ms"][kind] for g in gcs if g["mark_ms"][kind] is not None]
            if not told:
                self.assertNotIn(kind, shown)
                continue
            self.assertEqual(shown[kind][0], str(len(told)))
            self.assertAlmostEqual(float(shown[kind][1].replace(",", "")), sum(told), delta=max(0.01, sum(told) / 100))
        promoted = wide[wide.index("\nPromoted"):wide.index("\nMarked from")].splitlines()[3:]
        shown = {row.split()[4]: row.split()[:4] for row in promoted if row}
        self.assertEqual(set(shown), {"gen0", "gen1", "gen2", "LOH"})
        for generation, row in shown.items():
            name = generation.lower()
            for at, figure in ((0, "promoted_bytes"), (2, "promoted_in_bytes")):
                told = [g[figure][name] for g in gcs if (g[figure] or {}).get(name)]
                self.assertEqual(row[at], str(len(told)))
                self.assertAlmostEqual(float(row[at + 1]), sum(told) / 2**20, delta=max(0.05, sum(told) / 2**20 / 100))
        reasons = wide[wide.index("\nCondemned\n"):].splitlines()[3:]
        rows = [row.split() for row in reasons[:reasons.index("")]]
        finals = [max(h["condemned"]["final_generation"] for h in g["heaps"]) for g in gcs if g["heaps"]]
        self.assertEqual(finals, [g["condemned"]["final_generation"] for g in gcs if g["heaps"]])
        self.assertEqual(finals, [g["generation"] for g in gcs if g["heaps"]])
        shown_finals = {}  # "gen0 → gen1, …"
        for row in rows:
            final = row[4] if row[3:4] == ["→"] else row[2]
            shown_finals[final.strip(",")] = shown_finals.get(final.strip(","), 0) + int(row[0])
        self.assertEqual(shown_finals, {f"gen{n}": finals.count(n) for n in set(finals)})
        self.assertGreater(len(shown_finals), 1)
        self.assertGreater(len(shown), 2)

    def test_limit_and_sort(self):
        text = self.ok("gcstats", trace("08a-net8"), "-n", "3", "--sort", "pause")
        rows = [l.split() for l in text[text.index("Longest pauses"):].splitlines()[2:5]]
        pauses = [float(r[4]) for r in rows]
        self.assertEqual(pauses, sorted(pauses, reverse=True))
        d = self.json("gcstats", trace("08a-net8"))
        self.assertEqual(rows[0][0], str(max(d["gcs"], key=lambda g: g["pause_ms"])["number"]))

    def test_page(self):
        out = TMP / "gc.html"
        self.ok("gcstats", trace("07a-server"), "-o", out, "-f")
        text = out.read_text()
        self.assertRegex(text, r"<title>GCPerfSim \(12339\) · GC - clrscope</title>")
        self.assertLess(len(text), 200_000)

    def test_advice_and_causes(self):
        [process] = self.json("gcstats", trace("07a-server"))["processes"]
        rules = {a["rule"]: a for a in process["advice"]}
        self.assertIn("loh_churn", rules)
        self.assertEqual(rules["loh_churn"]["setting"], "System.GC.LOHThreshold")
        self.assertRegex(rules["loh_churn"]["evidence"], r"8 of 8 gen2 GCs")
        blame = process["pause_by_type"]
        self.assertEqual(blame["types"][0]["type"], "byte[]")
        self.assertAlmostEqual(sum(t["pause_ms"] for t in blame["types"]) + blame["unnamed_pause_ms"], blame["pause_ms"], 6)
        # GCs only, and few of them: nothing stands out.
        [process] = self.json("gcstats", trace("02-"))["processes"]
        self.assertEqual(process["advice"], [])
        self.assertIsNone(process["pause_by_type"])
        self.assertIsNone(process["gc_cpu"])

    def test_a_capture_tells_all_that_its_trace_does(self):
        for name in TRACES:
            out = TMP / "gc-kept.clrscope"
            out.unlink(missing_ok=True)
            r = run("convert", TRACES[name], "-o", out)
            self.assertIn(r.returncode, (0, 8), r.stderr)
            pair = [json.loads(run("gcstats", f, "--json").stdout) for f in (TRACES[name], out)]
            for d in pair:
                d.pop("file")
                # What a damaged file lacks is told by its capture as unfinished.
                d.pop("complete")
                d["losses"] = [l for l in d["losses"] if l["name"] != "truncated_input"]
            self.maxDiff = 2000
            self.assertEqual(pair[0], pair[1], name)

    def test_nothing_to_show(self):
        self.fails(4, "cannot open", "gcstats", TMP / "missing.nettrace")
        self.fails(3, "no process", "gcstats", trace("02-"), "--process", "nobody")

    def test_cut_trace_shows_what_it_holds(self):
        data = trace("08a-net8").read_bytes()
        cut = TMP / "gc-cut.nettrace"
        cut.write_bytes(data[: len(data) // 2])
        r = run("gcstats", cut, "--json")
        self.assertEqual(r.returncode, 8)
        d = json.loads(r.stdout)
        self.assertTrue(10 < len(d["gcs"]) < 174)
        self.assertEqual(d["losses"][0]["name"], "truncated_input")
        self.assertFalse(d["complete"])


class Inspect(Case):
    def test_trace(self):
        document = self.json("inspect", trace("03b-"))
        self.assertIn(document["format"]["version"], (4, 5, 6))
        self.assertEqual(document["format"]["pointer_size"], 8)
        self.assertGreater(document["format"]["pid"], 0)
        self.assertEqual(document["dropped"], 0)
        by_key = {(e["provider"], e["id"], e["version"]): e["count"] for e in document["events"]}
        self.assertEqual(len(by_key), len(document["events"]))
        self.assertEqual(sum(by_key.values()), document["event_count"])
        sampled = by_key[("Microsoft-Windows-DotNETRuntime", 303, 0)]
        self.assertEqual(sampled, self.json("report", trace("03b-"))["totals"]["samples"])
        self.assertIn("AllocationSampled", self.ok("inspect", trace("03b-")))

    def test_cut_trace(self):
        document = self.json("inspect", trace("12c-"), code=8)
        self.assertFalse(document["complete"])
        self.assertIn("truncated_input", [loss["name"] for loss in document["losses"]])


class Convert(Case):
    def setUp(self):
        self.trace = trace("03b-")
        self.dir = pathlib.Path(tempfile.mkdtemp(dir=TMP))
        self.capture = self.dir / "x.clrscope"

    def convert(self, source, name, *args, code=0):
        out = self.dir / name
        r = run("convert", source, "-o", out, *args)
        self.assertEqual(r.returncode, code, r.stderr.decode())
        return out, r.stderr.decode()

    def test_capture_reports_the_same(self):
        _, words = self.convert(self.trace, "x.clrscope")
        self.assertIn("clrscope report", words)
        for by in ("type", "site", "thread", "time"):
            a, b = (self.json("report", f, "--by", by) for f in (self.trace, self.capture))
            self.assertEqual(a["rows"], b["rows"], by)
            self.assertEqual(a["totals"], b["totals"])
            self.assertEqual(a["losses"], b["losses"])
        document = self.json("inspect", self.capture)
        self.assertEqual(document["format"]["name"], "clrscope")
        self.assertEqual(document["format"]["version"], 3)
        self.assertGreater(document["slices"]["count"], 0)
        # A trace does not tell what was asked for.
        (measure,) = document["measures"]
        self.assertEqual((measure["measure"], measure["recorded"]), ("allocations", None))
        samples = self.json("report", self.trace)["totals"]["samples"]
        self.assertIn({"event": "AllocationSampled", "count": samples}, measure["events"])
        self.assertIn("AllocationSampled", self.ok("inspect", self.capture))
        self.assertEqual([p.name for p in self.dir.iterdir()], ["x.clrscope"])

    def test_every_format(self):
        for name in ("x.pb.gz", "x.pb", "x.folded", "x.speedscope.json", "x.html", "x.clrscope", "x.sqlite"):
            out, words = self.convert(self.trace, name)
            self.assertGreater(out.stat().st_size, 1000)
            self.assertIn(name, words)
        self.assertIn("browser", self.convert(self.trace, "y.html")[1])
        self.assertEqual(sorted(p.suffix for p in self.dir.iterdir() if ".tmp" in p.name), [])

    def test_existing_output_needs_force(self):
        for name in ("x.folded", "x.clrscope", "x.sqlite"):
            out, _ = self.convert(self.trace, name)
            before = out.read_bytes()
            self.assertIn("-f", self.convert(self.trace, name, code=2)[1])
            self.assertEqual(out.read_bytes(), before)
            self.convert(self.trace, name, "-f")

    def test_filters(self):
        out, _ = self.convert(self.trace, "s.folded", "--type", "^string$")
        lines = out.read_text().splitlines()
        self.assertTrue(lines)
        self.assertTrue(all(line.rsplit(" ", 1)[0].endswith(";string") for line in lines))
        total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
        wanted = self.json("report", self.trace, "--type", "^string$")["totals"]["bytes"]
        self.assertLess(abs(total - wanted), 2)
        self.convert(self.trace, "e.folded", "--type", "zzzz", code=3)
        self.assertFalse((self.dir / "e.folded").exists())
        self.convert(self.trace, "f.sqlite", "--type", "zzzz", code=2)

    def test_weights_are_those_of_the_measure(self):
        total = lambda f: sum(int(line.rsplit(" ", 1)[1]) for line in f.read_text().splitlines())
        totals = self.json("report", self.trace)["totals"]
        out, _ = self.convert(self.trace, "plain.folded")
        self.assertLess(abs(total(out) - totals["bytes"]), 2)
        out, _ = self.convert(self.trace, "objects.folded", "--weight", "objects")
        self.assertLess(abs(total(out) - totals["objects"]), 2)
        _, words = self.convert(self.trace, "w.folded", "--weight", "wait_ns", code=2)
        self.assertIn("allocations have bytes, objects, samples", words)
        self.convert(self.trace, "l.folded", "--measure", "locks", code=3)
        _, words = self.convert(self.trace, "g.html", "--measure", "gc-cpu", code=2)
        self.assertIn("report --measure gc-cpu", words)
        self.convert(self.trace, "m.sqlite", "--measure", "allocations", code=2)

    def test_standard_output(self):
        text = self.ok("convert", self.trace, "-o", "-", "--format", "folded")
        self.assertRegex(text.splitlines()[0], r"^.+ \d+$")
        self.fails(2, "--format", "convert", self.trace, "-o", "-")
        self.fails(2, "needs a file", "convert", self.trace, "-o", "-", "--format", "sqlite")

    def test_unknown_format(self):
        self.fails(2, "sqlite", "convert", self.trace, "-o", self.dir / "x.doc")
        self.fails(2, "there is no format", "convert", self.trace, "-o", self.dir / "x", "--format", "doc")

    def test_cut_input_is_converted_and_said(self):
        data = pathlib.Path(self.trace).read_bytes()
        cut = self.dir / "cut.nettrace"
        cut.write_bytes(data[: len(data) // 2])
        for name in ("c.folded", "c.clrscope", "c.sqlite"):
            out, words = self.convert(cut, name, code=8)
            self.assertIn("byte", words)
            self.assertTrue(out.exists())

    def test_plain_rows(self):
        out, _ = self.convert(self.trace, "x.sqlite")
        import sqlite3
        db = sqlite3.connect(out)
        total = self.json("report", self.trace)["totals"]
        samples, size = db.execute("select sum(samples), sum(bytes) from samples").fetchone()
        self.assertEqual(samples, total["samples"])
        self.assertAlmostEqual(size / total["bytes"], 1, places=4)
        for view in ("all_samples", "sites", "types", "frames"):
            self.assertGreater(db.execute(f"select count(*) from {view}").fetchone()[0], 0)
        self.assertEqual(db.execute("pragma integrity_check").fetchone()[0], "ok")
        db.close()


class Diff(Case):
    """Two windows of one trace of AllocationSampled, and two traces of AllocationTick."""

    def setUp(self):
        self.sampled = trace("03b")

    def test_a_recording_does_not_differ_from_itself(self):
        d = self.json("diff", self.sampled, self.sampled)
        self.assertEqual(d["changed"], 0)
        self.assertEqual(d["totals"]["difference"], 0)
        self.assertEqual({r["difference"] for r in d["rows"]}, {0})
        self.assertIn("within noise", self.ok("diff", self.sampled, self.sampled))

    def test_sides_are_what_report_says(self):
        d = self.json("diff", f"{self.sampled}@0s..5s", f"{self.sampled}@5s..60s", "--by", "type")
        for window, side in ((("--to", "5s"), "before"), (("--from", "5s"), "after")):
            report = self.json("report", self.sampled, *window, "--by", "type")
            self.assertAlmostEqual(d["totals"][side], report["totals"]["bytes"], delta=1)
            self.assertEqual(d["totals"][f"samples_{side}"], report["totals"]["samples"])
        t = d["totals"]
        self.assertAlmostEqual(t["difference"], t["after"] - t["before"], delta=0.01)
        self.assertLess(t["difference_low"], t["difference"])
        self.assertGreater(t["difference_high"], t["difference"])
        self.assertAlmostEqual(sum(r["after"] for r in d["rows"]), t["after"], delta=1)

    def test_what_was_not_sampled_has_an_upper_bound(self):
        d = self.json("diff", f"{self.sampled}@0s..5s", f"{self.sampled}@5s..60s", "--by", "type")
        new = [r for r in d["rows"] if r["samples_before"] == 0]
        self.assertTrue(new)
        for row in new:
            self.assertEqual(row["before"], 0)
            self.assertGreater(row["before_high"], 0)

    def test_per_second_divides_by_the_window(self):
        windows = f"{self.sampled}@0s..2s", f"{self.sampled}@2s..6s"
        whole, rate = self.json("diff", *windows), self.json("diff", *windows, "--per", "second")
        self.assertAlmostEqual(rate["before"][0]["seconds"], 2)
        self.assertAlmostEqual(rate["after"][0]["seconds"], 4)
        self.assertAlmostEqual(whole["totals"]["after"] / 4, rate["totals"]["after"], delta=1)

    def test_fail_on(self):
        windows = f"{self.sampled}@0s..5s", f"{self.sampled}@5s..60s"
        d = self.json("diff", *windows)
        self.assertTrue(d["totals"]["changed"])
        percent = d["totals"]["ratio"] * 100
        grew = percent > 0
        sign = ">" if grew else "<"
        run_code = lambda *a: run("diff", *windows, *a).returncode
        self.assertEqual(run_code("--fail-on", f"alloc_bytes{sign}{percent / 2:.0f}%"), 7)
        self.assertEqual(run_code("--fail-on", f"alloc_bytes{sign}{percent * 2:.0f}%"), 0)
        self.assertEqual(run_code("--fail-on", "changed_rows>0"), 7 if d["changed"] else 0)
        self.assertEqual(run("diff", self.sampled, self.sampled, "--fail-on", "alloc_bytes>-50%").returncode, 0)
        self.fails(2, "no metric", "diff", *windows, "--fail-on", "speed>1")
        self.fails(2, "no number", "diff", *windows, "--fail-on", "alloc_bytes>fast")

    def test_markdown(self):
        text = self.ok("diff", f"{self.sampled}@0s..5s", f"{self.sampled}@5s..60s", "--markdown", "--by", "kind")
        self.assertTrue(text.startswith("**Allocations:**"))

    def test_ticks_name_no_change(self):
        d = self.json("diff", trace("08a"), trace("08b"), "--per", "gc")
        self.assertEqual(d["changed"], 0)
        self.assertIsNone(d["totals"]["p_value"])
        self.assertIsNone(d["rows"][0]["difference_low"])

    def test_measures_have_their_own_metrics(self):
        d = self.json("diff", self.sampled, self.sampled, "--measure", "allocations", "--metric", "objects")
        self.assertEqual((d["measure"], d["metric"]), ("allocations", "objects"))
        self.assertEqual(self.json("diff", self.sampled, self.sampled)["metric"], "bytes")
        self.fails(2, "allocations have objects and bytes", "diff", self.sampled, self.sampled, "--metric", "wait_ns")
        self.fails(2, "allocations have objects and bytes", "diff", self.sampled, self.sampled, "--fail-on", "count>1")
        self.fails(3, "holds no exceptions", "diff", self.sampled, self.sampled, "--measure", "exceptions")

    def test_different_events_are_not_compared(self):
        self.fails(6, "cannot be compared", "diff", self.sampled, trace("08a"))
        self.fails(2, "give two files", "diff", self.sampled)


class Query(Case):
    def setUp(self):
        self.capture = TMP / "query.clrscope"
        if not self.capture.exists():
            self.ok("convert", trace("03b-"), "-o", self.capture)

    def test_documented_examples(self):
        text = (ROOT / "docs/sql.md").read_text()
        statements = [s for s in re.search(r"```sql\n(.*?)```", text, re.S).group(1).splitlines() if s[:2] != "--"]
        self.assertGreaterEqual(len(statements), 8)
        for sql in statements:
            r = run("query", self.capture, sql)
            self.assertIn(r.returncode, (0, 3), f"{sql}\n{r.stderr.decode()}")

    def test_output_formats(self):
        sql = "select type, sum(bytes) as bytes from samples group by type order by 2 desc limit 3"
        document = self.json("query", self.capture, sql)
        self.assertEqual(document["columns"], ["type", "bytes"])
        self.assertEqual(len(document["rows"]), 3)
        rows = list(csv.DictReader(io.StringIO(self.ok("query", self.capture, sql, "--csv"))))
        self.assertEqual([r["type"] for r in rows], [r["type"] for r in document["rows"]])
        self.assertEqual(len(self.ok("query", self.capture, sql).splitlines()), 4)

    def test_agrees_with_report(self):
        total = self.json("report", self.capture)["totals"]
        row = self.json("query", self.capture, "select * from recording")["rows"][0]
        for name in FIGURES:
            self.assertAlmostEqual(row[name], total[name], delta=1)
        types = self.json("query", self.capture, "select sum(samples) n from types")["rows"][0]["n"]
        self.assertEqual(types, total["samples"])

    def test_trace_works_too(self):
        sql = "select count(*) n, sum(samples) s from samples"
        self.assertEqual(self.json("query", trace("03b-"), sql)["rows"], self.json("query", self.capture, sql)["rows"])

    def test_only_reads(self):
        before = self.capture.read_bytes()
        for sql in ("delete from slice", "create table t(a)", f"attach '{TMP}/a' as a", "pragma journal_mode=off",
                    f"vacuum into '{TMP}/v'"):
            self.fails(2, "only read", "query", self.capture, sql)
        self.assertEqual(self.capture.read_bytes(), before)
        self.assertFalse((TMP / "v").exists() or (TMP / "a").exists())

    def test_mistakes(self):
        self.fails(2, "at character 1", "query", self.capture, "selct 1")
        self.fails(2, "lists tables", "query", self.capture, "select * from nowhere")
        self.fails(3, "no row", "query", self.capture, "select * from samples where type='zzz'")
        self.assertIn("samples", self.ok("query", self.capture))


class LiveCase(Case):
    """A capture of a simulated program with a leak, a refreshed cache and a static table."""

    @classmethod
    def setUpClass(cls):
        maker = pathlib.Path(CLRSCOPE).with_name("make_live_capture")
        if not maker.exists():
            raise unittest.SkipTest(f"{maker} is not built")
        cls.capture = TMP / "live.clrscope"
        if not cls.capture.exists():
            subprocess.run([maker, cls.capture], check=True)
        cls.profile = TMP / "live.pb.gz"

    def test_leaks(self):
        document = self.json("leaks", self.capture)
        verdicts = {s["site"]: s["verdict"] for s in document["suspects"]}
        self.assertEqual(verdicts["Orders.History.Add"], "growing")
        self.assertEqual(verdicts["Orders.Prices.Load"], "refreshed")
        self.assertEqual(verdicts["Orders.Main"], "steady")
        first = document["suspects"][0]
        self.assertEqual(first["type"], "Orders.Order")
        self.assertEqual(first["stack"][0]["method"], "Orders.History.Add")
        # 375 and 750 samples are expected: a fifth is four standard errors. What intervals cover is tested elsewhere.
        self.assertTrue(0.8 < first["slope_bytes_per_s"] / 128_000 < 1.2, first)
        self.assertTrue(0.8 < first["live_bytes"] / (128_000 * 600) < 1.2, first)
        self.assertTrue(first["slope_low"] < first["slope_bytes_per_s"] < first["slope_high"], first)
        self.assertGreater(first["median_age_s"], first["median_age_before_s"])
        self.assertGreater(first["survived_gen2"], 5)
        text = self.ok("leaks", self.capture)
        self.assertIn("growing  Orders.Order", text)
        self.assertEqual([s["type"] for s in self.json("leaks", self.capture, "--type", "Price")["suspects"]],
                         ["Orders.Price"])
        self.fails(3, "nothing that lives", "leaks", self.capture, "--type", "Nobody")
        self.fails(3, "too short", "leaks", self.capture, "--to", "15s")
        self.fails(2, "not expected: --live", "leaks", self.capture, "--live")
        self.fails(2, "not expected", "leaks", self.capture, "--thread", "x")

    def test_live_reports(self):
        live = self.json("report", self.capture, "--live", "--by", "type")
        self.assertEqual(live["shows"], "live")
        rows = {r["type"]: r for r in live["rows"]}
        order = rows["Orders.Order"]
        self.assertTrue(0.8 < order["bytes"] / (128_000 * 600) < 1.2, order)
        self.assertTrue(order["bytes_low"] < order["bytes"] < order["bytes_high"], order)
        old = self.json("report", self.capture, "--live", "--older-than", "2m", "--by", "type")
        self.assertEqual(old["older_than_s"], 120)
        self.assertNotIn("Orders.Price", {r["type"] for r in old["rows"]})  # refreshed each 100 s
        ages = self.json("report", self.capture, "--live", "--by", "age")["rows"]
        self.assertEqual(sum(r["bytes"] for r in ages if r["age_from_s"] >= 120), old["totals"]["bytes"])
        generations = self.json("report", self.capture, "--live", "--by", "generation")["rows"]
        self.assertEqual({r["generation"] for r in generations} - {"gen0", "gen1", "gen2", "LOH"}, set())
        earlier = self.json("report", self.capture, "--live", "--to", "5m")
        self.assertLess(earlier["totals"]["bytes"], live["totals"]["bytes"])
        self.assertIn("live at 10:00", self.ok("report", self.capture, "--live"))
        folded = TMP / "live.folded"
        self.ok("convert", self.capture, "--live", "-o", folded, "--force")
        whole = sum(int(line.rsplit(" ", 1)[1]) for line in folded.read_text().splitlines())
        self.assertAlmostEqual(whole, live["totals"]["bytes"], delta=5)
        speedscope = TMP / "live.speedscope.json"
        self.ok("convert", self.capture, "--live", "-o", speedscope, "--force")
        self.assertEqual(json.loads(speedscope.read_text())["profiles"][0]["unit"], "bytes")
        self.ok("convert", self.capture, "--live", "-o", TMP / "live.html", "--force")
        self.fails(2, "use 5m or 10m", "report", self.capture, "--live", "--older-than", "7m")
        self.fails(2, "give --live too", "report", self.capture, "--by", "age")
        self.fails(2, "a state", "report", self.capture, "--live", "--by", "time")
        self.assertEqual(self.json("report", self.capture, "--measure", "live", "--by", "type"), live)
        for by in ("site", "method", "stack", "process", "assembly", "kind", "generation", "age"):
            p = self.json("report", self.capture, "--measure", "live", "--by", by, "--type", "Order$")
            sums = sum(r.get("bytes", r.get("self_bytes")) for r in p["rows"])
            self.assertAlmostEqual(sums / order["bytes"], 1, places=4, msg=by)
        self.ok("report", self.capture, "--live", "--tree", "--method", "History")
        self.fails(2, "is not kept", "report", self.capture, "--live", "--by", "thread")
        self.fails(2, "is not kept", "report", self.capture, "--live", "--thread", "x")
        self.assertIn("Also recorded: --measure live, --measure gc-cpu", self.ok("report", self.capture))
        # Ten minutes in, more lives than five minutes in; a state is of no span of time.
        d = self.json("diff", f"{self.capture}@0s..5m", self.capture, "--measure", "live", "--by", "type")
        rows = {r["type"]: r for r in d["rows"]}
        self.assertEqual(d["measure"], "live")
        self.assertTrue(rows["Orders.Order"]["changed"], rows["Orders.Order"])
        self.assertAlmostEqual(rows["Orders.Order"]["after"], order["bytes"], delta=1)
        self.assertIn("Orders.Order", self.ok("diff", f"{self.capture}@0s..5m", self.capture, "--measure", "live", "--by", "type"))
        self.fails(2, "a state", "diff", self.capture, self.capture, "--measure", "live", "--per", "second")
        self.fails(2, "is not kept", "diff", self.capture, self.capture, "--measure", "live", "--by", "thread")
        times = self.json("report", self.capture, "--by", "time:1m", "--type", "Order$")
        self.assertEqual(sum(r["samples"] for r in times["rows"]), times["totals"]["samples"])
        self.assertGreater(len(times["rows"]), 8)

    def test_screens_fit_and_say_what_is_missing(self):
        screens = [["report", "--live"], ["report", "--by", "gc-cpu"], ["leaks"]]
        screens += [["report", "--live", "--by", by] for by in ("type", "site", "age", "generation")]
        for width in ("64", "80"):
            for verb, *rest in screens:
                r = run(verb, self.capture, *rest, env={"COLUMNS": width})
                self.assertEqual(r.returncode, 0, r.stderr)
                for line in r.stdout.decode().splitlines():
                    if not line.startswith("Sites: "):
                        self.assertLessEqual(len(line), int(width), line)
        self.assertIn("Only what is 2m old or older", self.ok("report", self.capture, "--live", "--older-than", "2m"))
        self.assertIn("Sites: what lives", self.ok("report", self.capture, "--live"))
        self.assertNotIn("Workstation", self.ok("report", self.capture, "--by", "gc-cpu"))
        self.fails(3, "does not tell threads apart", "report", self.capture, "--by", "thread")
        self.assertEqual(json.loads(run("report", self.capture, "--by", "thread", "--json").stdout)["rows"], [])
        self.fails(3, "in that span of time", "report", self.capture, "--live", "--to", "1s")
        self.fails(3, "in that span of time", "report", self.capture, "--by", "gc-cpu", "--from", "11m")
        self.fails(3, "--older-than 1h", "report", self.capture, "--live", "--older-than", "1h")
        self.ok("convert", self.capture, "-o", self.profile, "--force")
        self.assertIn("as the program that wrote the profile counts it", self.ok("report", self.profile, "--live"))
        self.fails(3, "a folder of profiles", "leaks", self.profile)
        self.fails(3, "without their threads", "report", self.profile, "--by", "thread")

    def test_sql(self):
        def one(sql):
            return list(self.json("query", self.capture, sql)["rows"][0].values())[0]
        live = self.json("report", self.capture, "--live")["totals"]["bytes"]
        self.assertAlmostEqual(one("select sum(bytes) from live"), live, delta=2)
        self.assertEqual(one("select count(*) from gc_cpu"), 60)
        flow = self.json("report", self.capture)["totals"]["samples"]
        self.assertEqual(one("select sum(samples) from samples"), flow)
        self.assertEqual(one("select samples from recording"), flow)
        text = (ROOT / "docs/sql.md").read_text()
        statements = [s for s in re.search(r"```sql\n(.*?)```", text, re.S).group(1).splitlines() if s[:2] != "--"]
        for sql in statements:
            if re.search(r"\b(live|live_ages|turnover|gc_cpu)\b", sql):
                self.assertTrue(self.json("query", self.capture, sql)["rows"], sql)
        rows = TMP / "live.sqlite"
        self.ok("convert", self.capture, "-o", rows, "--force")
        with contextlib.closing(sqlite3.connect(rows)) as db:
            self.assertAlmostEqual(db.execute("select sum(bytes) from live").fetchone()[0], live, delta=2)
            self.assertEqual(db.execute("select sum(samples) from samples").fetchone()[0], flow)

    def test_gc_cpu(self):
        document = self.json("report", self.capture, "--by", "gc-cpu")
        self.assertEqual(len(document["rows"]), 60)
        self.assertAlmostEqual(document["gc_cpu"][0]["gc_cpu_s"], 120)
        self.assertAlmostEqual(document["gc_cpu"][0]["gc_share"], 2 / 9, places=5)
        self.assertIsNone(document["rows"][0]["workstation_gc_s"])
        self.assertIn("22.2 %", self.ok("report", self.capture, "--by", "gc-cpu"))
        for same in (("--measure", "gc-cpu"), ("--measure", "gc-cpu", "--by", "time")):
            self.assertEqual(self.json("report", self.capture, *same), document)
        self.assertEqual(document["measure"], "gc-cpu")
        self.assertAlmostEqual(document["totals"]["gc_cpu_ns"] / 1e9, 120)
        self.assertEqual(document["totals"]["intervals"], 60)
        processes = self.json("report", self.capture, "--measure", "gc-cpu", "--by", "process")
        self.assertEqual(processes["rows"], document["gc_cpu"])
        self.assertIn("22.2 %", self.ok("report", self.capture, "--measure", "gc-cpu", "--by", "process"))
        for wrong in (("--by", "type"), ("--by", "thread"), ("--by", "stack"), ("--tree",), ("--type", "x"), ("--method", "x"), ("--thread", "x"),
                      ("--request", "x"), ("--slower-than", "1s")):
            self.fails(2, "of whole processes", "report", self.capture, "--measure", "gc-cpu", *wrong)
        self.fails(2, "give --by time", "report", self.capture, "--measure", "gc-cpu", "--by", "time:10s")
        d = self.json("diff", f"{self.capture}@0s..5m", f"{self.capture}@5m..10m", "--measure", "gc-cpu")
        self.assertEqual((d["by"], d["metric"]), ("process", "gc_cpu_ns"))
        self.assertAlmostEqual(d["totals"]["before"] / 1e9, 60)
        self.assertIsNone(d["totals"]["p_value"])
        self.assertIn("1m 00s", self.ok("diff", f"{self.capture}@0s..5m", f"{self.capture}@5m..10m", "--measure", "gc-cpu"))
        self.fails(2, "of whole processes", "diff", self.capture, self.capture, "--measure", "gc-cpu", "--by", "type")

    def test_pprof_there_and_back(self):
        live = self.json("report", self.capture, "--live", "--by", "site")
        flow = self.json("report", self.capture, "--by", "site")
        self.ok("convert", self.capture, "-o", self.profile, "--force")
        again = self.json("report", self.profile, "--live", "--by", "site")
        self.assertEqual(again["event"], "pprof")
        self.assertIsNone(again["totals"]["bytes_low"])

        def figures(document):
            return {(r["type"], r["method"]): r["bytes"] for r in document["rows"]}
        for left, right in ((live, again), (flow, self.json("report", self.profile, "--by", "site"))):
            a, b = figures(left), figures(right)
            self.assertEqual(a.keys(), b.keys())
            for key in a:
                self.assertAlmostEqual(a[key], b[key], delta=len(a) + 8)
        self.assertEqual(self.json("report", self.capture, "--live", "--older-than", "2m")["totals"]["bytes"],
                         self.json("report", self.profile, "--live", "--older-than", "2m")["totals"]["bytes"])

    def test_folders_of_pprof_files(self):
        folder = TMP / "profiles"
        folder.mkdir(exist_ok=True)
        for i in range(1, 11):
            self.ok("convert", self.capture, "--from", f"{60 * (i - 1)}s", "--to", f"{60 * i}s", "-o",
                    folder / f"{i:02}.pb.gz", "--force")
        flow = self.json("report", self.capture)
        # Their time is the recording's start: allocations add up all the same.
        self.assertAlmostEqual(self.json("report", folder)["totals"]["bytes"], flow["totals"]["bytes"], delta=20)
        self.fails(3, "holds no pprof file", "report", TMP / "empty" if (TMP / "empty").mkdir() is None else "")

    def test_files_that_the_agent_writes(self):
        folder = TMP / "spool"
        subprocess.run([pathlib.Path(CLRSCOPE).with_name("make_live_capture"), TMP / "spooled.clrscope", folder], check=True)
        suspects = self.json("leaks", folder)["suspects"]
        growing = [(s["site"], s["type"]) for s in suspects if s["verdict"] == "growing"]
        self.assertEqual(growing, [("Orders.History.Add", "Orders.Order")])
        last = self.json("report", folder / "1059.pb", "--live", "--by", "site")
        whole = self.json("report", TMP / "spooled.clrscope", "--live", "--by", "site")
        figures = [{(r["type"], r["method"]): round(r["bytes"]) for r in d["rows"]} for d in (last, whole)]
        self.assertEqual(figures[0].keys(), figures[1].keys())
        for key, told in figures[0].items():
            self.assertAlmostEqual(told, figures[1][key], delta=len(suspects) + 30)
        # By age and generation, too.
        for option in (("--older-than", "2m"), ("--by", "generation")):
            sums = [[r["bytes"] for r in self.json("report", path, "--live", *option)["rows"]]
                    for path in (folder / "1059.pb", TMP / "spooled.clrscope")]
            self.assertEqual(len(sums[0]), len(sums[1]), option)
            for left, right in zip(*sums):
                self.assertAlmostEqual(left, right, delta=60)

    def test_a_go_heap_profile(self):
        go = ROOT / "fuzz/corpus/pprof/go_heap_gz"
        document = self.json("report", go, "--live", "--by", "stack")
        self.assertEqual([f["method"] for f in document["rows"][0]["frames"]],
                         ["runtime.makeslice", "main.grow", "main.main"])
        self.assertEqual(document["totals"]["bytes"], 256)
        self.assertEqual(self.json("report", go)["totals"]["bytes"], 1140)
        self.ok("convert", go, "-o", TMP / "go.clrscope")
        self.assertEqual(self.json("report", TMP / "go.clrscope", "--live")["totals"]["bytes"], 256)
        self.assertEqual(self.json("report", TMP / "go.clrscope")["event"], "pprof")
        difference = self.json("diff", go, TMP / "go.clrscope")
        self.assertEqual((difference["totals"]["before"], difference["totals"]["difference"]), (1140, 0))
        self.assertIsNone(difference["totals"]["p_value"])
        self.fails(2, "no rows", "query", go, "select 1")
        cut = TMP / "cut.pb.gz"
        cut.write_bytes(go.read_bytes()[:-20])
        self.fails(1, "ends too early", "report", cut)


def main():
    global CLRSCOPE, TMP
    parser = argparse.ArgumentParser()
    parser.add_argument("--clrscope", required=True)
    parser.add_argument("--traces", default=ROOT / "tests/golden/traces", type=pathlib.Path)
    options, rest = parser.parse_known_args()
    CLRSCOPE = completion.PROGRAM = str(pathlib.Path(options.clrscope).resolve())
    with tempfile.TemporaryDirectory(prefix="clrscope-cli-test.") as directory:
        TMP = pathlib.Path(directory)
        for path in sorted(options.traces.glob("*.nettrace*")) if options.traces.is_dir() else []:
            out = path
            if path.suffix == ".zst":
                if shutil.which("zstd") is None:
                    sys.exit("cli_test: zstd is needed to unpack the traces")
                out = TMP / path.stem
                subprocess.run(["zstd", "-dqf", path, "-o", out], check=True)
            TRACES[out.name] = out
        if not TRACES:
            print(f"cli_test: NO TRACES in {options.traces}: most tests are skipped", file=sys.stderr)
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
