// SPDX-License-Identifier: Apache-2.0
// Rows of the tables: by type, by method, by site, by thread, for the part of the tree that is in view.
import type { FrameId, NodeId, TypeId } from "../base/brand.ts";
import { kFramework, kPseudo, kUnresolved, type ProfileData } from "../data/profile.ts";
import type { Estimates } from "../base/estimates.ts";
import { type Metric, addEstimate, makeEstimates } from "./estimate.ts";
import { type Tree, kRoot, subtreeMask } from "./tree.ts";
import { type Selection, type Weights, selects } from "./weights.ts";

// Columns of one table. `value` is what the row is about: everything for types and sites, the total
// (with callees) for methods.
export interface Rows {
  readonly size: number;
  readonly name: (row: number) => string;
  readonly type: Int32Array | null; // row → type
  readonly frame: Int32Array | null; // row → frame
  readonly thread: Int32Array | null; // row → thread
  readonly value: Estimates;
  readonly self: Record<Metric, Float64Array> | null;
}

export type SortKey = "name" | "self" | Metric;

export function cellsIn(data: ProfileData, tree: Tree, selection: Selection, scope: NodeId): number[] {
  const mask = subtreeMask(tree, scope);
  const cells: number[] = [];
  for (let c = 0; c < tree.cellLeaf.length; c++) {
    if (mask[tree.cellLeaf[c]!] && selects(data, selection, c)) cells.push(c);
  }
  return cells;
}

// Types allocated below `scope`. The type selection does not narrow it: the table is where one is
// picked.
export function typeRows(data: ProfileData, tree: Tree, selection: Selection, scope: NodeId): Rows {
  const sums = makeEstimates(data.types.length);
  for (const c of cellsIn(data, tree, { ...selection, type: null }, scope)) {
    addEstimate(sums, data.cells.type[c]!, data.cells.value, c);
  }
  const type = Int32Array.from(data.types.keys()).filter((t) => sums.samples[t]! > 0 || sums.bytes[t]! > 0);
  const value = makeEstimates(type.length);
  type.forEach((t, row) => addEstimate(value, row, sums, t));
  return { size: type.length, name: (r) => data.types[type[r]!]!.name, type, frame: null, thread: null, value, self: null };
}

// "4711 alloc-1": threads of a pool share their name.
export function threadName(data: ProfileData, thread: number): string {
  const t = data.meta.threads[thread];
  if (!t) return "[thread not told]";
  return t.name === "" ? String(t.thread) : `${t.thread} ${t.name}`;
}

// Threads that did something below `scope`. As with types, the one that is picked hides no other.
export function threadRows(data: ProfileData, tree: Tree, selection: Selection, scope: NodeId): Rows {
  const of = data.cells.thread;
  const n = data.meta.threads.length;
  const sums = makeEstimates(n + 1); // the last one: nobody knows
  for (const c of cellsIn(data, tree, { ...selection, thread: null }, scope)) {
    const thread = of?.[c] ?? 0;
    addEstimate(sums, thread === 0 ? n : thread - 1, data.cells.value, c);
  }
  const thread = Int32Array.from({ length: n + 1 }, (_, t) => t).filter((t) => sums.samples[t]! > 0);
  const value = makeEstimates(thread.length);
  thread.forEach((t, row) => addEstimate(value, row, sums, t));
  return { size: thread.length, name: (r) => threadName(data, thread[r]!), type: null, frame: null, thread, value, self: null };
}

// Methods below `scope`. A method that calls itself counts its total once, at its outermost frame.
export function methodRows(data: ProfileData, tree: Tree, weights: Weights, scope: NodeId): Rows {
  const mask = subtreeMask(tree, scope);
  const n = data.frames.length;
  const sums = makeEstimates(n);
  const selfSums = { bytes: new Float64Array(n), objects: new Float64Array(n), samples: new Float64Array(n) };
  for (let i = 1; i < tree.size; i++) {
    const frame = tree.what[i]!;
    if (!mask[i] || frame < 0 || weights.total.samples[i] === 0) continue;
    selfSums.bytes[frame]! += weights.self.bytes[i]!;
    selfSums.objects[frame]! += weights.self.objects[i]!;
    selfSums.samples[frame]! += weights.self.samples[i]!;
    let outermost = true;
    for (let p = i; p !== scope && p !== kRoot; ) {
      p = tree.parent[p]!;
      if (p !== kRoot && tree.what[p] === frame) {
        outermost = false;
        break;
      }
    }
    if (outermost) addEstimate(sums, frame, weights.total, i);
  }
  const frame = Int32Array.from(data.frames.keys()).filter((f) => sums.samples[f]! > 0);
  const value = makeEstimates(frame.length);
  frame.forEach((f, row) => addEstimate(value, row, sums, f));
  const self = (m: Metric) => Float64Array.from(frame, (f) => selfSums[m][f]!);
  return {
    size: frame.length,
    name: (r) => data.frames[frame[r]!]!.name,
    type: null,
    frame,
    thread: null,
    value,
    self: { bytes: self("bytes"), objects: self("objects"), samples: self("samples") },
  };
}

// The frame that an allocation is laid to: the innermost one that is the program's own code, or the
// innermost of all when there is none.
export function siteOf(data: ProfileData, tree: Tree, node: NodeId): FrameId | null {
  for (let n: number = node; n !== kRoot; n = tree.parent[n]!) {
    const w = tree.what[n]!;
    if (w >= 0 && !(data.frames[w]!.flags & (kFramework | kPseudo | kUnresolved))) return w as FrameId;
  }
  return node === kRoot ? null : (tree.what[node] as FrameId);
}

// (site, type) pairs below `scope`; sites alone where there are no types.
export function siteRows(data: ProfileData, tree: Tree, selection: Selection, scope: NodeId): Rows {
  const siteOfNode = new Map<number, number>();
  const rowOf = new Map<number, number>();
  const cells = cellsIn(data, tree, selection, scope);
  const cellRow = new Int32Array(cells.length);
  const frames: number[] = [];
  const types: number[] = [];
  cells.forEach((c, i) => {
    const node = tree.cellStack[c]!;
    let site = siteOfNode.get(node);
    if (site === undefined) {
      site = siteOf(data, tree, node as NodeId) ?? -1;
      siteOfNode.set(node, site);
    }
    const type = data.meta.typed ? data.cells.type[c]! : 0;
    const key = (site + 1) * Math.max(1, data.types.length) + type;
    let row = rowOf.get(key);
    if (row === undefined) {
      row = frames.length;
      rowOf.set(key, row);
      frames.push(site);
      types.push(type);
    }
    cellRow[i] = row;
  });
  const value = makeEstimates(frames.length);
  cells.forEach((c, i) => addEstimate(value, cellRow[i]!, data.cells.value, c));
  const frameName = (r: number) => data.frames[frames[r]!]?.name ?? "[no stack]";
  return {
    size: frames.length,
    name: data.meta.typed ? (r) => `${frameName(r)} ${data.types[types[r]!]!.name}` : frameName,
    type: data.meta.typed ? Int32Array.from(types) : null,
    frame: Int32Array.from(frames),
    thread: null,
    value,
    self: null,
  };
}

// Row numbers in the order of `key`, of those whose name contains `filter`.
export function orderRows(rows: Rows, key: SortKey, ascending: boolean, metric: Metric, filter: string): Int32Array {
  const wanted = filter.trim().toLowerCase();
  let order = Int32Array.from({ length: rows.size }, (_, i) => i);
  if (wanted) order = order.filter((r) => rows.name(r).toLowerCase().includes(wanted));
  const sign = ascending ? 1 : -1;
  if (key === "name") {
    const names = new Map(Array.from(order, (r) => [r, rows.name(r)] as const));
    return order.sort((a, b) => sign * (names.get(a)! < names.get(b)! ? -1 : names.get(a)! > names.get(b)! ? 1 : 0));
  }
  const column = key === "self" ? (rows.self?.[metric] ?? rows.value[metric]) : rows.value[key];
  return order.sort((a, b) => sign * (column[a]! - column[b]!) || a - b);
}

// The three heaviest types below `node`, for the tooltip.
export function topTypes(
  data: ProfileData,
  tree: Tree,
  selection: Selection,
  node: NodeId,
  metric: Metric,
): { type: TypeId; value: number }[] {
  const sums = new Map<number, number>();
  const column = data.cells.value[metric];
  for (const c of cellsIn(data, tree, selection, node)) {
    const type = data.cells.type[c]!;
    sums.set(type, (sums.get(type) ?? 0) + column[c]!);
  }
  return [...sums]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([type, value]) => ({ type: type as TypeId, value }));
}
