// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInterval,
  formatNanoseconds,
  formatPerSecond,
  formatPercent,
  formatTime,
  printable,
  shortMethod,
  shortType,
  splitName,
} from "./format.ts";

test("bytes", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [1, "1 B"],
    [1023, "1,023 B"],
    [1024, "1.00 KiB"],
    [10 * 1024, "10.0 KiB"],
    [1023.9 * 1024, "1.00 MiB"],
    [694 * 2 ** 20, "694 MiB"],
    [1.5 * 2 ** 40, "1.50 TiB"],
  ];
  for (const [value, text] of cases) assert.equal(formatBytes(value), text);
});

test("counts", () => {
  assert.equal(formatCount(0), "0");
  assert.equal(formatCount(999_999), "999,999");
  assert.equal(formatCount(1_234_567), "1.23 M");
  assert.equal(formatCount(2.5e9), "2.50 G");
});

test("percentages", () => {
  assert.equal(formatPercent(1, 0), "–");
  assert.equal(formatPercent(0, 5), "0 %");
  assert.equal(formatPercent(1, 1e9), "<0.01 %");
  assert.equal(formatPercent(372, 1000), "37.2 %");
  assert.equal(formatPercent(5, 5), "100 %");
  assert.equal(formatPercent(99_999, 100_000), ">99.9 %");
});

test("intervals are symmetric only where they are", () => {
  assert.equal(formatInterval(100, { low: 95.9, high: 104.3 }, "bytes"), "±4.2 %");
  assert.equal(formatInterval(100, { low: 89, high: 111 }, "bytes"), "±11 %");
  assert.equal(formatInterval(1024, { low: 100, high: 3000 }, "bytes"), "100 B–2.93 KiB");
  assert.equal(formatInterval(2048, { low: 1024, high: 4096 }, "bytes"), "1.00–4.00 KiB");
  assert.equal(formatInterval(50, { low: 12, high: 1200 }, "count"), "12–1,200");
  assert.equal(formatInterval(48, { low: 48, high: 48 }, "count"), "exact");
  assert.equal(formatInterval(0, { low: 0, high: 9 }, "count"), "");
});

test("durations and times", () => {
  assert.equal(formatDuration(0), "0 s");
  assert.equal(formatDuration(0.95), "950 ms");
  assert.equal(formatDuration(12.34), "12.3 s");
  assert.equal(formatDuration(59.99), "1 min 00 s");
  assert.equal(formatDuration(245), "4 min 05 s");
  assert.equal(formatDuration(7620), "2 h 07 min");
  assert.equal(formatTime(Date.UTC(2026, 10, 21, 3, 4, 5)), "2026-11-21 03:04:05 UTC");
  assert.equal(formatTime(0), "");
});

test("names are split outside of brackets", () => {
  assert.deepEqual(splitName("A.B.List<X.Y>.Add", 2), ["A.B.", "List<X.Y>.Add"]);
  assert.deepEqual(splitName("A.Dict<string, C.D>[]", 1), ["A.", "Dict<string, C.D>[]"]);
  assert.deepEqual(splitName("Main", 2), ["", "Main"]);
  assert.deepEqual(splitName("A.B..ctor", 2), ["A.", "B..ctor"]);
  assert.equal(shortMethod("Acme.Orders.OrderService.Load [async]"), "OrderService.Load [async]");
  assert.equal(shortType("System.Collections.Generic.Dictionary<System.String, A.B>[]"), "Dictionary<String, B>[]");
  assert.equal(shortType("byte[]"), "byte[]");
});

test("what cannot be seen is spelt out", () => {
  assert.equal(printable("a\u0000b\u2028c\u202ed"), "a‹U+0000›b‹U+2028›c‹U+202E›d");
  assert.equal(printable("λ0 – naïve 日本"), "λ0 – naïve 日本");
});

test("time and rates of events", () => {
  assert.deepEqual([0, 850, 12_345, 4_560_000, 1.234e9, 65e9].map(formatNanoseconds), [
    "0 s",
    "850 ns",
    "12.3 µs",
    "4.56 ms",
    "1.23 s",
    "1 min 05 s",
  ]);
  assert.deepEqual([0, 0.25, 12.34, 1234].map(formatPerSecond), ["0/s", "0.25/s", "12.3/s", "1,234/s"]);
});
