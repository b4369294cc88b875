// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ViewState, fromHash, kInitial, toHash } from "./url.ts";

test("the initial view has no fragment", () => {
  assert.equal(toHash(kInitial), "");
  assert.deepEqual(fromHash(""), kInitial);
});

test("every view comes back from its fragment", () => {
  const view: ViewState = {
    shows: "live",
    metric: "samples",
    flame: true,
    machinery: true,
    typeLeaves: false,
    zoom: [0, 35, 71234, -3],
    query: "List<T>\\.Add|a&b=c #1",
    type: 12,
    process: 1,
    thread: 2,
    kind: 2,
    age: 600,
    theme: "dark",
    source: false,
    tab: "sites",
  };
  assert.deepEqual(fromHash(`#${toHash(view)}`), view);
});

test("nonsense is as if it were not there", () => {
  const view = fromHash("#metric=apples&zoom=..%00.-.zzzzzzzzzzz&type=-1&process=x&heap=1e9&theme=pink&tab=&view=1&shows=dead&older=x");
  assert.deepEqual(view, kInitial);
});
