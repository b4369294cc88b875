// SPDX-License-Identifier: Apache-2.0
// What src/export/gc_html.cc packs, as columns of numbers; NaN = unknown.
import { fromBase64, inflate } from "../base/bytes.ts";
import { type Result, fail, ok } from "../base/result.ts";

export const kGenerations = ["gen0", "gen1", "gen2", "loh", "poh"] as const;
export type Generation = (typeof kGenerations)[number];

const kColumns = [
  "count", "number", "last_number", "generation", "type", "reason", "induced", "start_ms", "end_ms",
  "pause_ms", "max_pause_ms", "suspend_ms", "ran_ms", "peak_bytes", "promoted_bytes", "allocated_bytes",
  "gen0_bytes", "gen1_bytes", "gen2_bytes", "loh_bytes", "poh_bytes",
  "gen0_survived_percent", "gen1_survived_percent", "gen2_survived_percent", "loh_survived_percent",
  "poh_survived_percent", "fragmentation_bytes", "committed_bytes", "pinned_objects", "heaps",
  "memory_load_percent", "marks",
] as const;
export type Column = (typeof kColumns)[number];

export interface Percentiles { readonly p50: number | null; readonly p95: number | null; readonly p99: number | null; readonly max: number | null }
export interface Rollup {
  readonly generation: number | "all";
  readonly background: boolean | null;
  readonly count: number;
  readonly induced: number;
  readonly pause_total_ms: number;
  readonly pause_mean_ms: number | null;
  readonly pause_ms: Percentiles;
  readonly suspend_max_ms: number | null;
  readonly allocated_bytes: number | null;
  readonly promoted_bytes: number | null;
  readonly peak_max_bytes: number | null;
}
export interface Advice { readonly rule: string; readonly evidence: string; readonly advice: string; readonly setting: string }
export interface Detail {
  readonly all: number | null;
  readonly types: readonly (readonly [number, number])[];
  readonly sites: readonly (readonly [number, number, number])[];
  readonly stack: readonly number[];
}
export interface Process {
  readonly pid: number;
  readonly name: string | null;
  readonly command_line: string | null;
  readonly runtime: string | null;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly gc_server: boolean | null;
  readonly heap_count_max: number | null;
  readonly gcs: number;
  readonly gcs_incomplete: number;
  readonly gcs_maybe_touched_by_loss: number;
  readonly gcs_missing: number;
  readonly pause_total_ms: number;
  readonly pause_percent: number | null;
  readonly pause_ms: Percentiles;
  readonly suspend_ms: Percentiles;
  readonly peak_max_bytes: number | null;
  readonly by_generation: readonly Rollup[];
  readonly pause_histogram: readonly { from_ms: number; to_ms: number; count: number }[];
  readonly pause_share: readonly { start_ms: number; end_ms: number; paused_ms: number }[];
  readonly advice: readonly Advice[];
  readonly induced_by: readonly { gcs: number; pause_ms: number; stack: readonly string[] | null }[];
  readonly pause_by_type: { pause_ms: number; types: readonly { type: string; pause_ms: number; allocated_estimate_bytes: number }[] } | null;
  readonly rows: number;
  readonly columns: Readonly<Record<Column, Float64Array>>;
  readonly details: Readonly<Record<string, Detail>>;
}
export interface GcPage {
  readonly file: string | null;
  readonly startUnixMs: number;
  readonly durationMs: number;
  readonly complete: boolean;
  readonly losses: readonly { count: number; sentence: string }[];
  readonly reasons: readonly string[];
  readonly names: readonly string[];
  readonly processes: readonly Process[];
}

type Raw = Readonly<Record<string, unknown>>;

export function decodePage(json: Raw): Result<GcPage> {
  if (json["format"] !== 1) return fail(`The data has format ${String(json["format"])}; this page reads format 1.`);
  const processes = (json["processes"] as Raw[]).map((p) => {
    const raw = p["columns"] as Readonly<Record<string, (number | null)[]>>;
    const rows = raw["number"]?.length ?? 0;
    const columns = Object.fromEntries(
      kColumns.map((name) => {
        const from = raw[name];
        if (!from || from.length !== rows) throw new Error(`no column ${name}`);
        return [name, Float64Array.from(from, (v) => v ?? Number.NaN)];
      }),
    );
    return { ...p, rows, columns } as unknown as Process;
  });
  return ok({
    file: json["file"] as string | null,
    startUnixMs: json["start_unix_ms"] as number,
    durationMs: json["duration_ms"] as number,
    complete: json["complete"] as boolean,
    losses: json["losses"] as GcPage["losses"],
    reasons: json["reasons"] as string[],
    names: json["names"] as string[],
    processes,
  });
}

export async function loadPage(text: string): Promise<Result<GcPage>> {
  const packed = fromBase64(text.trim());
  if (!packed.ok) return packed;
  const bytes = await inflate(packed.value);
  if (!bytes.ok) return bytes;
  try {
    return decodePage(JSON.parse(new TextDecoder().decode(bytes.value)) as Raw);
  } catch {
    return fail("The data in this report is damaged: it cannot be read. Copy the file again.");
  }
}
