// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FrameId, NodeId } from "../base/brand.ts";
import type { Lines } from "../data/lines.ts";
import { lineRows, linesOf, placeSums } from "./lines.ts";
import { sampleData } from "./sample_data.ts";
import { createState } from "./state.ts";
import { buildTree, findPath, kRoot } from "./tree.ts";
import { kEverything } from "./weights.ts";

// The sample's Handle is at Web.cs:5 below the pool and at Web.cs:9 else, Parse at Text.cs:3, within itself at
// Text.cs:4, or near there.
const file = (name: string) => ({ path: `/src/${name}`, name, url: "", text: null, checked: false, without: "absent" as const });
const lines: Lines = {
  files: [file("Web.cs"), file("Text.cs")],
  file: Uint32Array.of(0, 0, 1, 1),
  number: Uint32Array.of(5, 9, 3, 4),
  at: Int32Array.of(-1, -1, 0, 2, 3, 1, -1),
  sure: Uint8Array.of(0, 0, 0, 0, 1, 0, 0),
};
const data = { ...sampleData(), lines };
const tree = buildTree(data, { machinery: false, typeLeaves: false });
const handle = findPath(tree, [1]);
const parse = findPath(tree, [1, 2]);
const alloc = findPath(tree, [1, 3]);

test("places have their own weight and that of what they call", () => {
  const sums = placeSums(data, lines, tree, kEverything, kRoot);
  assert.deepEqual([...sums.self.bytes], [0, 30, 10, 60]); // System.Alloc's are its caller's
  assert.deepEqual([...sums.total.bytes], [70, 30, 70, 60]);
  assert.deepEqual([...sums.approximate], [0, 0, 0, 1]);
  const strings = placeSums(data, lines, tree, { ...kEverything, type: 0 as never }, kRoot);
  assert.deepEqual([...strings.self.bytes], [0, 0, 10, 40]);
  const below = placeSums(data, lines, tree, kEverything, parse);
  assert.deepEqual([...below.total.bytes], [70, 0, 70, 60], "of what is in view, its callers included");
});

test("rows are lines, and count each sample once", () => {
  const rows = lineRows(data, lines, tree, kEverything, kRoot);
  const named = Array.from({ length: rows.size }, (_, r) => [rows.name(r), rows.self!.bytes[r], rows.value.bytes[r]]);
  assert.deepEqual(named.sort(), [
    ["Text.cs:3 Acme.Text.Parse", 10, 70],
    ["Text.cs:4 Acme.Text.Parse", 60, 60],
    ["Web.cs:5 Acme.Web.Handle", 0, 70],
    ["Web.cs:9 Acme.Web.Handle", 30, 30],
  ]);
});

test("a line that is on a stack twice counts once", () => {
  const twice = { ...lines, at: Int32Array.of(-1, -1, 0, 2, 2, 1, -1) };
  assert.equal(placeSums(data, twice, tree, kEverything, kRoot).total.bytes[2], 70);
});

test("a frame is at its lines, heaviest first; one without is at its caller's", () => {
  const of = (node: NodeId) => linesOf(data, lines, tree, kEverything, node, "bytes");
  assert.deepEqual(of(handle), { node: handle, places: [0, 1], approximate: false });
  assert.deepEqual(of(alloc), { node: handle, places: [1], approximate: false }, "only where it is called");
  assert.deepEqual(of(findPath(tree, [1, 2, 2])), { node: findPath(tree, [1, 2, 2]), places: [3], approximate: true });
  assert.equal(of(kRoot), null);
});

test("a line after a throw is right of the exceptions themselves", () => {
  const thrown = { ...lines, sure: Uint8Array.of(0, 0, 2, 0, 0, 0, 0) };
  const shows = (name: "allocated" | "exceptions") =>
    placeSums({ ...data, meta: { ...data.meta, shows: name } }, thrown, tree, kEverything, kRoot).approximate[0];
  assert.equal(shows("allocated"), 1);
  assert.equal(shows("exceptions"), 0);
});

test("picking a line goes to its heaviest frame and keeps to that line", () => {
  const state = createState([data], "#leaves=0", null);
  state.pickPlace(1, null);
  assert.equal(state.cursor.value, handle);
  assert.deepEqual(state.lines.value?.places, [1, 0]);
  state.pickPlace(3, 2 as FrameId);
  assert.deepEqual(state.lines.value?.places, [3]);
  state.cursor.value = handle;
  assert.deepEqual(state.lines.value?.places, [0, 1], "another selection is by weight again");
  state.pickPlace(3, 1 as FrameId);
  assert.equal(state.cursor.value, handle, "no frame of that method is there");
});

test("a page without lines offers none", () => {
  const state = createState([{ ...data, lines: null }], "#tab=lines", null);
  assert.equal(state.tab.value, "types");
  assert.equal(state.lines.value, null);
  assert.equal(state.places.value, null);
  state.pickPlace(0, null);
  assert.equal(state.cursor.value, null);
  const other = createState([data], "#tab=lines", null);
  assert.equal(other.tab.value, "lines");
  assert.equal(other.rows.value.size, 4);
});
