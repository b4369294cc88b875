// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBase64, inflate, joinPlanes } from "../base/bytes.ts";
import { decode, loadProfile } from "./decode.ts";

test("planes become values again", () => {
  const values = Uint32Array.of(1, 0x01020304, 0xffffffff);
  const bytes = new Uint8Array(values.buffer);
  const planes = new Uint8Array(1 + bytes.length);
  for (let b = 0; b < 4; b++) for (let i = 0; i < 3; i++) planes[1 + b * 3 + i] = bytes[i * 4 + b]!;
  assert.deepEqual(new Uint32Array(joinPlanes(planes, 1, 3, 4)), values);
});

test("damage is told in words, never thrown", async () => {
  assert.ok(!fromBase64("*").ok);
  assert.ok(!(await inflate(Uint8Array.of(1, 2, 3))).ok);
  assert.ok(!(await loadProfile("")).ok);
  assert.ok(!decode(new Uint8Array(0)).ok);
  assert.ok(!decode(new TextEncoder().encode("CLRPxxxxxxxxxxxx")).ok);
  const short = Uint8Array.from([0x43, 0x4c, 0x52, 0x50, 1, 0, 0, 0, 255, 0, 0, 0, 0x7b]);
  const result = decode(short);
  assert.ok(!result.ok && result.error.includes("cut short"));
});
