// SPDX-License-Identifier: Apache-2.0
// What lines of source weigh, and which of them a frame of the tree is at.
import type { FrameId, NodeId } from "../base/brand.ts";
import type { Estimates } from "../base/estimates.ts";
import { type Lines, isApproximate } from "../data/lines.ts";
import { kFramework, kMachinery, kPseudo, kUnresolved, type ProfileData } from "../data/profile.ts";
import { type Metric, addEstimate, makeEstimates } from "./estimate.ts";
import { type Rows, cellsIn } from "./tables.ts";
import { type Tree, isType, kRoot, parentOf, subtreeMask } from "./tree.ts";
import type { Selection } from "./weights.ts";

export interface LineSums {
  readonly self: Estimates; // of what a key is the site of, as SiteFrames in src/profile/views/tables.h
  readonly total: Estimates; // of stacks that it is on; a stack counts once
  readonly approximate: Uint8Array; // 1: some of it may belong to another line
}

// Of each node of the profile the one that its samples are laid to: the innermost that is the program's own code, or
// itself where there is none.
function sitesOf(data: ProfileData): Int32Array {
  const { parent, frame } = data.nodes;
  const own = new Int32Array(parent.length);
  for (let i = 1; i < parent.length; i++) {
    const flags = data.frames[frame[i]!]!.flags;
    own[i] = flags & (kFramework | kMachinery | kUnresolved | kPseudo) ? own[parent[i]!]! : i;
  }
  return own.map((site, i) => site || i);
}

// Whether `node` of the profile is drawn as `at`, and not folded into it.
const isAt = (data: ProfileData, tree: Tree, node: number, at: number): boolean =>
  tree.shown[node] === at && tree.what[at] === data.nodes.frame[node];

// `key`: of each node of the profile, -1 = none, below `keys`. Of the stacks that go through `scope`, what called it
// included: the line that calls a framework's method is what people look for.
export function lineSums(data: ProfileData, lines: Lines, tree: Tree, selection: Selection, scope: NodeId, key: Int32Array, keys: number): LineSums {
  const { parent } = data.nodes;
  const sites = sitesOf(data);
  const below = makeEstimates(parent.length);
  const self = makeEstimates(keys);
  const total = makeEstimates(keys);
  const approximate = new Uint8Array(keys);
  const mark = (node: number) => {
    if (isApproximate(lines.sure[node]!, data.meta.shows)) approximate[key[node]!] = 1;
  };
  for (const c of cellsIn(data, tree, selection, scope)) {
    const node = data.cells.node[c]!;
    addEstimate(below, node, data.cells.value, c);
    const site = sites[node]!;
    if (key[site]! < 0) continue;
    addEstimate(self, key[site]!, data.cells.value, c);
    mark(site);
  }
  for (let i = parent.length - 1; i > 0; i--) addEstimate(below, parent[i]!, below, i);
  for (let i = 1; i < parent.length; i++) {
    if (key[i]! < 0 || below.samples[i] === 0) continue;
    mark(i);
    let above = parent[i]!;
    while (above !== 0 && key[above] !== key[i]) above = parent[above]!;
    if (above === 0) addEstimate(total, key[i]!, below, i);
  }
  return { self, total, approximate };
}

// By place: what stands beside a file's text.
export const placeSums = (data: ProfileData, lines: Lines, tree: Tree, selection: Selection, scope: NodeId): LineSums =>
  lineSums(data, lines, tree, selection, scope, lines.at, lines.number.length);

export interface LineRows extends Rows {
  readonly place: Int32Array; // row → place, -1 = the method's lines are not known
  readonly approximate: Uint8Array;
}

export const placeName = (lines: Lines, place: number): string => `${lines.files[lines.file[place]!]!.name}:${lines.number[place]!}`;

// Lines of methods on those stacks, and methods of the program that have no lines, as `report --by line`.
export function lineRows(data: ProfileData, lines: Lines, tree: Tree, selection: Selection, scope: NodeId): LineRows {
  const { frame: frames } = data.nodes;
  const rowOf = new Map<number, number>();
  const frame: number[] = [];
  const place: number[] = [];
  const span = lines.number.length + 1;
  const key = new Int32Array(frames.length).fill(-1);
  for (let i = 1; i < frames.length; i++) {
    const id = frames[i]! * span + lines.at[i]! + 1;
    let row = rowOf.get(id);
    if (row === undefined) {
      row = frame.length;
      rowOf.set(id, row);
      frame.push(frames[i]!);
      place.push(lines.at[i]!);
    }
    key[i] = row;
  }
  const sums = lineSums(data, lines, tree, selection, scope, key, frame.length);
  const shown = frame.map((_, r) => r).filter((r) => sums.self.samples[r]! > 0 || (place[r]! >= 0 && sums.total.samples[r]! > 0));
  const pick = (from: Estimates) => {
    const to = makeEstimates(shown.length);
    shown.forEach((r, i) => addEstimate(to, i, from, r));
    return to;
  };
  const self = pick(sums.self);
  const method = (r: number) => data.frames[frame[shown[r]!]!]!.name;
  return {
    size: shown.length,
    name: (r) => (place[shown[r]!]! < 0 ? method(r) : `${placeName(lines, place[shown[r]!]!)} ${method(r)}`),
    type: null,
    frame: Int32Array.from(shown, (r) => frame[r]!),
    thread: null,
    value: pick(sums.total),
    self: { bytes: self.bytes, objects: self.objects, samples: self.samples },
    place: Int32Array.from(shown, (r) => place[r]!),
    approximate: Uint8Array.from(shown, (r) => sums.approximate[r]!),
  };
}

// What each node of the profile weighs, with everything below it, of the cells below `scope`.
function weighNodes(data: ProfileData, tree: Tree, selection: Selection, scope: NodeId, metric: Metric): Float64Array {
  const { parent } = data.nodes;
  const weight = new Float64Array(parent.length);
  const value = data.cells.value[metric];
  for (const c of cellsIn(data, tree, selection, scope)) weight[data.cells.node[c]!]! += value[c]!;
  for (let i = parent.length - 1; i > 0; i--) weight[parent[i]!]! += weight[i]!;
  return weight;
}

export interface FrameLines {
  readonly node: NodeId; // the frame itself, or the nearest one around it whose lines are known
  readonly places: readonly number[]; // heaviest first, at least one
  readonly approximate: boolean; // the first of them
}

// At which lines the frame at `node` was seen: of a type, the frame that allocates it; of a method without lines, its
// nearest caller that has them.
export function linesOf(data: ProfileData, lines: Lines, tree: Tree, selection: Selection, node: NodeId, metric: Metric): FrameLines | null {
  if (node === kRoot) return null;
  const weight = weighNodes(data, tree, selection, node, metric);
  const count = data.nodes.parent.length;
  let at = isType(tree, node) ? parentOf(tree, node) : node;
  for (; at !== kRoot; at = parentOf(tree, at)) {
    const sums = new Map<number, { weight: number; approximate: boolean }>();
    for (let i = 1; i < count; i++) {
      const place = lines.at[i]!;
      if (place < 0 || weight[i] === 0 || !isAt(data, tree, i, at)) continue;
      const sum = sums.get(place) ?? { weight: 0, approximate: false };
      sum.weight += weight[i]!;
      sum.approximate ||= isApproximate(lines.sure[i]!, data.meta.shows);
      sums.set(place, sum);
    }
    if (sums.size === 0) continue;
    const order = [...sums].sort((a, b) => b[1].weight - a[1].weight || a[0] - b[0]);
    return { node: at, places: order.map(([place]) => place), approximate: order[0]![1].approximate };
  }
  return null;
}

// The heaviest node below `scope` that is at `place`, of one method where `frame` is given.
export function nodeAtPlace(data: ProfileData, lines: Lines, tree: Tree, selection: Selection, scope: NodeId, metric: Metric, place: number, frame: FrameId | null): NodeId | null {
  const weight = weighNodes(data, tree, selection, scope, metric);
  const mask = subtreeMask(tree, scope);
  const sums = new Map<number, number>();
  for (let i = 1; i < weight.length; i++) {
    const at = tree.shown[i]!;
    if (lines.at[i] !== place || at === kRoot || weight[i] === 0 || !mask[at] || !isAt(data, tree, i, at)) continue;
    if (frame === null || tree.what[at] === frame) sums.set(at, (sums.get(at) ?? 0) + weight[i]!);
  }
  let best: number | null = null;
  for (const [node, sum] of sums) if (best === null || sum > sums.get(best)!) best = node;
  return best as NodeId | null;
}
