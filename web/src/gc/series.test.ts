// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodePage } from "./data.ts";
import { largestPerPixel, rowsIn, sortedRows, stacked, ticks, timeLabel, timeTicks } from "./series.ts";

test("ticks are round and reach the largest value", () => {
  assert.deepEqual(ticks(10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(0.3, 3), [0, 0.1, 0.2, 0.30000000000000004]);
  assert.deepEqual(ticks(100 * 1024 ** 2, 4, true).map((v) => v / 1024 ** 2), [0, 32, 64, 96]);
  assert.deepEqual(ticks(0, 4), [0]);
});

test("time ticks lie in the range, labelled by their step", () => {
  assert.deepEqual(timeTicks({ from: 950, to: 5200 }, 5), [1000, 2000, 3000, 4000, 5000]);
  assert.equal(timeLabel(350, 50), "350 ms");
  assert.equal(timeLabel(12000, 2000), "12 s");
  assert.equal(timeLabel(65000, 5000), "1:05");
  assert.equal(timeLabel(7380000, 60000), "2:03:00");
});

test("rows of a range", () => {
  const starts = Float64Array.of(1, 2, 2, 3, 9);
  assert.deepEqual(rowsIn(starts, { from: 2, to: 3 }), [1, 4]);
  assert.deepEqual(rowsIn(starts, { from: 4, to: 8 }), [4, 4]);
});

test("of many rows in a pixel the largest is drawn", () => {
  const starts = Float64Array.of(0, 1, 2, 50, 99);
  const values = Float64Array.of(3, 7, Number.NaN, 1, 2);
  const got = largestPerPixel(starts, values, { from: 0, to: 100 }, 10);
  assert.deepEqual([...got], [1, -1, -1, -1, -1, 3, -1, -1, -1, 4]);
});

test("stacks add up and unknown counts as nothing", () => {
  const [a, b, c] = stacked([Float64Array.of(1, 2), Float64Array.of(10, Number.NaN), Float64Array.of(100, 100)]);
  assert.deepEqual([...a!], [1, 2]);
  assert.deepEqual([...b!], [11, 2]);
  assert.deepEqual([...c!], [111, 102]);
});

test("unknown values are last however one sorts", () => {
  const values = Float64Array.of(5, Number.NaN, 7, 1);
  const all = Uint32Array.of(0, 1, 2, 3);
  assert.deepEqual([...sortedRows(all, values, false)], [3, 0, 2, 1]);
  assert.deepEqual([...sortedRows(all, values, true)], [2, 0, 3, 1]);
});

test("data of another format is refused", () => {
  const got = decodePage({ format: 2 });
  assert.equal(got.ok, false);
});
