// SPDX-License-Identifier: Apache-2.0
// Tree → rectangles: the zoomed node spans the width, what is narrower than half a pixel is left out.
import type { NodeId } from "../base/brand.ts";
import type { Metric } from "./estimate.ts";
import { type Tree, kRoot, pathTo } from "./tree.ts";
import type { Weights } from "./weights.ts";

// Parallel arrays, in drawing order; `x` and `w` are CSS pixels, `row` counts from the root.
export interface Layout {
  readonly count: number;
  readonly node: Int32Array; // -1: a run of nodes too thin to draw, as one
  readonly x: Float32Array;
  readonly w: Float32Array;
  readonly row: Int32Array;
  readonly rows: number; // of the deepest rectangle, plus one
  readonly zoom: NodeId;
}

const kCull = 0.5;

export function layOut(tree: Tree, weights: Weights, metric: Metric, zoom: NodeId, width: number): Layout {
  const value = weights.total[metric];
  let capacity = 4096;
  let node = new Int32Array(capacity);
  let x = new Float32Array(capacity);
  let w = new Float32Array(capacity);
  let row = new Int32Array(capacity);
  let count = 0;
  let rows = 0;
  const push = (n: number, left: number, wide: number, r: number) => {
    if (count === capacity) {
      capacity *= 2;
      const grow = <A extends Int32Array | Float32Array>(to: A, from: A): A => (to.set(from), to);
      node = grow(new Int32Array(capacity), node);
      x = grow(new Float32Array(capacity), x);
      w = grow(new Float32Array(capacity), w);
      row = grow(new Int32Array(capacity), row);
    }
    node[count] = n;
    x[count] = left;
    w[count] = wide;
    row[count] = r;
    count++;
    if (r + 1 > rows) rows = r + 1;
  };

  if (value[zoom]! > 0) {
    if (zoom !== kRoot) push(kRoot, 0, width, 0);
    const path = pathTo(tree, zoom);
    for (const ancestor of path.slice(0, -1)) push(ancestor, 0, width, tree.depth[ancestor]!);
    const scale = width / value[zoom]!;
    push(zoom, 0, width, tree.depth[zoom]!);
    // Every pushed rectangle is also the queue's entry for its children.
    for (let head = count - 1; head < count; head++) {
      if (node[head]! < 0) continue;
      const parent = node[head] as NodeId;
      const below = row[head]! + 1;
      let left = x[head]!;
      let thin = 0;
      let thinAt = -1;
      for (const c of weights.children(parent, metric)) {
        const wide = value[c]! * scale;
        if (wide < kCull) {
          if (thinAt < 0) thinAt = left;
          thin += wide;
        } else {
          push(c, left, wide, below);
        }
        left += wide;
      }
      if (thin >= kCull) push(-1, thinAt, thin, below);
    }
  }
  return { count, node, x, w, row, rows, zoom };
}

// The rectangle at (px, row); -1 when there is none. Rectangles of a row do not overlap.
export function hit(layout: Layout, px: number, row: number): number {
  for (let i = 0; i < layout.count; i++) {
    if (layout.row[i] === row && px >= layout.x[i]! && px < layout.x[i]! + layout.w[i]!) return i;
  }
  return -1;
}
