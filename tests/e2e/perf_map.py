# SPDX-License-Identifier: Apache-2.0
"""The runtime's own map of its code (DOTNET_PerfMapEnabled), and how the names of a recording's addresses compare with it."""
import bisect
import collections
import dataclasses
import glob
import json
import os
import re
import threading
import time

from harness import clrscope

# The map is read as it is written; a line is at most so much older than it was seen.
LOOK_S, NEAR_S = 0.05, 0.3


@dataclasses.dataclass(frozen=True)
class Entry:
    seen_s: float  # since the epoch
    start: int
    end: int
    name: str
    stub: bool


def plain(name):
    """Owner, method and parameters in one way of writing, of the map's and of clrscope's raw names."""
    name = re.sub(r"\[(PreJIT|ReadyToRun|MinOptJitted|Optimized|QuickJitted\w*|Instrumented\w*|OptimizedTier1\w*|PreStub|Unknown\w*)\]$", "", name)
    head, _, parameters = name.partition("(")
    head = head.rpartition("] ")[2] if "::" in head else head  # its result and module
    head = head.replace("::", ".")
    parameters = re.sub(r"\[[A-Za-z][\w.\-]*\](?=[A-Za-z])", "", parameters)
    parameters = re.sub(r"\bclass System\.(String|Object)\b", lambda match: match[1].lower(), parameters)
    parameters = re.sub(r"\buint(8|16|32|64)\b", r"unsigned int\1", parameters).replace("valuetype ", "value class ")
    parameters = re.sub(r"\bchar\b", "wchar", parameters).replace("native uint", "unsigned int").replace("native int", "int")
    parameters = re.sub(r"[\w.`]+/", "", parameters)  # who a nested type belongs to
    # Types of dynamic methods have no names there.
    return head, "" if head.startswith("dynamicClass.") else parameters.rstrip(")")


class PerfMap:
    """What `environment()` has the programs of a folder write, read as it comes."""

    def __init__(self, folder):
        self.folder = folder
        self.entries = collections.defaultdict(list)  # by pid, in the order in which they were written
        self.files = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def environment(self):
        return {"DOTNET_PerfMapEnabled": "3", "DOTNET_PerfMapJitDumpPath": self.folder}

    def follow(self):
        while not self.over.wait(LOOK_S):
            self.look()

    def look(self):
        for path in glob.glob(os.path.join(self.folder, "perf-*.map")):
            if path not in self.files:
                self.files[path] = [open(path, encoding="utf-8"), ""]
            file, rest = self.files[path]
            *lines, self.files[path][1] = (rest + file.read()).split("\n")
            for line in lines:
                start, size, name = line.split(" ", 2)
                start = int(start, 16)
                self.entries[int(path.rpartition("-")[2].partition(".")[0])].append(
                    Entry(time.time(), start, start + int(size, 16), name, re.match(r"stub(<\d+>)? ", name) is not None))

    def end(self):
        if not self.over.is_set():
            self.over.set()
            self.thread.join()
            self.look()
            for file, _ in self.files.values():
                file.close()
        return self


class Places:
    """Entries by address."""

    def __init__(self, entries):
        self.edges = sorted({edge for entry in entries for edge in (entry.start, entry.end)})
        self.at = [[] for _ in self.edges]
        for entry in entries:
            for i in range(bisect.bisect_left(self.edges, entry.start), bisect.bisect_left(self.edges, entry.end)):
                self.at[i].append(entry)

    def of(self, address):
        """Those that have ever been there, in the order in which they came."""
        i = bisect.bisect_right(self.edges, address) - 1
        return self.at[i] if i >= 0 else []


@dataclasses.dataclass
class Comparison:
    """Addresses and, for each, the CPU samples that have it on their stack."""
    equal: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    other: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    stubs: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # by what clrscope calls them
    methods_at_stubs: list = dataclasses.field(default_factory=list)  # samples, address, clrscope's name, the map's
    differ: list = dataclasses.field(default_factory=list)  # samples, address, clrscope's name, the map's, what is known of it

    def share(self, what):
        return self.equal[what] / max(1, self.equal[what] + self.other[what])


def query(path, sql):
    result = clrscope("query", path, "--json", sql)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)["rows"]


def compare(path, perf_map):
    """Names of a recording's addresses in compiled code with those of the map, at the time at which each was seen first."""
    result = Comparison()
    (recording,) = query(path, "select start_unix_ns, 0 from recording")
    start_s = recording["start_unix_ns"] / 1e9
    places = {pid: Places(entries) for pid, entries in perf_map.entries.items()}
    for row in query(path, "select pid, address, first_s, method, raw, kind, samples from addresses where samples > 0"):
        ever = places[row["pid"]].of(row["address"]) if row["pid"] in places else []
        if not ever:
            continue
        seen_s = start_s + row["first_s"]
        # The last one of before, and whoever came about then.
        before = [entry for entry in ever if entry.seen_s <= seen_s - NEAR_S]
        then = before[-1:] + [entry for entry in ever if abs(entry.seen_s - seen_s) < NEAR_S] or ever[:1]
        if all(entry.stub for entry in then):
            if row["kind"] == "managed":
                result.methods_at_stubs.append((row["samples"], row["address"], row["raw"], then[-1].name))
            else:
                result.stubs[row["method"]] += row["samples"]
            continue
        if any(plain(entry.name) == plain(row["raw"]) for entry in then):
            result.equal["addresses"] += 1
            result.equal["samples"] += row["samples"]
            continue
        result.other["addresses"] += 1
        result.other["samples"] += row["samples"]
        known = "another time's" if any(plain(entry.name) == plain(row["raw"]) for entry in ever) else ""
        if not known and any(plain(entry.name)[0] == plain(row["raw"])[0] for entry in then):
            known = "another overload, or another way of writing"
        result.differ.append((row["samples"], row["address"], row["raw"], then[-1].name, known))
    result.differ.sort(reverse=True)
    result.methods_at_stubs.sort(reverse=True)
    return result
