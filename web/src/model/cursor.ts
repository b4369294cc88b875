// SPDX-License-Identifier: Apache-2.0
// Where the arrow keys lead: to the parent, the heaviest child, the neighbour on the left or right.
import type { NodeId } from "../base/brand.ts";
import type { State } from "./state.ts";
import { kRoot, parentOf } from "./tree.ts";

export function moveCursor(state: State, step: "parent" | "child" | "left" | "right"): NodeId {
  const tree = state.tree.value;
  const weights = state.weights.value;
  const metric = state.metric.value;
  const at = state.cursor.value;
  if (at === null) return state.zoom.value;
  if (step === "parent") return parentOf(tree, at);
  if (step === "child") return (weights.children(at, metric)[0] as NodeId | undefined) ?? at;
  if (at === kRoot) return at;
  const siblings = weights.children(parentOf(tree, at), metric);
  const next = siblings.indexOf(at) + (step === "left" ? -1 : 1);
  return (siblings[next] as NodeId | undefined) ?? at;
}
