# SPDX-License-Identifier: Apache-2.0
"""Requests in what leaves clrscope: trees, files of other tools, SQL, and what changed per request."""
import json
import os
import sqlite3

from harness import clrscope, report
from request_case import RequestCase, known

ITEMS = "GET /items/{id:int}"


def leaf_bytes(folded, marker):
    """{outermost frame: bytes} of the stacks with a frame that has `marker` in its name."""
    out = {}
    for line in folded.splitlines():
        stack, _, weight = line.rpartition(" ")
        if marker in stack:
            root = stack.split(";")[0]
            out[root] = out.get(root, 0) + int(weight)
    return out


class RequestExports(RequestCase):
    MEASURES = ("--exceptions", "--locks")

    def sql(self, path, query):
        result = clrscope("query", path, query, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["rows"]

    def convert(self, path, ending, *options):
        output = os.path.join(os.path.dirname(path), f"out{ending}")
        result = clrscope("convert", path, "-f", "-o", output, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return output

    def test_requests_in_trees_files_and_tables(self):
        service = self.service("--background", "30000000")
        ledger, path = self.record(service, lambda s: s.drive({"items": 3000, "small": 300, "throws": 20, "lock": 5}, threads=4))
        truth = known(ledger)[ITEMS]
        costs = {row["request"]: row for row in report(path, "--by", "request")["rows"]}

        # The tree of all routes adds up to what each of them cost.
        tree = report(path, "--tree", "--root", "request")
        self.assertEqual(tree["root"], "request")
        roots = {row["method"]: row for row in tree["rows"] if row["depth"] == 0}
        self.assertIn(ITEMS, roots)
        self.assertIn("(no request)", roots)
        self.assertAlmostEqual(roots[ITEMS]["bytes"], costs[ITEMS]["bytes"], delta=1)
        for wrong in (["--bottom-up"], ["--by", "type"], []):
            self.assertEqual(clrscope("report", path, "--root", "request", *wrong).returncode, 2, wrong)

        # What a route's own markers allocate lies below it, and below nothing else.
        with open(self.convert(path, ".folded", "--root", "request"), encoding="utf-8") as f:
            by_root = leaf_bytes(f.read(), "Markers.ItemBefore")
        self.assertEqual(set(by_root), {ITEMS})

        # Files hold one figure for each measure, and of requests none.
        for ending in (".html", ".speedscope.json", ".pb.gz"):
            for options in ([], ["--root", "request"], ["--request", "^GET /items"], ["--slower-than", "p50"]):
                self.assertGreater(os.path.getsize(self.convert(path, ending, *options)), 100, (ending, options))
        with open(self.convert(path, ".speedscope.json"), encoding="utf-8") as f:
            names = [profile["name"] for profile in json.load(f)["profiles"]]
        self.assertTrue(any(name.startswith("exceptions") for name in names), names)
        self.assertFalse(any(name.startswith("requests") for name in names), names)
        refused = clrscope("convert", path, "-f", "-o", self.path("x.html"), "--measure", "requests")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--by request", refused.stderr)

        # SQL has the same figures.
        rows = self.sql(path, f"select count, bytes from request_costs where request = '{ITEMS}'")
        self.assertEqual(rows[0]["count"], truth["count"])
        self.assertAlmostEqual(rows[0]["bytes"], costs[ITEMS]["bytes"], delta=1)
        rows = self.sql(path, f"select sum(bytes) as bytes from samples where request = '{ITEMS}'")
        self.assertAlmostEqual(rows[0]["bytes"], costs[ITEMS]["bytes"], delta=1)
        slowest = report(path, "--slowest", "1")["rows"][0]["duration_ns"]
        self.assertEqual(self.sql(path, "select max(duration_ns) as longest from requests")[0]["longest"], slowest)
        with sqlite3.connect(self.convert(path, ".sqlite")) as db:
            thrown = db.execute("select sum(count) from exceptions where request = 'GET /throws/{n:int}'").fetchone()[0]
        db.close()
        self.assertEqual(thrown, costs["GET /throws/{n:int}"]["exceptions"])

    def test_what_changed_per_request(self):
        first, second = self.path("first.clrscope"), self.path("second.clrscope")
        service = self.service()
        ledgers = []
        for path, mix in ((first, {"items": 2000, "small": 100, "delay": 10}), (second, {"items": 4000, "small": 100, "run": 10})):
            ledger, recorded = self.record(service, lambda s, mix=mix: s.drive(mix, threads=4))
            os.rename(recorded, path)
            ledgers.append(known(ledger))
        result = clrscope("diff", first, second, "--per", "request", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        diff = json.loads(result.stdout)
        self.assertEqual((diff["per"], diff["by"]), ("request", "request"))
        rows = {row["request"]: row for row in diff["rows"]}
        items = rows[ITEMS]
        self.assertEqual([items["requests_before"], items["requests_after"]], [side[ITEMS]["count"] for side in ledgers])
        self.assertLess(items["before_low"], items["before"])
        self.assertGreater(items["difference_high"], items["difference_low"])
        self.assertEqual(items["errors_after"], 0)
        self.assertGreater(items["p95_ns_after"], 0)
        gone, new = rows["GET /delay/{ms:int}"], rows["GET /run"]
        self.assertEqual((gone["requests_after"], gone["after"], gone["difference"]), (0, None, None))
        self.assertEqual((new["requests_before"], new["before"]), (0, None))
        text = clrscope("diff", first, second, "--per", "request")
        self.assertEqual(text.returncode, 0, text.stderr)
        for part in ("per request", "p95", ITEMS, "gone", "new"):
            self.assertIn(part, text.stdout)
        self.assertEqual(clrscope("diff", first, second, "--per", "request", "--by", "type").returncode, 2)
