// SPDX-License-Identifier: Apache-2.0
// Everything that the page shows follows from these signals.
import { computed, signal } from "@preact/signals";
import type { GcPage, Process } from "./data.ts";
import { type Range, sortedRows } from "./series.ts";

export type Theme = "light" | "dark";
export type Kind = "all" | "0" | "1" | "2" | "induced";
export interface Sort { readonly column: string; readonly descending: boolean }

export function createState(page: GcPage, theme: Theme) {
  const processIndex = signal(busiest(page));
  const process = computed<Process>(() => page.processes[processIndex.value]!);
  const whole = computed<Range>(() => {
    const { start_ms: from, end_ms: to, columns } = process.value;
    const last = columns.end_ms.at(-1) ?? to;
    return { from, to: Math.max(to, last, from + 1) };
  });
  const zoom = signal<Range | null>(null);
  const range = computed<Range>(() => zoom.value ?? whole.value);
  const kind = signal<Kind>("all");
  const sort = signal<Sort>({ column: "start_ms", descending: false });
  const selected = signal(-1);
  const hovered = signal<{ row: number; x: number; y: number } | null>(null);
  const derived = computed(() => {
    const c = process.value.columns;
    const after = c.gen0_bytes.map((_, i) => {
      let sum = Number.NaN;
      for (const column of [c.gen0_bytes, c.gen1_bytes, c.gen2_bytes, c.loh_bytes, c.poh_bytes]) {
        if (column[i]! >= 0) sum = (Number.isNaN(sum) ? 0 : sum) + column[i]!;
      }
      return sum;
    });
    const rate = c.allocated_bytes.map((bytes, i) => (c.ran_ms[i]! > 0 ? (bytes / c.ran_ms[i]!) * 1000 : Number.NaN));
    // Merged rows hold sums; beside single ones their means are drawn.
    const promoted = c.promoted_bytes.map((bytes, i) => bytes / c.count[i]!);
    return { after_bytes: after, rate, promoted_each: promoted };
  });
  const column = (name: string): Float64Array =>
    (derived.value as Record<string, Float64Array>)[name] ??
    (process.value.columns as Readonly<Record<string, Float64Array>>)[name]!;
  const rows = computed(() => {
    const { columns: c, rows: n } = process.value;
    const { from, to } = range.value;
    const out = new Uint32Array(n);
    let kept = 0;
    for (let i = 0; i < n; i++) {
      if (c.end_ms[i]! < from || c.start_ms[i]! > to) continue;
      if (kind.value === "induced" ? c.induced[i] !== 1 : kind.value !== "all" && c.generation[i] !== Number(kind.value)) continue;
      out[kept++] = i;
    }
    return sortedRows(out.subarray(0, kept), column(sort.value.column), sort.value.descending);
  });
  return {
    page, processIndex, process, whole, zoom, range, kind, sort, selected, hovered, derived, column, rows,
    theme: signal<Theme>(theme),
  };
}
export type State = ReturnType<typeof createState>;

function busiest(page: GcPage): number {
  let best = 0;
  page.processes.forEach((p, i) => {
    if (p.gcs > page.processes[best]!.gcs) best = i;
  });
  return best;
}

// "2B", "0F", "1N", and an I when it was asked for: PerfView's letters.
export function kindOf(process: Process, row: number): string {
  const c = process.columns;
  const type = c.type[row];
  return `${c.generation[row]! >= 0 ? c.generation[row] : "–"}${type === 1 ? "B" : type === 2 ? "F" : "N"}${c.induced[row] === 1 ? "I" : ""}`;
}
