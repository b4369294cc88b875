// SPDX-License-Identifier: Apache-2.0
// The text of the page's data element → ProfileData.
import { fromBase64, inflate } from "../base/bytes.ts";
import { printable } from "../base/format.ts";
import { type Result, fail, ok } from "../base/result.ts";
import type { Estimates } from "../base/estimates.ts";
import { type Container, openContainer } from "./container.ts";
import { addGcCpu } from "./gc_cpu.ts";
import { readLines } from "./lines.ts";
import type { Frame, Meta, ProfileData, TypeInfo, ViewMeta } from "./profile.ts";

// The views of a recording, at least one; the first one is shown first.
export async function loadProfile(base64: string): Promise<Result<readonly ProfileData[]>> {
  const packed = fromBase64(base64.trim());
  if (!packed.ok) return packed;
  const bytes = await inflate(packed.value);
  if (!bytes.ok) return bytes;
  return decode(bytes.value);
}

export function decode(bytes: Uint8Array): Result<readonly ProfileData[]> {
  try {
    const container = openContainer(bytes);
    return container.ok ? ok(read(container.value)) : container;
  } catch (error) {
    return fail(`The data in this report is damaged: ${String(error)}.`);
  }
}

// Running sums undo the exporter's steps from row to row.
function runningSum(steps: Uint32Array): Uint32Array {
  for (let i = 1; i < steps.length; i++) steps[i]! += steps[i - 1]!;
  return steps;
}

function take<T extends Float64Array | Uint8Array>(column: T, rows: Uint32Array, out: T): T {
  for (let i = 0; i < rows.length; i++) out[i] = column[rows[i]!]!;
  return out;
}

function readValues(c: Container, prefix: string): Estimates {
  const rows = c.u32(`${prefix}_value`);
  const column = (name: string) => take(c.f64(`${prefix}_of_${name}`), rows, new Float64Array(rows.length));
  return {
    samples: column("samples"),
    bytes: column("bytes"),
    objects: column("objects"),
    seenBytes: column("seen_bytes"),
    seenObjects: column("seen_objects"),
    varBytes: column("var_bytes"),
    varObjects: column("var_objects"),
    maxBytes: column("max_bytes"),
    maxObjects: column("max_objects"),
    manySizes: take(c.u8(`${prefix}_of_many_sizes`), rows, new Uint8Array(rows.length)),
  };
}

function readTimes(c: Container, prefix: string): ProfileData["times"] {
  return {
    start: c.f64(`${prefix}_start`),
    end: c.f64(`${prefix}_end`),
    process: c.u32(`${prefix}_process`),
    kind: c.u8(`${prefix}_kind`),
    bytes: c.f64(`${prefix}_bytes`),
    objects: c.f64(`${prefix}_objects`),
    samples: c.f64(`${prefix}_samples`),
  };
}

function readCells(c: Container, prefix: string, threads: boolean): ProfileData["cells"] {
  return {
    node: runningSum(c.u32(`${prefix}_step`)),
    type: c.u32(`${prefix}_type`),
    process: c.u32(`${prefix}_process`),
    thread: threads && c.has(`${prefix}_thread`) ? c.u32(`${prefix}_thread`) : null,
    kind: c.u8(`${prefix}_kind`),
    age: prefix === "live" ? c.u8("live_age") : null,
    value: readValues(c, prefix),
  };
}

// Printable names throughout, so that no view has to think of it.
function readMeta(json: Container["json"]): Meta {
  const meta = json as unknown as Meta;
  return {
    ...meta,
    origin: printable(meta.origin),
    threads: meta.threads.map((t) => ({ ...t, name: printable(t.name) })),
    processes: meta.processes.map((p) => ({
      ...p,
      name: printable(p.name),
      commandLine: printable(p.commandLine),
      runtime: printable(p.runtime),
      os: printable(p.os),
      arch: printable(p.arch),
      mainModule: printable(p.mainModule),
    })),
  };
}

function read(c: Container): ProfileData[] {
  const strings = (c.json["strings"] as string[]).map(printable);
  const text = (id: number) => strings[id] ?? "";

  const frameName = c.u32("frame_name");
  const frameModule = c.u32("frame_module");
  const frameRaw = c.u32("frame_raw");
  const frameFlags = c.u8("frame_flags");
  const frames: Frame[] = Array.from(frameName, (id, i) => {
    const name = text(id) || "(unnamed)";
    return { name, module: text(frameModule[i]!), raw: text(frameRaw[i]!) || name, flags: frameFlags[i]! };
  });

  const typeName = c.u32("type_name");
  const typeRaw = c.u32("type_raw");
  const typeDup = c.u32("type_dup");
  const types: TypeInfo[] = Array.from(typeName, (id, i) => {
    const dup = typeDup[i]! > 0 ? ` #${typeDup[i]! + 1}` : "";
    const name = text(id) || "(unnamed type)";
    return { name: name + dup, raw: text(typeRaw[i]!) || name };
  });

  const parent = c.u32("node_back");
  for (let i = 0; i < parent.length; i++) parent[i] = i - parent[i]!;

  const meta = readMeta(c.json);
  const shared = {
    frames,
    types,
    nodes: { parent, frame: c.u32("node_frame"), folded: c.u32("node_folded") },
    lines: readLines(c),
    ages: {
      starts: c.json["ageStarts"] as number[],
      at: c.f64("age_at"),
      process: c.u32("age_process"),
      kind: c.u8("age_kind"),
      bucket: c.u8("age_bucket"),
      bytes: c.f64("age_bytes"),
      objects: c.f64("age_objects"),
    },
    times: readTimes(c, "time"),
    gcs: {
      start: c.f64("gc_start"),
      end: c.f64("gc_end"),
      process: c.u32("gc_process"),
      number: c.u32("gc_number"),
      generation: c.u8("gc_generation"),
    },
  };
  const views = c.json["views"] as ViewMeta[];
  const profiles = views
    .filter((v) => v.shows !== "gc-cpu")
    .map((v) => ({
      ...shared,
      meta: { ...meta, ...v },
      cells: readCells(c, v.shows === "allocated" ? "cell" : v.shows, v.byThread),
      times: v.events ? readTimes(c, `${v.shows}_time`) : shared.times,
    }));
  const gcCpu = views.find((v) => v.shows === "gc-cpu");
  if (!gcCpu) return profiles;
  return addGcCpu(profiles, { ...meta, ...gcCpu }, {
    start: c.f64("cpu_start"),
    end: c.f64("cpu_end"),
    process: c.u32("cpu_process"),
    whole: c.f64("cpu_whole"),
    server: c.f64("cpu_server"),
    background: c.f64("cpu_background"),
    workstation: c.f64("cpu_workstation"),
  });
}
