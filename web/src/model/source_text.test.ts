// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { kLongest, shownLine, splitLines } from "./source_text.ts";

test("tabs are columns", () => {
  assert.equal(shownLine("\tint a;\t// b"), "    int a;  // b");
  assert.equal(shownLine("ab\tc"), "ab  c");
  assert.equal(shownLine("\t"), "");
  assert.equal(shownLine("x = 1; "), "x = 1; ");
});

test("what nobody could see is spelt out", () => {
  assert.equal(shownLine("a\u202eb\u0000c\r"), "a‹U+202E›b‹U+0000›c");
});

test("very long lines are cut and say so", () => {
  assert.equal(shownLine("x".repeat(kLongest)).length, kLongest);
  assert.match(shownLine("x".repeat(kLongest + 5)), /^x+ … 5 more characters$/);
  // Not within a pair.
  assert.match(shownLine("x".repeat(kLongest - 1) + "😀😀"), /x … 4 more characters$/);
});

test("a text is its lines", () => {
  assert.deepEqual(splitLines(""), []);
  assert.deepEqual(splitLines("\ufeffa\n\nb\n"), ["a", "", "b"]);
  assert.deepEqual(splitLines("a\n\n"), ["a", ""]);
  assert.deepEqual(splitLines("a"), ["a"]);
});
