# SPDX-License-Identifier: Apache-2.0
"""clrscope beside TraceEvent on traces that are recorded now: every count, byte and frame name equal."""
import collections
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

from collections_comparison import CollectionsComparison
from lines_comparison import LinesComparison

CLRSCOPE, ORACLE, WORKLOADS, FOLDER = [os.path.abspath(p) for p in sys.argv[1:5]]
RUNTIME = "Microsoft-Windows-DotNETRuntime"
CODE = 0x38  # Loader, Jit, NGen
COLLECTIONS = f"{RUNTIME}:1:4"
TICKS = f"{RUNTIME}:{1 | CODE:x}:5"
SAMPLES = f"{RUNTIME}:{0x80000000000 | 1 | CODE:x}:4"
EVERY_OBJECT = f"{RUNTIME}:{0x2200000 | 1 | CODE:x}:4"
THREADS = f"{RUNTIME}:{1 | CODE:x}:4,Microsoft-DotNETCore-SampleProfiler:0:5"
LINES = f"{RUNTIME}:{0x80000000000 | 0x20000 | CODE:x}:5"  # JittedMethodILToNativeMap
OBJECTS = f"{RUNTIME}:{0x80000000000 | 0x2000000 | 0x1000000 | 0x80000 | 1 | CODE:x}:4"


def dotnet_root():
    return os.path.dirname(os.path.realpath(subprocess.run(["which", "dotnet"], capture_output=True, text=True).stdout.strip()))


def record(name, config, command, buffer_mb=256, seconds=60, settings=None):
    """Runs `command` under the runtime's own trace writer; returns the path of its trace. There is none where a signal ended it."""
    path = os.path.join(FOLDER, name + ".nettrace")
    env = {**os.environ, **(settings or {}), "DOTNET_EnableEventPipe": "1", "DOTNET_EventPipeOutputPath": path,
           "DOTNET_EventPipeConfig": config, "DOTNET_EventPipeCircularMB": f"{buffer_mb:x}", "DOTNET_EventPipeOutputStreaming": "1"}
    with open(os.path.join(FOLDER, name + ".log"), "w") as log:
        ended = subprocess.run(command, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, timeout=seconds).returncode
    # TraceEvent leaves out the last round of a trace that was cut; clrscope does not.
    if ended < 0 or ended > 128:  # by a signal; a formatter that found something says so with 1
        pathlib.Path(path).unlink(missing_ok=True)
        with open(log.name, errors="replace") as printed:
            print(f"{name}: {command[0]} ended with {ended}, its trace was cut and is removed; it printed:\n{printed.read()[-2000:]}")
    return path


def record_web(name, config):
    """The ASP.NET Core workload under load for three seconds."""
    path = os.path.join(FOLDER, name + ".nettrace")
    env = {**os.environ, "DOTNET_EnableEventPipe": "1", "DOTNET_EventPipeOutputPath": path, "DOTNET_EventPipeConfig": config}
    with open(os.path.join(FOLDER, name + ".log"), "w") as log:
        server = subprocess.Popen(["dotnet", os.path.join(WORKLOADS, "web/web.dll"), "--urls", "http://127.0.0.1:0"], env=env,
                                  stdout=subprocess.PIPE, stderr=log, text=True)
        url = json.loads(server.stdout.readline())["url"]
        end, latest = None, time.monotonic() + 60  # three seconds after the first answer
        while time.monotonic() < (end or latest) and server.poll() is None:
            try:
                urllib.request.urlopen(url + "/orders/20", timeout=1).read()
                urllib.request.urlopen(url + "/text/2000", timeout=1).read()
                end = end or time.monotonic() + 3
            except OSError:
                time.sleep(0.05)
        server.terminate()
        server.wait(timeout=60)
    return path


def run_json(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if not result.stdout:
        raise RuntimeError(f"{' '.join(command)}: {result.stderr}")
    return json.loads(result.stdout)


class Comparison:
    def __init__(self, trace):
        self.trace = trace
        self.differences = []
        self.notes = []
        answer = trace + ".json"
        subprocess.run(["dotnet", ORACLE, trace, "--json", "--top", "100000", "--out", answer], capture_output=True)
        with open(answer) as f:
            self.oracle = json.load(f)

    def equal(self, what, ours, theirs):
        if ours != theirs:
            self.differences.append(f"{what}: clrscope {ours!r:.300}, TraceEvent {theirs!r:.300}")

    def equal_tables(self, what, ours, theirs):
        for key in sorted(set(ours) | set(theirs), key=str):
            if ours.get(key) != theirs.get(key):
                self.differences.append(f"{what} of {key}: clrscope {ours.get(key)}, TraceEvent {theirs.get(key)}")

    def events(self):
        ours = run_json(CLRSCOPE, "inspect", self.trace, "--json")
        table = collections.Counter()
        for e in ours["events"]:
            if e["count"]:
                table[(e["provider"], e["id"], e["version"])] += e["count"]
        theirs = collections.Counter()
        for e in self.oracle["events"]:
            # TraceEvent renumbers GC/DynamicTraceEvent by its payload's name.
            number = 39 if e["provider"] == RUNTIME and e["id"] >= 65000 else e["id"]
            theirs[(e["provider"], number, e["ver"])] += e["count"]
        self.equal_tables("events", table, theirs)
        self.equal("dropped", ours["dropped"], self.oracle["format"]["eventsLost"])
        self.equal("pid", ours["format"]["pid"], self.oracle["format"]["pid"])

    def report(self, event, by, *more):
        command = [CLRSCOPE, "report", self.trace, "--json", "--by", by, "-n", "1000000", "--event", event, "--framework", *more]
        result = subprocess.run(command, capture_output=True, text=True)
        return json.loads(result.stdout) if result.stdout else {"rows": [], "totals": {"samples": 0}}

    def ticks(self):
        theirs = self.oracle["allocationTick"]
        if theirs["count"] == 0:
            return
        rows = self.report("tick", "type")["rows"]
        types = collections.defaultdict(lambda: [0, 0])
        kinds = collections.defaultdict(lambda: [0, 0])
        names = {"soh": "Small", "loh": "Large", "poh": "Pinned"}
        for r in rows:
            for table, key in ((types, r["raw"]), (kinds, names[r["kind"].lower()])):
                table[key][0] += r["samples"]
                table[key][1] += r["bytes"]
        self.equal_tables("ticks by type", dict(types), {t["key"]: [t["count"], t["bytes"]] for t in theirs["byType"]})
        self.equal_tables("ticks by kind", dict(kinds), {t["key"]: [t["count"], t["bytes"]] for t in theirs["byKind"]})
        self.threads("tick", self.oracle["byThread"]["ticks"], weighted=True)
        self.stacks("tick", self.oracle["traceLog"]["tickStacks"], weighted=True)

    def samples(self):
        theirs = self.oracle["allocationSampled"]
        if theirs["count"] == 0:
            return
        types = collections.Counter()
        for r in self.report("sampled", "type")["rows"]:
            types[r["raw"]] += r["samples"]
        self.equal_tables("samples by type", types, {t["key"]: t["count"] for t in theirs["byType"]})
        self.threads("sampled", self.oracle["byThread"]["samples"], weighted=False)
        self.stacks("sampled", self.oracle["traceLog"]["sampledStacks"], weighted=False)

    def threads(self, event, theirs, weighted):
        """Each type of each thread, narrowed by the thread; and each thread of the busiest types, narrowed by the type."""
        wanted = collections.defaultdict(dict)
        for t in theirs:
            wanted[t["thread"]][t["type"]] = [t["count"], t["bytes"] if weighted else 0]
        for thread, types in wanted.items():
            ours = collections.defaultdict(lambda: [0, 0])
            for r in self.report(event, "type", "--thread", f"^{thread}$")["rows"]:
                ours[r["raw"]][0] += r["samples"]
                ours[r["raw"]][1] += r["bytes"] if weighted else 0
            self.equal_tables(f"{event} of thread {thread}", dict(ours), types)
        busiest = collections.Counter()
        for types in wanted.values():
            for name, (count, _) in types.items():
                busiest[name] += count
        for name, _ in busiest.most_common(5):
            ours = {str(r["thread"]): r["samples"] for r in self.report(event, "thread", "--type", f"^{re.escape(name)}$")["rows"]}
            self.equal_tables(f"{event} of {name} by thread", ours, {t: types[name][0] for t, types in wanted.items() if name in types})
        self.notes.append(f"{len(wanted)} threads")

    def thread_samples(self):
        """Samples of the runtime's sample profiler, by thread and mode, and by stack."""
        theirs = self.oracle.get("threadSamples", [])
        if not theirs:
            return
        def rows(measure, by):
            return run_json(CLRSCOPE, "report", self.trace, "--json", "--measure", measure, "--by", by, "--framework",
                            *(["--all-states"] if measure == "wall" else []))["rows"]
        managed = {r["thread"]: r["samples"] for r in rows("cpu", "thread")}
        everything = {r["thread"]: r["samples"] for r in rows("wall", "thread")}
        self.equal_tables("managed samples of thread", managed, {t["thread"]: t["managed"] for t in theirs if t["managed"]})
        self.equal_tables("samples of thread", everything, {t["thread"]: t["managed"] + t["external"] for t in theirs})
        running = sum(r["samples"] for r in rows("wall", "state") if r["state"] == "running")
        self.equal("running", running, sum(t["managed"] for t in theirs))
        self.compare_stacks(rows("cpu", "stack"), self.oracle["traceLog"]["managedStacks"], weighted=False)
        stacks = collections.Counter()
        for s in self.oracle["traceLog"]["managedStacks"] + self.oracle["traceLog"]["externalStacks"]:
            stacks[tuple(s["frames"])] += s["count"]
        self.compare_stacks(rows("wall", "stack"), [{"frames": f, "count": n} for f, n in stacks.items()], weighted=False)
        self.notes.append(f"{sum(everything.values())} samples of {len(everything)} threads")

    def stacks(self, event, theirs, weighted):
        self.compare_stacks(self.report(event, "stack")["rows"], theirs, weighted)

    def compare_stacks(self, rows, theirs, weighted):
        """Each frame's raw name, each stack's count (and bytes)."""
        ours = collections.defaultdict(lambda: [0, 0])
        for r in rows:
            frames = tuple(f"{f['module']}!{f['raw']}" if not f["raw"].startswith("0x") and "+0x" not in f["raw"] else "?!?"
                           for f in r["frames"] if f["raw"] != "[truncated]")
            ours[frames][0] += r["samples"]
            ours[frames][1] += r.get("bytes", 0)
        for s in theirs:
            frames = tuple(s["frames"])
            mine = ours.get(frames)
            wanted = [s["count"], s["bytes"]] if weighted else s["count"]
            got = None if mine is None else (mine if weighted else mine[0])
            if got != wanted:
                self.differences.append(f"a stack of {len(frames)} frames: clrscope {got}, TraceEvent {wanted}: {' < '.join(frames[:3])}")

    def collections(self):
        if not any(p.get("gcs") for p in self.oracle["processes"]):
            return
        # Where events were dropped each tool guesses in its own way; whole traces tell.
        if self.oracle["format"]["eventsLost"]:
            return
        compared = CollectionsComparison(run_json(CLRSCOPE, "gcstats", self.trace, "--json"), self.oracle)
        self.differences += compared.differences
        self.notes.append(f"{compared.gcs} collections" + "".join(f", {n} × {why}" for why, n in compared.explained.items()))

    def run(self):
        self.events()
        self.ticks()
        self.samples()
        self.thread_samples()
        self.collections()
        return self.differences


def traces():
    os.makedirs(FOLDER, exist_ok=True)
    for old in glob.glob(os.path.join(FOLDER, "*")):
        os.remove(old)
    here = os.path.dirname(os.path.abspath(__file__))
    corpus = subprocess.run([sys.executable, os.path.join(here, "../../bench/corpus.py"), os.path.join(FOLDER + "-corpus"), "1"],
                            capture_output=True, text=True).stdout.strip()
    csc = sorted(glob.glob(os.path.join(dotnet_root(), "sdk/*/Roslyn/bincore/csc.dll")))[-1]
    alloc = os.path.join(WORKLOADS, "alloc/alloc.dll")
    yield record("csc-sampled", SAMPLES, ["dotnet", csc, f"@{corpus}"])
    yield record("csc-ticks", TICKS, ["dotnet", csc, f"@{corpus}"])
    yield record("alloc-objects", OBJECTS, ["dotnet", alloc, "--bytes", "30000000", "--mode", "dynamic"])
    yield record("alloc-async", SAMPLES, ["dotnet", alloc, "--bytes", "60000000", "--mode", "async", "--threads", "4"])
    yield record("alloc-lean", SAMPLES, ["dotnet", alloc, "--bytes", "200000000", "--rate", "max", "--threads", "4", "--lean"])
    yield record("alloc-lean-ticks", TICKS, ["dotnet", alloc, "--bytes", "200000000", "--rate", "max", "--threads", "4", "--lean"])
    yield record("alloc-dropped", EVERY_OBJECT, ["dotnet", alloc, "--bytes", "600000000", "--mode", "periodic", "--threads", "4"], buffer_mb=1)
    burns = os.path.join(WORKLOADS, "burns/burns.dll")
    yield record("burns-threads", THREADS, ["dotnet", burns, "--kinds", "loops,recursion,generics,threads", "--seconds", "1"])
    yield record("alloc-threads", THREADS, ["dotnet", alloc, "--bytes", "60000000", "--mode", "async", "--threads", "4"])
    csharpier = os.path.join(os.path.dirname(ORACLE), "../tools/csharpier")
    if os.path.exists(csharpier):
        yield record("csharpier", TICKS, [csharpier, "check", "--no-cache", "--no-msbuild-check", os.path.dirname(corpus)])
    yield record_web("aspnetcore", SAMPLES)
    for flavour in ("alloc-net8", "alloc-net9"):
        native = os.path.join(WORKLOADS, flavour, "alloc")
        if os.path.exists(native):
            yield record(flavour, TICKS, [native, "--bytes", "100000000", "--mode", "generic"])


SERVER = {"DOTNET_gcServer": "1", "DOTNET_GCDynamicAdaptationMode": "0"}
# Every kind of GC that the runtime has, and programs that make them work. Numbers are hexadecimal.
GC_KINDS = {
    "soh-workstation": ("soh", {}),
    "soh-not-concurrent": ("soh", {"DOTNET_gcConcurrent": "0"}),
    "loh-workstation": ("loh", {}),
    "poh-workstation": ("poh", {}),
    "pinned-workstation": ("pinned", {}),
    "induced-workstation": ("induced", {}),
    "soh-server-1": ("soh", {**SERVER, "DOTNET_GCHeapCount": "1"}),
    "loh-server-2": ("loh", {**SERVER, "DOTNET_GCHeapCount": "2"}),
    "poh-server-2": ("poh", {**SERVER, "DOTNET_GCHeapCount": "2", "DOTNET_gcConcurrent": "0"}),
    "induced-server-2": ("induced", {**SERVER, "DOTNET_GCHeapCount": "2"}),
    "soh-datas": ("soh", {"DOTNET_gcServer": "1", "DOTNET_GCDynamicAdaptationMode": "1"}),
    "soh-hard-limit": ("soh", {"DOTNET_GCHeapHardLimit": "4000000"}),
    # Room enough for what is allocated while a background GC runs on a busy machine.
    "loh-hard-limit": ("loh", {"DOTNET_GCHeapHardLimit": "14000000"}),
}
# .NET 8 and 9: those that differ between runtimes.
OLDER = ("soh-workstation", "loh-workstation", "poh-workstation", "induced-workstation", "loh-server-2", "soh-datas", "soh-hard-limit")


def gc_traces():
    for version in (10, 9, 8):
        native = os.path.join(WORKLOADS, f"gc-net{version}", "gc")
        command = ["dotnet", os.path.join(WORKLOADS, "gc/gc.dll")] if version == 10 else [native]
        if version != 10 and not os.path.exists(native):
            continue
        for kind, (mode, settings) in GC_KINDS.items():
            if version != 10 and kind not in OLDER:
                continue
            yield record(f"gc-net{version}-{kind}", COLLECTIONS, command + ["--mode", mode, "--seconds", "1.5", "--threads", "2"],
                         settings=settings)


def all_traces():
    yield from traces()
    yield from gc_traces()


def main():
    passed = failed = 0

    def judge(trace, differences, notes):
        nonlocal passed, failed
        name = os.path.basename(trace)
        if differences:
            failed += 1
            print(f"FAIL {name}: {len(differences)} difference(s)")
            for d in differences[:20]:
                print("    " + d)
        else:
            passed += 1
            print(f"ok   {name} ({os.path.getsize(trace) / 1e6:.1f} MB)" + "".join(f"; {note}" for note in notes))

    def compare(trace, comparison):
        if os.path.exists(trace):
            compared = comparison(trace)
            judge(trace, compared.run(), compared.notes)
        else:
            judge(trace, ["no trace was recorded"], [])

    for trace in all_traces():
        compare(trace, Comparison)
    lines = record("lines", LINES, ["dotnet", os.path.join(WORKLOADS, "lines/lines.dll"), "--seconds", "4"])
    compare(lines, lambda trace: LinesComparison(CLRSCOPE, ORACLE, trace, os.path.join(WORKLOADS, "lines")))
    print(f"passed={passed} failed={failed}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
