// SPDX-License-Identifier: Apache-2.0
// Additive estimates and their 95 % intervals: a port of src/profile/estimate/estimate.cc, so that a sum
// over whatever is on screen (a type, a subtree, a process) has an interval of its own.
import type { Estimates, Interval } from "../base/estimates.ts";
import type { ViewMeta } from "../data/profile.ts";
import { gammaQuantile, normalTail } from "./gamma.ts";

export type Metric = "bytes" | "objects" | "samples";
export const kMetrics: readonly Metric[] = ["bytes", "objects", "samples"];

// What a view can be looked at by; the first is the default.
export function metricsOf(meta: Pick<ViewMeta, "shows" | "events" | "amountFirst" | "objectsKnown">): readonly Metric[] {
  if (meta.events) return meta.amountFirst ? ["bytes", "objects"] : ["objects", "bytes"];
  if (meta.shows === "gc-cpu") return ["bytes"];
  return kMetrics.filter((m) => m !== "objects" || meta.objectsKnown);
}
// Rows on fewer samples than this are shown as uncertain.
export const kFewSamples = 5;

const kSamplingMean = 102_400;
const kSmallestObject = 24;
const kLoh = 1;
const kLohThreshold = 85_000;

export function makeEstimates(n: number): Estimates {
  const column = () => new Float64Array(n);
  return {
    samples: column(),
    bytes: column(),
    objects: column(),
    seenBytes: column(),
    seenObjects: column(),
    varBytes: column(),
    varObjects: column(),
    maxBytes: column(),
    maxObjects: column(),
    manySizes: new Uint8Array(n),
  };
}

// to[i] += from[j]
export function addEstimate(to: Estimates, i: number, from: Estimates, j: number): void {
  to.samples[i]! += from.samples[j]!;
  to.bytes[i]! += from.bytes[j]!;
  to.objects[i]! += from.objects[j]!;
  to.seenBytes[i]! += from.seenBytes[j]!;
  to.seenObjects[i]! += from.seenObjects[j]!;
  to.varBytes[i]! += from.varBytes[j]!;
  to.varObjects[i]! += from.varObjects[j]!;
  if (from.maxBytes[j]! > to.maxBytes[i]!) to.maxBytes[i] = from.maxBytes[j]!;
  if (from.maxObjects[j]! > to.maxObjects[i]!) to.maxObjects[i] = from.maxObjects[j]!;
  to.manySizes[i]! |= from.manySizes[j]!;
}

const kTail = 0.025;
const kNormalQuantile = 1.959963984540054;
// By as few samples it is open whether a row has one size.
const kSpareNothing = 10;
// Seeing none of this many has a chance of 2.5 %.
const kMeanOfUnlikelyZero = 3.6888794541139363;
// 2 %, of objects that may hide beside others.
const kMeanOfHidden = 3.912023005428146;

interface Sum {
  readonly seen: number;
  readonly unseen: number;
  readonly variance: number;
  readonly unseenObjects: number;
  readonly maxWeight: number;
}

const isCertain = (s: Sum) => s.unseen <= 0 || s.variance <= 0 || s.unseenObjects <= 0 || s.maxWeight <= 0;
const sizeOf = (s: Sum) => s.unseen / s.unseenObjects;
const scaleOf = (s: Sum) => s.variance / s.unseen;

function highOf(s: Sum): number {
  const scale = scaleOf(s);
  const more = Math.min(Math.max(scale - sizeOf(s), 0), s.maxWeight);
  const mean = s.unseen + more;
  const highScale = (s.variance + more * scale) / mean;
  return s.seen + highScale * gammaQuantile(1 - kTail, mean / highScale) + sizeOf(s) / 2;
}

function lowOf(s: Sum, tail: number, scale: number): number {
  if (s.unseenObjects < kMeanOfUnlikelyZero) return s.seen;
  const start = s.unseen - s.variance / scale;
  const shape = s.variance / (scale * scale);
  return s.seen + Math.max(0, start + scale * gammaQuantile(tail, shape) - sizeOf(s) / 2);
}

function bothOf(s: Sum): Interval {
  if (isCertain(s)) return { low: s.seen, high: s.seen };
  return { low: lowOf(s, kTail, scaleOf(s)), high: highOf(s) };
}

// The largest number of objects that may hide behind what was seen.
function hiddenObjects(e: Estimates, i: number, kind: number | null): number {
  const max = e.maxObjects[i]!;
  if (max <= 0 || e.seenObjects[i]! <= 0) return 0;
  const smallest = e.maxBytes[i]! / max;
  const differ = e.samples[i]! >= 2 && e.seenBytes[i]! / e.seenObjects[i]! >= smallest * (1 + 1e-4);
  if (!e.manySizes[i] && !differ) return 0;
  const mean = Math.max(kSamplingMean, smallest / Math.log1p(1 / max));
  return kMeanOfHidden / -Math.expm1(-(kind === kLoh ? kLohThreshold : kSmallestObject) / mean);
}

export function bytesInterval(e: Estimates, i: number): Interval {
  if (e.samples[i]! === 0) return { low: 0, high: kMeanOfUnlikelyZero * kSamplingMean };
  const seen = e.seenBytes[i]!;
  return bothOf({
    seen,
    unseen: e.bytes[i]! - seen,
    variance: e.varBytes[i]!,
    unseenObjects: e.objects[i]! - e.seenObjects[i]!,
    maxWeight: e.maxBytes[i]!,
  });
}

// `kind`: the heap that all of them are on, by number; nothing small hides on the large object heap.
export function objectsInterval(e: Estimates, i: number, kind: number | null = null): Interval {
  const samples = e.samples[i]!;
  if (samples === 0) return { low: 0, high: (kMeanOfUnlikelyZero * kSamplingMean) / kSmallestObject };
  const seen = e.seenObjects[i]!;
  const objects = e.objects[i]!;
  const maxWeight = e.maxObjects[i]!;
  const sum: Sum = { seen, unseen: objects - seen, variance: e.varObjects[i]!, unseenObjects: objects - seen, maxWeight };
  const hidden = hiddenObjects(e, i, kind);
  if (hidden <= 0 || isCertain(sum)) return bothOf(sum);
  const up = highOf(sum) - objects;
  const farUp = Math.hypot(up, hidden);
  const many = Math.max(0, 1 - kSpareNothing / samples);
  const spared = (kTail - normalTail((kNormalQuantile * farUp) / up)) * many;
  return { low: lowOf(sum, kTail + spared, Math.max(scaleOf(sum), maxWeight)), high: objects + farUp };
}
