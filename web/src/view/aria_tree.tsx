// SPDX-License-Identifier: Apache-2.0
// The icicle for those who do not see it: a focusable tree around the cursor, and words for each move.
import type { NodeId } from "../base/brand.ts";
import { allOf, formatExact, formatPercent } from "../base/format.ts";
import { kRoot, parentOf, pathTo } from "../model/tree.ts";
import { placeName } from "../model/lines.ts";
import type { State } from "../model/state.ts";
import { formatMetric, intervalText, isFew, unitWord } from "./figures.tsx";
import { labelsOf } from "./paint.ts";

const kNeighbours = 20;

function describe(state: State, node: NodeId): string {
  const metric = state.metric.value;
  const meta = state.data.meta;
  const total = state.weights.value.total;
  const name = node === kRoot ? allOf(meta) : labelsOf(state.data, state.tree.value, node)[0];
  const interval = intervalText(meta, metric, total, node, state.kind.value);
  const few = isFew(meta, total, node) ? `, only ${formatExact(total.samples[node]!)} samples` : "";
  return (
    `${name}, ${formatMetric(meta, metric, total[metric][node]!)}${unitWord(meta, metric)}` +
    `${interval && `, ${interval}`}, ${formatPercent(total[metric][node]!, meta.total[metric])}${few}`
  );
}

// Where the frame at the cursor is.
function spokenPlace(state: State, node: NodeId): string {
  const { lines } = state.data;
  const at = state.lines.value;
  if (lines === null || at === null || at.node !== node) return "";
  return `, ${at.approximate ? "about " : ""}${placeName(lines, at.places[0]!)}`;
}

export function AriaTree({ state }: { state: State }) {
  const tree = state.tree.value;
  const weights = state.weights.value;
  const metric = state.metric.value;
  const at = state.cursor.value ?? state.zoom.value;
  const above: NodeId[] = at === kRoot ? [] : [kRoot, ...pathTo(tree, at).slice(0, -1)];
  const all = at === kRoot ? Int32Array.of(kRoot) : weights.children(parentOf(tree, at), metric);
  const index = all.indexOf(at);
  const from = Math.max(0, Math.min(index - kNeighbours / 2, all.length - kNeighbours));
  const level = above.length + 1;

  const item = (node: number, depth: number, place: number, size: number) => (
    <div
      role="treeitem"
      id={`node-${node}`}
      aria-level={depth}
      aria-posinset={place}
      aria-setsize={size}
      aria-selected={node === at}
      aria-expanded={node === at || above.includes(node as NodeId)}
    >
      {describe(state, node as NodeId)}
    </div>
  );
  const children = weights.children(at, metric);
  return (
    <>
      <div
        class="aria-tree"
        role="tree"
        tabIndex={0}
        aria-label="Stack tree. Arrow keys move, Enter zooms, Escape resets."
        aria-activedescendant={`node-${at}`}
      >
        {above.map((node, i) => item(node, i + 1, 1, 1))}
        {Array.from(all.subarray(from, from + kNeighbours), (node, i) => item(node, level, from + i + 1, all.length))}
        {Array.from(children.subarray(0, kNeighbours), (node, i) => item(node, level + 1, i + 1, children.length))}
      </div>
      <div class="sr-only" aria-live="polite" id="spoken">
        {state.cursor.value === null ? "" : describe(state, state.cursor.value) + spokenPlace(state, state.cursor.value)}
      </div>
    </>
  );
}
