// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Meta, ProfileData, Quantity } from "../data/profile.ts";
import { metricsOf } from "./estimate.ts";
import { sampleData } from "./sample_data.ts";
import { createState } from "./state.ts";
import { siteRows } from "./tables.ts";
import { tabsOf } from "./url.ts";

const number = (name: string): Quantity => ({ name, heading: name, unit: "number" });
function events(shows: "exceptions" | "locks", words: Partial<Meta>): ProfileData {
  const data = sampleData();
  return { ...data, meta: { ...data.meta, shows, heaps: false, events: true, hasInterval: false, ...words } };
}
const exceptions = events("exceptions", {
  amountFirst: false,
  quantity: { bytes: number("rethrows"), objects: number("count") },
});
const locks = events("locks", {
  typed: false,
  quantity: { bytes: { name: "wait_ns", heading: "Waited", unit: "ns" }, objects: number("count") },
});

test("a view offers what it has, its first quantity first", () => {
  assert.deepEqual(metricsOf(sampleData().meta), ["bytes", "objects", "samples"]);
  assert.deepEqual(metricsOf({ ...sampleData().meta, objectsKnown: false }), ["bytes", "samples"]);
  assert.deepEqual(metricsOf(exceptions.meta), ["objects", "bytes"]);
  assert.deepEqual(metricsOf(locks.meta), ["bytes", "objects"]);
  assert.deepEqual(tabsOf(locks.meta), ["sites", "methods", "threads"]);
  assert.deepEqual(tabsOf({ ...locks.meta, byThread: false }), ["sites", "methods"]);
});

test("a choice that a view does not have is its first", () => {
  const state = createState([sampleData(), exceptions, locks], "#metric=samples&tab=types&heap=0&type=1", null);
  assert.equal(state.metric.value, "samples");
  state.show("exceptions");
  assert.equal(state.metric.value, "objects");
  assert.equal(state.selection.value.kind, null, "exceptions have no heap");
  assert.equal(state.selection.value.type, 1);
  state.metric.value = "bytes";
  assert.match(state.hash.value, /metric=bytes/);
  state.show("locks");
  assert.equal(state.metric.value, "bytes");
  assert.doesNotMatch(state.hash.value, /metric=/);
  assert.equal(state.tab.value, "sites");
  assert.equal(state.selection.value.type, null, "locks have no type");
  assert.equal(state.tree.value.what.some((w) => w < 0), false);
  state.tab.value = "types";
  assert.equal(state.tab.value, "sites");
  state.show("allocated");
  assert.equal(state.tab.value, "types");
  assert.equal(state.selection.value.kind, 0);
});

test("sites without types are one row each", () => {
  const state = createState([locks], "", null);
  const rows = siteRows(locks, state.tree.value, state.selection.value, state.zoom.value);
  assert.equal(rows.type, null);
  assert.deepEqual(Array.from({ length: rows.size }, (_, r) => rows.name(r)).sort(), ["Acme.Text.Parse", "Acme.Web.Handle"]);
});
