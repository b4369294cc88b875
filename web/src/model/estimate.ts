// SPDX-License-Identifier: Apache-2.0
// Additive estimates and their 95 % intervals: a port of src/profile/estimate.cc, so that a sum
// over whatever is on screen (a type, a subtree, a process) has an interval of its own.
import type { Estimates, Interval } from "../base/estimates.ts";
import { gammaQuantile95 } from "./gamma.ts";

export type Metric = "bytes" | "objects" | "samples";
export const kMetrics: readonly Metric[] = ["bytes", "objects", "samples"];
// Rows on fewer samples than this are shown as uncertain.
export const kFewSamples = 5;

const kNothingSeen = 3.6888794541139363 * 102_400;
const kSmallestObject = 24;

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
}

// Seeing all of this many unseen objects has a chance of 2.5 %.
const kFewUnseen = 3.6888794541139363;

function seenPlusGamma(
  seen: number,
  unseen: number,
  variance: number,
  unseenObjects: number,
  maxWeight: number,
): Interval {
  if (unseen <= 0 || variance <= 0 || unseenObjects <= 0 || maxWeight <= 0) return { low: seen, high: seen };
  const size = unseen / unseenObjects;
  const scale = variance / unseen;
  const low =
    unseenObjects < kFewUnseen ? 0 : Math.max(0, scale * gammaQuantile95(false, unseen / scale) - size / 2);
  const more = Math.min(Math.max(scale - size, 0), maxWeight);
  const meanUp = unseen + more;
  const highScale = (variance + more * scale) / meanUp;
  const high = highScale * gammaQuantile95(true, meanUp / highScale) + size / 2;
  return { low: seen + low, high: seen + high };
}

export function bytesInterval(e: Estimates, i: number): Interval {
  if (e.samples[i]! === 0) return { low: 0, high: kNothingSeen };
  const seen = e.seenBytes[i]!;
  const unseenObjects = e.objects[i]! - e.seenObjects[i]!;
  return seenPlusGamma(seen, e.bytes[i]! - seen, e.varBytes[i]!, unseenObjects, e.maxBytes[i]!);
}

export function objectsInterval(e: Estimates, i: number): Interval {
  if (e.samples[i]! === 0) return { low: 0, high: kNothingSeen / kSmallestObject };
  const seen = e.seenObjects[i]!;
  const unseen = e.objects[i]! - seen;
  return seenPlusGamma(seen, unseen, e.varObjects[i]!, unseen, e.maxObjects[i]!);
}
