# SPDX-License-Identifier: Apache-2.0
"""The source line of each sampled allocation, by clrscope and by TraceEvent's SymbolReader, of a program whose comments tell the truth."""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import lines  # noqa: E402


def of_mark(name):
    """Types that the comments name: A01, A33[]."""
    found = re.search(r"\b(A\d\d(\[\])?)$", name)
    return found.group(1) if found else None


class LinesComparison:
    def __init__(self, clrscope, oracle, trace, folder):
        command = [clrscope, "report", trace, "--json", "--by", "stack", "--symbols", folder, "-n", "1000000"]
        self.ours, self.marked = collections.Counter(), collections.Counter()
        for row in json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["rows"]:
            site = lines.site_of(row["frames"])
            for part in row["types"]:
                what = of_mark(part["type"])
                if what is None or site is None:
                    continue
                key = (what, os.path.basename(site["file"] or ""), site["line"] or 0)
                self.ours[key] += part["samples"]
                self.marked[key] += part["samples"] if site["approximate"] else 0
        answer = subprocess.run(["dotnet", oracle, trace, "--lines", "lines", folder], capture_output=True, text=True, check=True).stdout
        self.theirs = collections.Counter()
        for row in json.loads(answer):
            if of_mark(row["type"]):
                self.theirs[(of_mark(row["type"]), row["file"] or "", row["line"])] += row["count"]

    def run(self):
        """What we tell otherwise than TraceEvent must be right, or marked."""
        known, differences = lines.marks(), []
        for what in sorted({key[0] for key in (*self.ours, *self.theirs)}):
            ours, theirs = (sum(n for key, n in table.items() if key[0] == what) for table in (self.ours, self.theirs))
            if ours != theirs:
                differences.append(f"samples of {what}: clrscope {ours}, TraceEvent {theirs}")
        for key, samples in self.ours.items():
            right = known.get(key[0], {}).get(key[1:]) in ("exact", "statement", "call")
            if samples > self.theirs[key] and not right and samples - self.theirs[key] > self.marked[key]:
                differences.append(f"{key}: clrscope {samples}, TraceEvent {self.theirs[key]}, and it is not right")
        total = sum(self.ours.values())
        if total < 1000:
            differences.append(f"only {total} samples")

        def right_of(table):
            return sum(n for key, n in table.items() if known.get(key[0], {}).get(key[1:]) in ("exact", "statement", "call"))
        self.notes = [f"{sum((self.ours & self.theirs).values())} of {total} lines are the same, {right_of(self.ours)} of clrscope's are right "
                      f"and {sum(self.marked.values())} are marked, {right_of(self.theirs)} of TraceEvent's are right"]
        return differences
