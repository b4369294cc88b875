// SPDX-License-Identifier: Apache-2.0
// The container that src/export/html_data.cc packs: JSON, then columns as byte planes.
import { joinPlanes } from "../base/bytes.ts";
import { type Result, fail, ok } from "../base/result.ts";

interface ColumnInfo {
  readonly name: string;
  readonly type: "u8" | "u32" | "f32" | "f64";
  readonly count: number;
}

export interface Container {
  readonly json: Readonly<Record<string, unknown>>;
  has(name: string): boolean;
  u8(name: string): Uint8Array;
  u32(name: string): Uint32Array;
  f64(name: string): Float64Array; // widens f32
}

const kWidths = { u8: 1, u32: 4, f32: 4, f64: 8 } as const;
const kHeaderBytes = 12;

export function openContainer(bytes: Uint8Array): Result<Container> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < kHeaderBytes || view.getUint32(0, true) !== 0x50524c43) {
    return fail("This file holds no clrscope data.");
  }
  const version = view.getUint32(4, true);
  if (version !== 1) return fail(`The data has format ${version}; this page reads format 1.`);
  const jsonBytes = view.getUint32(8, true);
  if (jsonBytes > bytes.length - kHeaderBytes) return fail("The data in this report is cut short.");
  const json = JSON.parse(
    new TextDecoder().decode(bytes.subarray(kHeaderBytes, kHeaderBytes + jsonBytes)),
  ) as Record<string, unknown>;

  const columns = new Map<string, { info: ColumnInfo; at: number }>();
  let at = kHeaderBytes + jsonBytes;
  for (const info of json["columns"] as ColumnInfo[]) {
    columns.set(info.name, { info, at });
    at += info.count * kWidths[info.type];
  }
  if (at !== bytes.length) return fail("The data in this report is cut short.");

  const buffer = (name: string, ...types: ColumnInfo["type"][]): [ArrayBuffer, ColumnInfo] => {
    const column = columns.get(name);
    if (!column || !types.includes(column.info.type)) throw new Error(`no column ${name}`);
    const { info, at: start } = column;
    return [joinPlanes(bytes, start, info.count, kWidths[info.type]), info];
  };
  return ok({
    json,
    has: (name) => columns.has(name),
    u8: (name) => new Uint8Array(buffer(name, "u8")[0]),
    u32: (name) => new Uint32Array(buffer(name, "u32")[0]),
    f64: (name) => {
      const [data, info] = buffer(name, "f64", "f32");
      return info.type === "f64" ? new Float64Array(data) : Float64Array.from(new Float32Array(data));
    },
  });
}
