// SPDX-License-Identifier: Apache-2.0
// The tree on screen: the profile's stacks, plumbing folded away, types as leaves where wanted.
import type { FrameId, NodeId, TypeId } from "../base/brand.ts";
import { kMachinery, type ProfileData } from "../data/profile.ts";

export interface TreeOptions {
  readonly machinery: boolean; // show async and thread-pool plumbing
  readonly typeLeaves: boolean; // show the allocated type as a frame
}

export interface Tree {
  readonly size: number;
  readonly parent: Int32Array; // node 0 is the root, its own parent; a parent comes first
  readonly depth: Int32Array;
  // What a node is: a frame (>= 0), a type leaf (< 0: -1 - type); the root has frame 0.
  readonly what: Int32Array;
  readonly folded: Uint32Array; // nodes that an (other) stands for, else 0
  readonly childStart: Int32Array; // children of n: child[childStart[n] .. childStart[n + 1])
  readonly child: Int32Array;
  readonly shown: Int32Array; // node of the profile → node here; of plumbing that is folded away the one above it
  readonly cellStack: Int32Array; // cell → node of its innermost frame
  readonly cellLeaf: Int32Array; // cell → its type leaf, or the same node without type leaves
}

export const kRoot = 0 as NodeId;
export const isType = (tree: Tree, node: NodeId): boolean => tree.what[node]! < 0;
export const typeOf = (tree: Tree, node: NodeId): TypeId => (-1 - tree.what[node]!) as TypeId;
export const frameOf = (tree: Tree, node: NodeId): FrameId => tree.what[node]! as FrameId;
export const parentOf = (tree: Tree, node: NodeId): NodeId => tree.parent[node]! as NodeId;

export function buildTree(data: ProfileData, options: TreeOptions): Tree {
  const most = data.nodes.parent.length + (options.typeLeaves ? data.cells.node.length : 0);
  const parent = new Int32Array(most);
  const depth = new Int32Array(most);
  const what = new Int32Array(most);
  const folded = new Uint32Array(most);
  let size = 1;

  // One child per (parent, what): folding brings frames of one method together.
  const span = data.frames.length + data.types.length + 2;
  const known = new Map<number, number>();
  const childOf = (p: number, w: number): number => {
    const key = p * span + (w >= 0 ? w : data.frames.length - w);
    const found = known.get(key);
    if (found !== undefined) return found;
    parent[size] = p;
    depth[size] = depth[p]! + 1;
    what[size] = w;
    known.set(key, size);
    return size++;
  };

  const place = new Int32Array(data.nodes.parent.length);
  for (let i = 1; i < place.length; i++) {
    const above = place[data.nodes.parent[i]!]!;
    const frame = data.nodes.frame[i]!;
    if (!options.machinery && data.frames[frame]!.flags & kMachinery) {
      place[i] = above;
    } else {
      place[i] = childOf(above, frame);
      folded[place[i]!]! += data.nodes.folded[i]!;
    }
  }

  const cells = data.cells.node.length;
  const cellStack = new Int32Array(cells);
  const cellLeaf = new Int32Array(cells);
  for (let c = 0; c < cells; c++) {
    const node = place[data.cells.node[c]!]!;
    cellStack[c] = node;
    cellLeaf[c] = options.typeLeaves ? childOf(node, -1 - data.cells.type[c]!) : node;
  }

  const childStart = new Int32Array(size + 1);
  for (let i = 1; i < size; i++) childStart[parent[i]! + 1]!++;
  for (let i = 0; i < size; i++) childStart[i + 1]! += childStart[i]!;
  const fill = childStart.slice();
  const child = new Int32Array(size - 1);
  for (let i = 1; i < size; i++) child[fill[parent[i]!]!++] = i;

  return {
    size,
    parent: parent.slice(0, size),
    depth: depth.slice(0, size),
    what: what.slice(0, size),
    folded: folded.slice(0, size),
    childStart,
    child,
    shown: place,
    cellStack,
    cellLeaf,
  };
}

// From the root's child down to `node`; empty for the root.
export function pathTo(tree: Tree, node: NodeId): NodeId[] {
  const path: NodeId[] = [];
  for (let n = node; n !== kRoot; n = parentOf(tree, n)) path.push(n);
  return path.reverse();
}

// Follows `whats` from the root as far as the tree goes. Steps for which `optional` holds may be
// missing: a path from the tree with plumbing is good for the one without it.
export function findPath(tree: Tree, whats: readonly number[], optional?: (what: number) => unknown): NodeId {
  let node: NodeId = kRoot;
  for (const w of whats) {
    let found = -1;
    for (let i = tree.childStart[node]!; i < tree.childStart[node + 1]!; i++) {
      if (tree.what[tree.child[i]!] === w) found = tree.child[i]!;
    }
    if (found >= 0) node = found as NodeId;
    else if (!optional?.(w)) break;
  }
  return node;
}

// 1 for `node` and everything below it.
export function subtreeMask(tree: Tree, node: NodeId): Uint8Array {
  const mask = new Uint8Array(tree.size);
  if (node === kRoot) return mask.fill(1);
  mask[node] = 1;
  for (let i = node + 1; i < tree.size; i++) mask[i] = mask[tree.parent[i]!]!;
  return mask;
}
