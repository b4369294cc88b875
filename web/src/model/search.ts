// SPDX-License-Identifier: Apache-2.0
// A regular expression over method, module and type names, and what it matches in the tree.
import type { NodeId } from "../base/brand.ts";
import { type Result, fail, ok } from "../base/result.ts";
import type { ProfileData } from "../data/profile.ts";
import type { Metric } from "./estimate.ts";
import type { Tree } from "./tree.ts";
import type { Weights } from "./weights.ts";

export interface Matches {
  readonly frame: Uint8Array; // 1 = this method matches
  readonly type: Uint8Array;
}

export interface Found {
  readonly node: Uint8Array; // 1 = highlighted
  readonly outermost: readonly NodeId[]; // matches that lie in no other match, heaviest first
  readonly weight: number; // of the outermost ones: nested matches count once
}

// Case does not matter unless the pattern has a capital letter.
export function compile(pattern: string): Result<RegExp> {
  try {
    return ok(new RegExp(pattern, /\p{Lu}/u.test(pattern.replace(/\\./g, "")) ? "u" : "iu"));
  } catch (error) {
    const why = String(error).replace(/^.*\/[a-z]*: /, "");
    return fail(`not a regular expression: ${why}`);
  }
}

export function matchNames(data: ProfileData, regex: RegExp): Matches {
  const test = (text: string) => (regex.test(text) ? 1 : 0);
  return {
    frame: Uint8Array.from(data.frames, (f) => test(f.name) || test(f.module)),
    type: Uint8Array.from(data.types, (t) => test(t.name)),
  };
}

export function find(tree: Tree, weights: Weights, metric: Metric, matches: Matches): Found {
  const value = weights.total[metric];
  const node = new Uint8Array(tree.size);
  const inside = new Uint8Array(tree.size);
  const outermost: NodeId[] = [];
  let weight = 0;
  for (let i = 1; i < tree.size; i++) {
    const w = tree.what[i]!;
    const above = inside[tree.parent[i]!]!;
    const match = w >= 0 ? matches.frame[w]! : matches.type[-1 - w]!;
    inside[i] = above | match;
    if (!match || value[i] === 0) continue;
    node[i] = 1;
    if (above) continue;
    outermost.push(i as NodeId);
    weight += value[i]!;
  }
  outermost.sort((a, b) => value[b]! - value[a]! || a - b);
  return { node, outermost, weight };
}
