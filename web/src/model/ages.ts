// SPDX-License-Identifier: Apache-2.0
// How old what lives is: over the recording's time, and now within the part that is in view.
import type { NodeId } from "../base/brand.ts";
import type { ProfileData } from "../data/profile.ts";
import type { Metric } from "./estimate.ts";
import { type Tree, subtreeMask } from "./tree.ts";
import { type Selection, selects } from "./weights.ts";

// Ages are drawn in these groups, in seconds from where each begins: more colours than these
// cannot be told apart.
export const kAgeGroups = [0, 10, 60, 600, 3600, 86400] as const;

// Clocks of a process and of the recording agree to this many seconds.
const kSlack = 1;

export function groupOf(seconds: number): number {
  let group = 0;
  while (group + 1 < kAgeGroups.length && seconds >= kAgeGroups[group + 1]!) group++;
  return group;
}

// Where the age buckets begin that any live object is in, ascending.
export function agesIn(data: ProfileData): number[] {
  const used = new Set(data.cells.age ?? []);
  return data.ages.starts.filter((_, bucket) => used.has(bucket));
}

export interface AgesOverTime {
  readonly at: readonly number[]; // seconds, ascending
  readonly groups: readonly Float64Array[]; // by kAgeGroups: one value per moment
  readonly most: number; // of all groups together
}

// What lived at each moment, stacked by age. Processes report at moments of their own: of each, its
// last one counts. Null when there are fewer than two moments.
export function agesOverTime(data: ProfileData, selection: Selection, metric: Metric): AgesOverTime | null {
  const rows = data.ages;
  const wanted = (i: number) => selection.process === null || rows.process[i] === selection.process;
  const all = [...rows.at.keys()].filter(wanted).sort((a, b) => rows.at[a]! - rows.at[b]!);
  const at = [...new Set(all.map((i) => rows.at[i]!))];
  if (at.length < 2) return null;
  const groups = kAgeGroups.map(() => new Float64Array(at.length));
  const now = new Map<number, Float64Array>(); // process → its groups
  let most = 0;
  for (let next = 0, moment = 0; moment < at.length; moment++) {
    const told = new Set<number>();
    for (; next < all.length && rows.at[all[next]!] === at[moment]; next++) {
      const i = all[next]!;
      const process = rows.process[i]!;
      if (!told.has(process)) now.set(process, new Float64Array(kAgeGroups.length));
      told.add(process);
      if (selection.kind !== null && rows.kind[i] !== selection.kind) continue;
      const bucket = rows.bucket[i]!;
      if (selection.age !== null && bucket < selection.age) continue;
      now.get(process)![groupOf(rows.starts[bucket]!)]! += metric === "objects" ? rows.objects[i]! : rows.bytes[i]!;
    }
    let sum = 0;
    for (const [process, values] of now) {
      if (at[moment]! > (data.meta.processes[process]?.end ?? Infinity) + kSlack) continue; // it ended
      values.forEach((v, group) => {
        groups[group]![moment]! += v;
        sum += v;
      });
    }
    most = Math.max(most, sum);
  }
  return { at, groups, most };
}

export interface AgeBar {
  readonly bucket: number;
  readonly from: number; // seconds
  readonly to: number | null; // null = open
  readonly value: number;
}

// What is in view by age bucket, from the first to the last one in use; the age selection does not
// narrow it: it is where one is picked.
export function agesInView(data: ProfileData, tree: Tree, selection: Selection, scope: NodeId, metric: Metric): AgeBar[] {
  const { age } = data.cells;
  if (!age) return [];
  const mask = subtreeMask(tree, scope);
  const any = { ...selection, age: null };
  const sums = new Float64Array(data.ages.starts.length);
  let first = sums.length;
  let last = -1;
  for (let c = 0; c < age.length; c++) {
    // The bars stay where they are, whatever is selected.
    first = Math.min(first, age[c]!);
    last = Math.max(last, age[c]!);
    if (mask[tree.cellLeaf[c]!] && selects(data, any, c)) sums[age[c]!]! += data.cells.value[metric][c]!;
  }
  return data.ages.starts
    .map((from, bucket) => ({ bucket, from, to: data.ages.starts[bucket + 1] ?? null, value: sums[bucket]! }))
    .slice(first, last + 1);
}
