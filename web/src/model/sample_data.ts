// SPDX-License-Identifier: Apache-2.0
// A small profile for unit tests.
import { kFramework, kMachinery, type ProfileData } from "../data/profile.ts";
import { makeEstimates } from "./estimate.ts";

// all
// ├ Pool (plumbing) ─ Handle ─ Parse ─ Parse        string 40, byte[] 20 (inner Parse), string 10
// └ Handle ─ System.Alloc                           byte[] 30
export function sampleData(): ProfileData {
  const frames = [
    { name: "System.Pool.Run", module: "System.Core", raw: "", flags: kFramework | kMachinery },
    { name: "Acme.Web.Handle", module: "Acme.Web", raw: "", flags: 0 },
    { name: "Acme.Text.Parse", module: "Acme.Text", raw: "", flags: 0 },
    { name: "System.Alloc", module: "System.Core", raw: "", flags: kFramework },
  ];
  const cells: [node: number, type: number, bytes: number, kind: number, process: number][] = [
    [3, 0, 10, 0, 0],
    [4, 0, 40, 0, 0],
    [4, 1, 20, 1, 0],
    [6, 1, 30, 0, 1],
  ];
  const value = makeEstimates(cells.length);
  cells.forEach(([, , bytes], i) => {
    value.samples[i] = 1;
    value.bytes[i] = bytes;
    value.objects[i] = bytes / 10;
  });
  const process = { pid: 1, name: "a", commandLine: "", runtime: "", os: "", arch: "", mainModule: "", start: 0, end: 1, complete: true };
  return {
    meta: {
      source: "sampled",
      also: [],
      biased: false,
      hasInterval: true,
      exact: false,
      shows: "allocated",
      title: "allocations",
      done: "is allocated",
      doing: "allocating",
      place: "Allocated in",
      none: "",
      note: "",
      typed: true,
      heaps: true,
      byThread: true,
      events: false,
      amountFirst: true,
      quantity: {
        bytes: { name: "bytes", heading: "Bytes", unit: "bytes" },
        objects: { name: "objects", heading: "Objects", unit: "number" },
      },
      event: "AllocationSampled",
      at: 0,
      objectsKnown: true,
      startUnixMs: 0,
      duration: 10,
      complete: true,
      origin: "",
      processes: [process, { ...process, pid: 2 }],
      threads: [
        { process: 0, thread: 11, name: "main" },
        { process: 1, thread: 12, name: "" },
      ],
      losses: [],
      foldedNodes: 0,
      foldedTypes: 0,
      foldedThreads: 0,
      gcs: 0,
      total: { samples: 4, bytes: 100, objects: 10 },
    },
    frames,
    types: [
      { name: "string", raw: "System.String" },
      { name: "byte[]", raw: "System.Byte[]" },
    ],
    nodes: {
      parent: Uint32Array.of(0, 0, 1, 2, 3, 0, 5),
      frame: Uint32Array.of(0, 0, 1, 2, 2, 1, 3),
      folded: new Uint32Array(7),
    },
    lines: null,
    cells: {
      node: Uint32Array.from(cells, (c) => c[0]),
      type: Uint32Array.from(cells, (c) => c[1]),
      process: Uint32Array.from(cells, (c) => c[4]),
      thread: Uint32Array.of(1, 1, 0, 2), // of the byte[] of 20 nobody knows it
      kind: Uint8Array.from(cells, (c) => c[3]),
      age: null,
      value,
    },
    ages: {
      starts: [0, 10, 60],
      at: new Float64Array(0),
      process: new Uint32Array(0),
      kind: new Uint8Array(0),
      bucket: new Uint8Array(0),
      bytes: new Float64Array(0),
      objects: new Float64Array(0),
    },
    times: {
      start: Float64Array.of(0, 1),
      end: Float64Array.of(1, 2),
      process: Uint32Array.of(0, 0),
      kind: Uint8Array.of(0, 0),
      bytes: Float64Array.of(60, 40),
      objects: Float64Array.of(6, 4),
      samples: Float64Array.of(3, 1),
    },
    gcs: {
      start: new Float64Array(0),
      end: new Float64Array(0),
      process: new Uint32Array(0),
      number: new Uint32Array(0),
      generation: new Uint8Array(0),
    },
  };
}
