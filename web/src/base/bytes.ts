// SPDX-License-Identifier: Apache-2.0
// base64 and zlib as the browser has them, and the byte planes of html_data.cc.
import { type Result, fail, ok } from "./result.ts";

export function fromBase64(text: string): Result<Uint8Array<ArrayBuffer>> {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return fail("The data in this report is damaged: it is not base64. Copy the file again.");
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return ok(bytes);
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Result<Uint8Array<ArrayBuffer>>> {
  if (typeof DecompressionStream === "undefined") {
    return fail(
      "This browser is too old to unpack the report: it has no DecompressionStream. Open it in " +
        "Chrome or Edge 80, Firefox 113 or Safari 16.4, or anything newer.",
    );
  }
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return ok(new Uint8Array(await new Response(stream).arrayBuffer()));
  } catch {
    return fail("The data in this report is damaged: it cannot be unpacked. Copy the file again.");
  }
}

// Undoes the byte planes: n values of `width` bytes, stored as `width` runs of n bytes.
export function joinPlanes(bytes: Uint8Array, at: number, n: number, width: number): ArrayBuffer {
  const out = new Uint8Array(n * width);
  for (let b = 0; b < width; b++) {
    const plane = at + b * n;
    for (let i = 0, o = b; i < n; i++, o += width) out[o] = bytes[plane + i]!;
  }
  return out.buffer;
}
