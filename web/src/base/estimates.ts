// SPDX-License-Identifier: Apache-2.0
// The shape of estimates: additive columns, and what an interval is.

export interface Interval {
  readonly low: number;
  readonly high: number;
}

// Columns of profile::Estimate, one entry per row: a cell, a node, a table row.
export interface Estimates {
  readonly samples: Float64Array;
  readonly bytes: Float64Array;
  readonly objects: Float64Array;
  readonly seenBytes: Float64Array;
  readonly seenObjects: Float64Array;
  readonly varBytes: Float64Array;
  readonly varObjects: Float64Array;
  readonly maxBytes: Float64Array;
  readonly maxObjects: Float64Array;
  readonly manySizes: Uint8Array; // 1: of a type, in part at least, of which several sizes were seen
}
