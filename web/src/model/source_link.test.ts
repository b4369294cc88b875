// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { lineAddress } from "./source_link.ts";

test("a line's address is where a person reads it", () => {
  assert.equal(lineAddress("https://example.com/src/A%20b.cs", 12), "https://example.com/src/A%20b.cs#L12");
  assert.equal(
    lineAddress("https://raw.githubusercontent.com/acme/shop/0123abcd/src/Load.cs", 7),
    "https://github.com/acme/shop/blob/0123abcd/src/Load.cs#L7",
  );
  assert.equal(
    lineAddress("https://gitlab.com/acme/back/shop/-/raw/0123abcd/src/Load.cs", 7),
    "https://gitlab.com/acme/back/shop/-/blob/0123abcd/src/Load.cs#L7",
  );
});

test("only https is linked", () => {
  for (const url of ["", "http://example.com/A.cs", "javascript:alert(1)", "data:text/html,x", "//example.com/A.cs", "https://", "https://a@b/c", "nonsense"]) {
    assert.equal(lineAddress(url, 1), null, url);
  }
});
