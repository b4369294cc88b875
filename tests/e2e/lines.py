# SPDX-License-Identifier: Apache-2.0
"""Source lines: each sample of a program that knows the lines of what it does."""
import base64
import json
import os
import re
import shutil
import struct
import subprocess
import zlib

from clock import clock
import harness
from harness import Case, Workload, clrscope, report

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "workloads", "lines")
KINDS = {"=": "exact", "<": "statement", ">": "call", "?": "throw"}
CONFIGURATIONS = {"as it is": {}, "tier 0": {"DOTNET_TC_CallCounting": "0", "DOTNET_TC_OnStackReplacement": "0", "DOTNET_OSR_HitLimit": "0"},
                  "without PGO": {"DOTNET_TieredPGO": "0"}, "optimised at once": {"DOTNET_TieredCompilation": "0"}}


def marks():
    """{what: {(file, line): kind}}, as the program's comments say."""
    found = {}
    for name in sorted(os.listdir(SOURCES)):
        if not name.endswith(".cs"):
            continue
        with open(os.path.join(SOURCES, name), encoding="utf-8") as source:
            for number, text in enumerate(source, 1):
                for word in text.partition("  // ")[2].split():
                    if word[0] in KINDS and re.fullmatch(r"[A-Z]\w+(\.\d)?(\[\]|<\w+>)?|string", word[1:]):
                        found.setdefault(word[1:], {})[(name, number)] = KINDS[word[0]]
    return found


def short(name):
    return re.sub(r"[\w.]+\.(\w)", r"\1", name)


def site_of(frames):
    """The first frame of the program's own."""
    return next((f for f in frames if f["module"] == "lines"), None)


class Lines(Case):
    LEAST_TURNS = 60  # of each place, some thousands of samples: as many as the checks need, on a busy machine, too

    def recorded(self, flavour, *options, program=(), env=None):
        path = self.path(f"{flavour}.clrscope")
        with Workload("--turns", str(self.LEAST_TURNS), *program, flavour=flavour, env=env) as w:
            self.record_to_its_end(w, path, "--lines", *options)
        return path

    def classes(self, path, *options):
        """Samples by class, and what of each type was wrong."""
        known, counts, wrong = marks(), {}, {}
        for row in report(path, "--by", "stack", *options)["rows"]:
            site = site_of(row["frames"])
            for part in row["types"]:
                lines = known.get(short(part["type"]))
                if lines is None or site is None:
                    continue
                if short(part["type"]) == "string" and not site["method"].endswith(".Boxed"):
                    continue  # the runtime and its library make some, too
                place = (os.path.basename(site["file"] or ""), site["line"])
                kind = lines.get(place, "none" if site["line"] is None else "wrong")
                if kind in ("wrong", "throw", "none"):
                    wrong.setdefault((short(part["type"]), place, site["method"], site.get("approximate")), 0)
                    wrong[(short(part["type"]), place, site["method"], site.get("approximate"))] += part["samples"]
                counts[kind] = counts.get(kind, 0) + part["samples"]
        return counts, wrong

    def check(self, path, least):
        counts, wrong = self.classes(path)
        total = sum(counts.values())
        self.assertGreater(total, 500, counts)
        right = sum(counts.get(kind, 0) for kind in ("exact", "statement", "call"))
        self.assertGreaterEqual(right / total, least, (counts, wrong))
        return counts, wrong

    def check_caught(self, wrong):
        """What a catch allocates is shown at the throw, and marked."""
        self.assertIn("A38", {what for what, *_ in wrong}, "no catch block was sampled")
        for what, place, method, approximate in wrong:
            if what == "A38":
                self.assertTrue(approximate, (what, place, method))

    def test_each_sample_has_its_line(self):
        for flavour in ("lines", "lines-net9", "lines-net8"):
            with self.subTest(flavour):
                _, wrong = self.check(self.recorded(flavour, program=("--seconds", "4")), 0.96)
                self.check_caught(wrong)

    def test_what_the_agent_tells(self):
        for flavour in ("lines", "lines-net9", "lines-net8"):
            with self.subTest(flavour):
                path = self.recorded(flavour, "--live", program=("--seconds", "4", "--kinds", "sites,keeps"))
                counts, wrong = self.check(path, 0.96)
                self.assertNotIn("none", counts, wrong)
                # What lives is at the line that made it, and not where its method begins.
                live = {}
                for row in report(path, "--live", "--by", "line", "-n", "0")["rows"]:
                    if row["method"].endswith(".Keeps.Fill") and row["self_samples"] > 0:
                        live[os.path.basename(row["file"]), row["line"]] = row["self_samples"]
                for what in ("K01", "K02"):
                    [(place, _)] = marks()[what].items()
                    self.assertGreater(live.pop(place, 0), 50, what)
                self.assertEqual(live, {})
                by_site = report(path, "--live", "--by", "site", "-n", "0")["rows"]
                self.assertEqual(sorted(short(r["type"]) for r in by_site if r["method"].endswith(".Keeps.Fill")), ["K01", "K02"], "lines do not split rows of methods")

    def test_the_agent_tells_precompiled_code_too(self):
        counts, _ = self.check(self.recorded("lines-r2r", "--live", program=("--seconds", "4"), env={"DOTNET_TieredCompilation": "0"}), 0.96)
        self.assertGreater(counts["exact"], 0.6 * sum(counts.values()))

    def test_code_that_is_not_optimised_is_exact(self):
        for flavour in ("lines", "lines-net9", "lines-net8"):
            with self.subTest(flavour):
                path = self.recorded(flavour, program=("--seconds", "3"), env=CONFIGURATIONS["tier 0"])
                counts, wrong = self.check(path, 0.96)
                self.assertEqual({what for what, *_ in wrong}, {"A38"}, wrong)
                self.assertNotIn("call", counts)
                self.check_caught(wrong)

    def test_optimised_code(self):
        for name in ("without PGO", "optimised at once"):
            with self.subTest(name):
                _, wrong = self.check(self.recorded("lines", program=("--seconds", "4"), env=CONFIGURATIONS[name]), 0.96)
                self.check_caught(wrong)

    def test_precompiled_code(self):
        counts, _ = self.check(self.recorded("lines-r2r", program=("--seconds", "4"), env={"DOTNET_TieredCompilation": "0"}), 0.96)
        self.assertGreater(counts["exact"], 0.6 * sum(counts.values()))

    @clock
    def test_cpu_time(self):
        known = marks()
        for sampler in ("kernel", "ptrace"):
            with self.subTest(sampler):
                path = self.recorded("lines", "--only", "cpu", "--rate", "250", "--sampler", sampler, program=("--seconds", "4", "--kinds", "burns"))
                rows = {(os.path.basename(r["file"] or ""), r["line"]): r for r in report(path, "--by", "line", "--measure", "cpu")["rows"]}
                for method in ("Steps", "Square"):
                    [(place, _)] = known[method + ".1"].items()
                    whole = sum(r["self_cpu_ns"] for r in rows.values() if r["method"].endswith("." + method))
                    # The rest of the method is a shift, a multiplication and the loop.
                    self.assertGreater(rows[place]["self_cpu_ns"], 0.75 * whole, (method, rows[place]))
                [(place, _)] = known["Calls.1"].items()
                self.assertGreater(rows[place]["total_cpu_ns"], rows[next(iter(known["Square.1"]))]["self_cpu_ns"])

    def test_exceptions(self):
        [(place, _)] = marks()["Told"].items()
        path = self.recorded("lines", "--only", "exceptions", program=("--seconds", "2"))
        row = report(path, "--by", "line", "--measure", "exceptions")["rows"][0]
        self.assertEqual((os.path.basename(row["file"]), row["line"]), place)
        self.assertFalse(row["approximate"])

    def test_rows_count_each_sample_once(self):
        path = self.recorded("lines", program=("--seconds", "2"))
        document = report(path, "--by", "line")
        self.assertEqual(sum(r["self_samples"] for r in document["rows"]), document["totals"]["samples"])
        for row in document["rows"]:
            self.assertEqual(row["line"] is None, row["file"] is None)
            self.assertGreaterEqual(row["total_samples"], row["self_samples"])
        with_leaves = report(path, "--by", "line", "--framework")
        self.assertEqual(sum(r["self_samples"] for r in with_leaves["rows"]), document["totals"]["samples"])
        text = clrscope("report", path, "--by", "line")
        self.assertRegex(text.stdout, r"Sites\.cs:\d+ ")

    def test_a_file_beside_its_figures(self):
        path = self.recorded("lines", program=("--seconds", "2"))
        [(place, _)] = marks()["A01"].items()
        rows = {r["line"]: r for r in report(path, "--source", "Sites.cs")["rows"]}
        self.assertIn("new A01()", rows[place[1]]["text"])
        self.assertGreater(rows[place[1]]["self_bytes"], 0)
        shown = clrscope("report", path, "--source", "lines/Sites.cs")
        self.assert_ok(shown)
        self.assertRegex(shown.stdout, rf"B +\d+\.\d % .* {place[1]} +Sink = new A01\(\);")
        self.assertEqual(clrscope("report", path, "--source", "Nothing.cs").returncode, 3)
        # A text of another version is not shown.
        sources = self.path("sources")
        shutil.copytree(SOURCES, sources)
        self.assertIn(sources, clrscope("report", path, "--source", "Sites.cs", "--source-path", sources).stdout)
        with open(os.path.join(sources, "Sites.cs"), "a", encoding="utf-8") as source:
            source.write("// changed\n")
        other = report(path, "--source", "Sites.cs", "--source-path", sources)
        self.assertEqual(other["source"]["text_from"], os.path.join(SOURCES, "Sites.cs"))

    def test_a_recording_without_lines_knows_where_methods_begin(self):
        path = self.path("plain.clrscope")
        with Workload("--seconds", "60", flavour="lines") as w:
            w.go()
            self.assert_ok(clrscope("record", "-p", w.pid, "-d", "2s", "-o", path))
        document = report(path, "--by", "line")
        # An iterator is made by code of the compiler's, which has no lines.
        own = [r for r in document["rows"] if r["module"] == "lines" and r["self_samples"] > 0 and not r["method"].endswith(".Iterate")]
        self.assertTrue(own)
        for row in own:
            self.assertEqual(os.path.dirname(row["file"]), SOURCES)
            self.assertTrue(row["approximate"], row)
        text = clrscope("report", path, "--by", "line").stdout
        self.assertIn("recorded without --lines", text)
        self.assertIn("≈ Sites.cs:", text)

    def test_lines_come_later_from_a_folder_of_pdbs(self):
        program, symbols = self.path("program"), self.path("symbols")
        shutil.copytree(os.path.join(harness.WORKLOADS, "lines"), program)
        os.mkdir(symbols)
        shutil.move(os.path.join(program, "lines.pdb"), symbols)
        path = self.path("later.clrscope")
        process = subprocess.Popen(["dotnet", os.path.join(program, "lines.dll"), "--seconds", "60"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        try:
            pid = json.loads(process.stdout.readline())["ready"]
            process.stdin.write("go\n")
            process.stdin.flush()
            result = clrscope("record", "-p", pid, "--lines", "-d", "2s", "-o", path)
            self.assert_ok(result)
        finally:
            process.kill()
            process.stdin.close()
            process.wait()
        with_folder = self.classes(path, "--symbols", symbols)[0]
        self.assertGreater(with_folder["exact"], 0.6 * sum(with_folder.values()))

    def page(self, path, *options):
        """What a page's script reads: JSON, and the columns' names."""
        out = self.path("lines.html")
        self.assert_ok(clrscope("convert", path, "-f", "-o", out, *options))
        with open(out, encoding="utf-8") as file:
            packed = re.search(r'octet-stream">([^<]*)<', file.read())[1]
        data = zlib.decompress(base64.b64decode(packed))
        (length,) = struct.unpack_from("<I", data, 8)
        return json.loads(data[12:12 + length])

    def test_a_page_has_lines_and_the_text_that_was_asked_for(self):
        path = self.recorded("lines", program=("--seconds", "2"))
        page = self.page(path)
        self.assertIn("node_line", {c["name"] for c in page["columns"]})
        by_name = {os.path.basename(s["path"]): s for s in page["sources"]}
        self.assertEqual(page["sources"][0], by_name["Sites.cs"], "what allocates most comes first")
        self.assertEqual(by_name["Sites.cs"]["without"], "absent", "nobody named a folder, though the file is there")
        sources = self.path("sources")
        shutil.copytree(SOURCES, sources)
        with open(os.path.join(sources, "Program.cs"), "a", encoding="utf-8") as source:
            source.write("// changed\n")
        by_name = {os.path.basename(s["path"]): s for s in self.page(path, "--source-path", sources)["sources"]}
        self.assertIn("Sink = new A01();", by_name["Sites.cs"]["text"])
        self.assertTrue(by_name["Sites.cs"]["checked"])
        self.assertEqual(by_name["Program.cs"]["without"], "another")
        other = clrscope("convert", path, "-f", "-o", self.path("lines.pb.gz"), "--source-path", sources)
        self.assertEqual(other.returncode, 2)

    def test_exports_have_lines(self):
        path = self.recorded("lines", program=("--seconds", "2"))
        out = self.path("lines.speedscope.json")
        self.assert_ok(clrscope("convert", path, "-o", out))
        with open(out, encoding="utf-8") as file:
            frames = json.load(file)["shared"]["frames"]
        [(place, _)] = marks()["A01"].items()
        self.assertIn(place, {(os.path.basename(f.get("file", "")), f.get("line")) for f in frames})
        profile = self.path("lines.pb.gz")
        self.assert_ok(clrscope("convert", path, "-o", profile))
        go = shutil.which("go")
        if go is None:
            self.skipTest("there is no go")
        top = subprocess.run([go, "tool", "pprof", "-lines", "-top", "-nodecount=200", profile], capture_output=True, text=True, timeout=60)
        self.assertRegex(top.stdout, rf"Sites\.Plain.*Sites\.cs:{place[1]}\b", top.stderr)
