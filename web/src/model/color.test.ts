// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, frameworkFill, hslToRgb, kText, pseudoFill, typeFill, typeText, userFill } from "./color.ts";

test("hsl", () => {
  assert.deepEqual(hslToRgb(0, 100, 50), [255, 0, 0]);
  assert.deepEqual(hslToRgb(120, 100, 25), [0, 128, 0]);
  assert.deepEqual(hslToRgb(0, 0, 100), [255, 255, 255]);
});

test("every label has a contrast of at least 4.5:1", () => {
  for (const theme of ["light", "dark"] as const) {
    const text = kText[theme];
    for (let rank = 0; rank < 48; rank++) {
      assert.ok(contrast(text, userFill(theme, rank)) >= 4.5, `${theme} module ${rank}`);
      assert.ok(contrast(text, frameworkFill(theme, rank)) >= 4.5, `${theme} framework ${rank}`);
    }
    assert.ok(contrast(text, pseudoFill(theme)) >= 4.5);
    assert.ok(contrast(typeText(theme), typeFill(theme)) >= 4.5);
  }
});
