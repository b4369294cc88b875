// SPDX-License-Identifier: Apache-2.0
// What every node of the tree weighs under the current selection of type, process, thread, heap and
// age.
import type { NodeId, TypeId } from "../base/brand.ts";
import type { ProfileData } from "../data/profile.ts";
import type { Estimates } from "../base/estimates.ts";
import { type Metric, addEstimate, makeEstimates } from "./estimate.ts";
import type { Tree } from "./tree.ts";

// null = all of them.
export interface Selection {
  readonly type: TypeId | null;
  readonly process: number | null;
  readonly thread: number | null; // index into Meta.threads
  readonly kind: number | null;
  readonly age: number | null; // the youngest age bucket that counts
}

export const kEverything: Selection = { type: null, process: null, thread: null, kind: null, age: null };

export interface Weights {
  readonly total: Estimates; // per node, with everything below
  readonly self: Record<Metric, Float64Array>; // allocated by the frame itself, in any type
  // Children of `node`, heaviest first; those that weigh nothing are left out.
  children(node: NodeId, metric: Metric): Int32Array;
}

export function selects(data: ProfileData, s: Selection, cell: number): boolean {
  const c = data.cells;
  return (
    (s.type === null || c.type[cell] === s.type) &&
    (s.process === null || c.process[cell] === s.process) &&
    (s.thread === null || (c.thread !== null && c.thread[cell] === s.thread + 1)) &&
    (s.kind === null || c.kind[cell] === s.kind) &&
    (s.age === null || c.age === null || c.age[cell]! >= s.age)
  );
}

export function weigh(data: ProfileData, tree: Tree, selection: Selection): Weights {
  const total = makeEstimates(tree.size);
  const self = {
    bytes: new Float64Array(tree.size),
    objects: new Float64Array(tree.size),
    samples: new Float64Array(tree.size),
  };
  const value = data.cells.value;
  for (let c = 0; c < tree.cellLeaf.length; c++) {
    if (!selects(data, selection, c)) continue;
    const leaf = tree.cellLeaf[c]!;
    const stack = tree.cellStack[c]!;
    addEstimate(total, leaf, value, c);
    self.bytes[stack]! += value.bytes[c]!;
    self.objects[stack]! += value.objects[c]!;
    self.samples[stack]! += value.samples[c]!;
    if (leaf !== stack) {
      self.bytes[leaf]! += value.bytes[c]!;
      self.objects[leaf]! += value.objects[c]!;
      self.samples[leaf]! += value.samples[c]!;
    }
  }
  for (let i = tree.size - 1; i > 0; i--) addEstimate(total, tree.parent[i]!, total, i);

  // Sorted on first sight, as most of a large tree is never drawn.
  const sorted = new Map<NodeId, { metric: Metric; list: Int32Array }>();
  const children = (node: NodeId, metric: Metric): Int32Array => {
    const known = sorted.get(node);
    if (known?.metric === metric) return known.list;
    const weight = total[metric];
    const list = tree.child
      .subarray(tree.childStart[node]!, tree.childStart[node + 1]!)
      .filter((n) => weight[n]! > 0)
      .sort((a, b) => {
        // What the exporter folded comes last, whatever it weighs.
        const other = (tree.folded[a]! > 0 ? 1 : 0) - (tree.folded[b]! > 0 ? 1 : 0);
        return other || weight[b]! - weight[a]! || a - b;
      });
    sorted.set(node, { metric, list });
    return list;
  };
  return { total, self, children };
}
