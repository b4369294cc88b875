// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeId, TypeId } from "../base/brand.ts";
import { hit, layOut } from "./layout.ts";
import { rateOverTime } from "./rate.ts";
import { sampleData } from "./sample_data.ts";
import { compile, find, matchNames } from "./search.ts";
import { methodRows, orderRows, siteRows, threadRows, topTypes, typeRows } from "./tables.ts";
import { type Tree, buildTree, findPath, kRoot, pathTo, subtreeMask } from "./tree.ts";
import { kEverything, weigh } from "./weights.ts";

const data = sampleData();
const kAll = kEverything;
const names = (tree: Tree, node: NodeId) =>
  pathTo(tree, node).map((n) => (tree.what[n]! < 0 ? data.types[-1 - tree.what[n]!]!.name : data.frames[tree.what[n]!]!.name));

test("folded plumbing lets equal frames meet", () => {
  const tree = buildTree(data, { machinery: false, typeLeaves: false });
  assert.equal(tree.size, 5); // root, Handle, Parse, Parse, Alloc
  const weights = weigh(data, tree, kAll);
  const top = weights.children(kRoot, "bytes");
  assert.equal(top.length, 1);
  assert.deepEqual(names(tree, top[0] as NodeId), ["Acme.Web.Handle"]);
  assert.equal(weights.total.bytes[top[0]!], 100);

  const raw = buildTree(data, { machinery: true, typeLeaves: false });
  assert.equal(raw.size, 7);
  assert.equal(weigh(data, raw, kAll).children(kRoot, "bytes").length, 2);
});

test("types are leaves, and every level adds up", () => {
  const tree = buildTree(data, { machinery: false, typeLeaves: true });
  const weights = weigh(data, tree, kAll);
  assert.equal(weights.total.bytes[kRoot], 100);
  for (let n = 0; n < tree.size; n++) {
    const below = Array.from(weights.children(n as NodeId, "bytes"), (c) => weights.total.bytes[c]!);
    if (below.length > 0) assert.equal(below.reduce((a, b) => a + b), weights.total.bytes[n]);
    assert.deepEqual([...below].sort((a, b) => b - a), below, "heaviest first");
  }
  const inner = findPath(tree, [1, 2, 2]);
  assert.equal(weights.self.bytes[inner], 60);
});

test("selections restrict the weights", () => {
  const tree = buildTree(data, { machinery: false, typeLeaves: true });
  const bytes = (s: object) => weigh(data, tree, { ...kAll, ...s }).total.bytes[kRoot];
  assert.equal(bytes({ type: 1 as TypeId }), 50);
  assert.equal(bytes({ process: 1 }), 30);
  assert.equal(bytes({ kind: 1 }), 20);
  assert.equal(bytes({ kind: 1, process: 1 }), 0);
});

test("threads are rows, and a selection", () => {
  const tree = buildTree(data, { machinery: false, typeLeaves: true });
  const told = (s: object) => {
    const rows = threadRows(data, tree, { ...kAll, ...s }, kRoot);
    return Object.fromEntries(Array.from({ length: rows.size }, (_, r) => [rows.name(r), rows.value.bytes[r]]));
  };
  assert.deepEqual(told({}), { "11 main": 50, "12": 30, "[thread not told]": 20 });
  assert.deepEqual(told({ type: 1 as TypeId }), { "12": 30, "[thread not told]": 20 });
  assert.deepEqual(told({ thread: 0 }), told({}), "the table is where one is picked");
  assert.equal(weigh(data, tree, { ...kAll, thread: 0 }).total.bytes[kRoot], 50);
  const types = typeRows(data, tree, { ...kAll, thread: 1 }, kRoot);
  assert.deepEqual(Array.from({ length: types.size }, (_, r) => types.name(r)), ["byte[]"]);
});

test("a path that is gone leads to what is left of it", () => {
  const tree = buildTree(data, { machinery: false, typeLeaves: false });
  assert.deepEqual(names(tree, findPath(tree, [1, 3, 77])), ["Acme.Web.Handle", "System.Alloc"]);
  assert.equal(findPath(tree, [99]), kRoot);
  assert.equal(findPath(tree, [0, 1, 3]), kRoot);
  assert.deepEqual(names(tree, findPath(tree, [0, 1, 3], (w) => w === 0)), ["Acme.Web.Handle", "System.Alloc"]);
  const mask = subtreeMask(tree, findPath(tree, [1, 2]));
  assert.equal(mask.reduce((a, b) => a + b, 0), 2);
});

test("rectangles tile their parents and thin ones become one run", () => {
  const tree = buildTree(data, { machinery: false, typeLeaves: false });
  const weights = weigh(data, tree, kAll);
  const wide = layOut(tree, weights, "bytes", kRoot, 1000);
  assert.equal(wide.count, 5);
  assert.equal(wide.rows, 4);
  assert.deepEqual(Array.from(wide.w.subarray(0, 5)), [1000, 1000, 700, 300, 600]);
  assert.equal(wide.node[hit(wide, 750, 2)], findPath(tree, [1, 3]));
  assert.equal(hit(wide, 750, 3), -1);
  const narrow = layOut(tree, weights, "bytes", kRoot, 1.2);
  assert.equal(narrow.node.subarray(0, narrow.count).indexOf(findPath(tree, [1, 3])), -1);

  const zoomed = layOut(tree, weights, "bytes", findPath(tree, [1, 3]), 1000);
  assert.equal(zoomed.count, 3);
  assert.ok(zoomed.w.subarray(0, 3).every((w) => w === 1000));
});

test("a search counts a match within a match once", () => {
  const tree = buildTree(data, { machinery: false, typeLeaves: true });
  const weights = weigh(data, tree, kAll);
  const search = (pattern: string) => {
    const regex = compile(pattern);
    assert.ok(regex.ok);
    return find(tree, weights, "bytes", matchNames(data, regex.value));
  };
  const parse = search("parse");
  assert.equal(parse.weight, 70);
  assert.equal(parse.outermost.length, 1);
  assert.equal(parse.node.reduce((a, b) => a + b, 0), 2);
  assert.equal(search("byte\\[\\]").weight, 50);
  assert.equal(search("nowhere").outermost.length, 0);
  assert.equal(search("PARSE").outermost.length, 0, "a capital letter makes case count");
  assert.ok(!compile("(").ok);
});

test("tables", () => {
  const tree = buildTree(data, { machinery: false, typeLeaves: true });
  const weights = weigh(data, tree, kAll);
  const types = typeRows(data, tree, { ...kAll, type: 0 as TypeId }, kRoot);
  assert.deepEqual(Array.from(types.value.bytes), [50, 50], "picking a type leaves the others in the table");

  const below = typeRows(data, tree, kAll, findPath(tree, [1, 2]));
  const byName = Object.fromEntries(Array.from({ length: below.size }, (_, r) => [below.name(r), below.value.bytes[r]]));
  assert.deepEqual(byName, { string: 50, "byte[]": 20 });

  const methods = methodRows(data, tree, weights, kRoot);
  const parse = Array.from({ length: methods.size }, (_, r) => r).find((r) => methods.name(r) === "Acme.Text.Parse")!;
  assert.equal(methods.value.bytes[parse], 70, "recursion counts once");
  assert.equal(methods.self!.bytes[parse], 70);
  assert.equal(orderRows(methods, "bytes", false, "bytes", "")[0], 0);
  assert.equal(orderRows(methods, "name", true, "bytes", "acme").length, 2);

  const sites = siteRows(data, tree, kAll, kRoot);
  const found = Array.from({ length: sites.size }, (_, r) => `${sites.name(r)} ${sites.value.bytes[r]}`).sort();
  assert.deepEqual(found, ["Acme.Text.Parse byte[] 20", "Acme.Text.Parse string 50", "Acme.Web.Handle byte[] 30"]);

  assert.deepEqual(topTypes(data, tree, kAll, findPath(tree, [1, 2]), "bytes").map((t) => t.value), [50, 20]);
});

test("rates keep the amount", () => {
  const rate = rateOverTime(data, kAll, "bytes", 20)!;
  assert.equal(rate.end, 10);
  const sum = rate.perSecond.reduce((a, b) => a + b, 0) * 0.5;
  assert.ok(Math.abs(sum - 100) < 1e-9);
  assert.ok(Math.abs(rate.most - 60) < 1e-9);
});
