// SPDX-License-Identifier: Apache-2.0
// The collector's CPU time as a profile of its own: one frame for it, one for everything else, so
// that it is looked at like any other.
import type { Estimates } from "../base/estimates.ts";
import { kFramework, type Meta, type ProfileData } from "./profile.ts";

// Seconds of CPU time by span and process; -1 = unknown.
export interface CpuRows {
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly process: Uint32Array;
  readonly whole: Float64Array;
  readonly server: Float64Array;
  readonly background: Float64Array;
  readonly workstation: Float64Array;
}

// Frames and the nodes that they make: node i + 1 is frame i, below node `parent`.
const kParts = [
  { name: "Garbage Collector", module: "garbage collector", flags: 0, parent: 0 },
  { name: "Server GC threads", module: "garbage collector", flags: 0, parent: 1 },
  { name: "Background GC threads", module: "garbage collector", flags: 0, parent: 1 },
  { name: "Collections on the program's threads", module: "garbage collector", flags: 0, parent: 1 },
  { name: "Rest of the process", module: "the process", flags: kFramework, parent: 0 },
] as const;

const gcOf = (rows: CpuRows, i: number): number =>
  Math.max(0, rows.server[i]!) + Math.max(0, rows.background[i]!) + Math.max(0, rows.workstation[i]!);

// Of the view that addGcCpu() makes: what the collector used, over all processes.
export const gcSeconds = (view: ProfileData): number => view.times.bytes.reduce((a, b) => a + b, 0);

// Whatever metric is in use, it is the CPU time.
function asEstimates(seconds: Float64Array): Estimates {
  const none = new Float64Array(seconds.length);
  return {
    samples: seconds,
    bytes: seconds,
    objects: seconds,
    seenBytes: none,
    seenObjects: none,
    varBytes: none,
    varObjects: none,
    maxBytes: none,
    maxObjects: none,
    manySizes: new Uint8Array(seconds.length),
  };
}

// The views with one of CPU time behind them; all of them know its frames, so that their numbers
// mean the same everywhere.
export function addGcCpu(views: readonly ProfileData[], meta: Omit<Meta, "total">, rows: CpuRows): ProfileData[] {
  const like = views[0];
  if (!like) return [];
  const frames = [...like.frames, ...kParts.map((p) => ({ name: p.name, module: p.module, raw: p.name, flags: p.flags }))];

  const sums = new Map<number, number[]>(); // process → seconds of each part
  const times = { start: [] as number[], end: [] as number[], process: [] as number[], gc: [] as number[] };
  for (let i = 0; i < rows.start.length; i++) {
    const process = rows.process[i]!;
    const parts = sums.get(process) ?? [0, 0, 0, 0, 0];
    sums.set(process, parts);
    const gc = gcOf(rows, i);
    parts[1]! += Math.max(0, rows.server[i]!);
    parts[2]! += Math.max(0, rows.background[i]!);
    parts[3]! += Math.max(0, rows.workstation[i]!);
    parts[4]! += Math.max(0, rows.whole[i]! - gc);
    times.start.push(rows.start[i]!);
    times.end.push(rows.end[i]!);
    times.process.push(process);
    times.gc.push(gc);
  }
  const cells = [...sums].flatMap(([process, parts]) =>
    parts.map((seconds, part) => ({ node: part + 1, process, seconds })).filter((c) => c.seconds > 0),
  );
  const seconds = Float64Array.from(cells, (c) => c.seconds);
  const all = seconds.reduce((a, b) => a + b, 0);
  const gc = Float64Array.from(times.gc);
  const view: ProfileData = {
    ...like,
    meta: { ...meta, total: { samples: all, bytes: all, objects: all } },
    frames,
    nodes: {
      parent: Uint32Array.of(0, ...kParts.map((p) => p.parent)),
      frame: Uint32Array.of(0, ...kParts.map((_, i) => like.frames.length + i)),
      folded: new Uint32Array(kParts.length + 1),
    },
    lines: null,
    cells: {
      node: Uint32Array.from(cells, (c) => c.node),
      type: new Uint32Array(cells.length),
      process: Uint32Array.from(cells, (c) => c.process),
      thread: null,
      kind: new Uint8Array(cells.length),
      age: null,
      value: asEstimates(seconds),
    },
    times: {
      start: Float64Array.from(times.start),
      end: Float64Array.from(times.end),
      process: Uint32Array.from(times.process),
      kind: new Uint8Array(times.start.length),
      bytes: gc,
      objects: gc,
      samples: gc,
    },
  };
  return [...views.map((v) => ({ ...v, frames })), view];
}
