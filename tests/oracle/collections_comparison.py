# SPDX-License-Identifier: Apache-2.0
"""Collections as clrscope tells them beside TraceEvent's TraceGC: equal, or a known fault of TraceEvent's with both figures."""
import itertools

GENERATIONS = ("gen0", "gen1", "gen2", "loh", "poh")
TYPES = {"NonConcurrentGC": "blocking", "BackgroundGC": "background", "ForegroundGC": "foreground"}
# Those that TraceEvent has no name for come as numbers.
NUMBERED = {"14": "BgcTuningSOH", "15": "BgcTuningLOH", "16": "BgcStepping", "17": "InducedAggressive"}
MICROSECOND = 0.001 + 1e-6  # in ms; the oracle rounds to a nanosecond
BYTE = 0.9e-6               # in MB


class CollectionsComparison:
    """`differences`: what is neither equal nor explained. `explained`: counts by the reason why TraceEvent is wrong."""

    def __init__(self, ours, oracle):
        self.differences = []
        self.explained = {}
        theirs = [gc for p in oracle["processes"] for gc in p.get("gcs", [])]
        self.gcs = len(ours["gcs"])
        if self.gcs != len(theirs):
            self.differences.append(f"collections: clrscope {self.gcs}, TraceEvent {len(theirs)}")
            return
        for i, (a, b) in enumerate(zip(ours["gcs"], theirs)):
            self.at = f"GC {a['number']}"
            self.later = list(zip(ours["gcs"][i + 1:], theirs[i + 1:]))
            self.following = self.later[0][0] if self.later else None
            # The background GC that this one may have run inside of.
            self.around = next((g for g in reversed(ours["gcs"][:i]) if g["type"] == "background" and (g["end_ms"] or 0) > a["start_ms"]), None)
            self.identity(a, b)
            self.times(a, b)
            self.sizes(a, b)
            self.histories(a, b)

    def differ(self, what, a, b):
        self.differences.append(f"{self.at} {what}: clrscope {a}, TraceEvent {b}")

    def equal(self, what, a, b):
        if a != b:
            self.differ(what, a, b)

    def near(self, what, a, b, by):
        if a is None or abs(a - b) > by:
            self.differ(what, a, b)

    def explain(self, why):
        self.explained[why] = self.explained.get(why, 0) + 1

    def identity(self, a, b):
        self.equal("number", a["number"], b["n"])
        self.equal("generation", a["generation"], b["gen"])
        self.equal("type", a["type"], TYPES[b["type"]])
        self.equal("reason", a["reason"], NUMBERED.get(b["reason"], b["reason"]))
        if a["complete"] != b["complete"]:
            # The program ended while it ran, or what follows it was not written: TraceEvent asks for less.
            if self.following is None and not a["complete"]:
                self.explain("the last one lacks its restart")
            else:
                self.differ("complete", a["complete"], b["complete"])

    def times(self, a, b):
        if not a["complete"]:
            return
        self.near("start", a["start_ms"], b["startMs"], MICROSECOND)
        self.near("duration", a["duration_ms"], b["durMs"], MICROSECOND)
        self.near("pause start", a["pause_start_ms"], b["pauseStartMs"], MICROSECOND)
        self.near("suspend", a["suspend_ms"], b["suspendMs"], MICROSECOND)
        following = self.following
        if abs(a["pause_ms"] - b["pauseMs"]) <= MICROSECOND:
            return
        if a["fell_back_to_blocking"]:
            # It is taken off at GCHeapStats, with the time to suspend for its pause.
            self.explain("pause of a background GC that ran as a blocking one")
            self.near("pause as TraceEvent has it", a["suspend_ms"], b["pauseMs"], MICROSECOND)
        elif following and following["inside_pause_of_previous"] and a["type"] == "background":
            # The time from the end of suspending to the young GC's start is given to neither of them.
            self.explain("pause of a background GC in which a young one ran first")
            left_out = following["start_ms"] - a["start_ms"]
            if not (a["pause_ms"] - b["pauseMs"] > left_out - MICROSECOND):
                self.differ("pause", a["pause_ms"], b["pauseMs"])
        elif following and following["inside_pause_of_previous"] and following["reason"] == "PMFullGC":
            self.explain("pause of the GC before a provisional full one")
            self.near("pause as TraceEvent has it", 0, b["pauseMs"], MICROSECOND)
        else:
            self.differ("pause", a["pause_ms"], b["pauseMs"])

    def sizes(self, a, b):
        for g in GENERATIONS:
            if a["size_after_bytes"][g] is None and not a["complete"]:
                continue
            self.near(f"{g} after", a["size_after_bytes"][g] / 1e6, b[g]["afterMB"], BYTE)
            self.near(f"{g} promoted", a["promoted_bytes"][g] / 1e6, b[g]["promotedMB"], BYTE)

    def peak(self, a, b):
        if a["type"] != "background":
            self.near("peak", a["peak_bytes"] / 1e6, b["peakMB"], BYTE)
            return
        # TraceEvent takes its pause's start and its duration for its end, and leaves out the time to suspend between them. So
        # it leaves out the young GCs that begin within that time before the end.
        their_end = b["pauseStartMs"] + b["durMs"]
        seen = itertools.takewhile(lambda gcs: gcs[1]["pauseStartMs"] <= their_end, self.later)
        inside = itertools.takewhile(lambda gcs: a["end_ms"] is not None and gcs[0]["start_ms"] < a["end_ms"], self.later)
        as_theirs, own = (max([a["before_bytes"]] + [gc["before_bytes"] or 0 for gc, _ in gcs]) for gcs in (seen, inside))
        self.near("peak as TraceEvent has it", as_theirs / 1e6, b["peakMB"], BYTE)
        self.equal("peak of it and of those inside of it", a["peak_bytes"], own)
        if as_theirs != a["peak_bytes"]:
            self.explain("peak of a background GC, in the last of the young GCs inside of it")

    def histories(self, a, b):
        if not a["heaps"]:
            self.equal("histories", 0, b["perHeapHistories"])
            return
        if a["type"] == "background" and b["perHeapHistories"] == 0:
            # Those of a server background GC follow GCHeapStats, and go to no collection.
            self.explain("histories of a server background GC")
            for g in GENERATIONS:
                self.equal(f"{g} survival as TraceEvent has it", -1, b[g]["survPct"])
            return
        if a["type"] == "foreground" and self.around and b["perHeapHistories"] == len(a["heaps"]) + len(self.around["heaps"]):
            # The background GC around it ended its marking meanwhile: TraceEvent adds its histories to the GC that started last.
            self.explain("histories of a background GC, added to the foreground one inside of it")
            self.near("before as TraceEvent has it", (a["before_bytes"] + self.around["before_bytes"]) / 1e6, b["beforeMB"], 10 * BYTE)
            return
        self.equal("heaps", len(a["heaps"]), b["perHeapHistories"])
        self.near("before", a["before_bytes"] / 1e6, b["beforeMB"], BYTE)
        self.peak(a, b)
        for g in GENERATIONS:
            self.near(f"{g} before", a["size_before_bytes"][g] / 1e6, b[g]["beforeMB"], BYTE)
            self.near(f"{g} free", a["fragmentation_bytes"][g] / 1e6, b[g]["fragMB"], BYTE)
            self.near(f"{g} budget", a["budget_bytes"][g] / 1e6, b[g]["budgetMB"], BYTE)
            # TraceEvent's is a mean of whole numbers over the heaps, whatever they hold.
            each = [h["survival_percent"][g] for h in a["heaps"]]
            mean = -1 if each[0] is None else int(sum(each) / len(each))
            self.equal(f"{g} survival", mean, b[g]["survPct"])
