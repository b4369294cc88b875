// SPDX-License-Identifier: Apache-2.0
// Allocation per second over the recording's time, in equal steps.
import type { ProfileData } from "../data/profile.ts";
import type { Metric } from "./estimate.ts";
import type { Selection } from "./weights.ts";

export interface Rate {
  readonly begin: number; // seconds
  readonly end: number;
  readonly perSecond: Float64Array; // one value per step
  readonly most: number;
}

// Rows longer than a step are spread evenly over the steps that they cover.
export function rateOverTime(data: ProfileData, selection: Selection, metric: Metric, steps: number): Rate | null {
  const t = data.times;
  let begin = Infinity;
  let end = -Infinity;
  for (let i = 0; i < t.start.length; i++) {
    begin = Math.min(begin, t.start[i]!);
    end = Math.max(end, t.end[i]!);
  }
  if (!(end > begin)) return null;
  // The recording's own bounds, where the rows lie within them.
  if (begin > 0) begin = 0;
  if (data.meta.duration > end) end = data.meta.duration;

  const sums = new Float64Array(steps);
  const step = (end - begin) / steps;
  for (let i = 0; i < t.start.length; i++) {
    if (selection.process !== null && t.process[i] !== selection.process) continue;
    if (selection.kind !== null && t.kind[i] !== selection.kind) continue;
    const from = (t.start[i]! - begin) / step;
    const to = Math.max((t.end[i]! - begin) / step, from + 1e-9);
    const first = Math.min(steps - 1, Math.floor(from));
    const last = Math.min(steps - 1, Math.ceil(to) - 1);
    for (let s = first; s <= last; s++) {
      const share = (Math.min(to, s + 1) - Math.max(from, s)) / (to - from);
      sums[s]! += t[metric][i]! * Math.min(1, Math.max(0, share));
    }
  }
  const perSecond = sums.map((v) => v / step);
  return { begin, end, perSecond, most: perSecond.reduce((a, b) => Math.max(a, b), 0) };
}

// How many steps tell the most: no finer than the rows themselves.
export function usefulSteps(data: ProfileData, width: number): number {
  const t = data.times;
  let begin = Infinity;
  let end = 0;
  let shortest = Infinity;
  for (let i = 0; i < t.start.length; i++) {
    begin = Math.min(begin, t.start[i]!);
    end = Math.max(end, t.end[i]!);
    const long = t.end[i]! - t.start[i]!;
    if (long > 0) shortest = Math.min(shortest, long);
  }
  if (!(end > begin) || shortest === Infinity) return 1;
  const span = Math.max(end, data.meta.duration) - Math.min(0, begin);
  return Math.max(1, Math.min(Math.floor(width / 3), Math.round(span / shortest)));
}
