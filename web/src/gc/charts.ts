// SPDX-License-Identifier: Apache-2.0
// The charts of the page.
import { formatBytes, formatRate } from "../base/format.ts";
import type { ChartSpec, Plot } from "./chart.tsx";
import { largest, largestPerPixel, rowsIn, stacked } from "./series.ts";
import type { State } from "./state.ts";

const kHeap = ["gen2_bytes", "gen1_bytes", "gen0_bytes", "loh_bytes", "poh_bytes"] as const;
const kHeapColors = ["--g2", "--g1", "--g0", "--g3", "--g4"] as const;

const bounds = (state: State): [number, number] => {
  const [first, last] = rowsIn(state.process.value.columns.start_ms, state.range.value);
  // What was before the range reaches into it.
  return [Math.max(0, first - 1), last];
};
const maxOf = (name: string) => (state: State) => largest(state.column(name), ...bounds(state));
const ms = (v: number) => (v === 0 ? "0" : v < 1 ? `${Number(v.toPrecision(2))} ms` : v >= 1000 ? `${Number((v / 1000).toPrecision(3))} s` : `${Number(v.toPrecision(3))} ms`);
const percent = (v: number) => `${v} %`;

// A value holds from the end of its collection until the next one. Of many in a pixel the last.
function steps(plot: Plot, state: State, values: Float64Array, then: (x0: number, x1: number, row: number) => void): void {
  const { start_ms: starts } = state.process.value.columns;
  const [first, last] = bounds(state);
  for (let i = first; i < last; i++) {
    if (!(values[i]! >= 0)) continue;
    const x0 = plot.x(starts[i]!);
    const x1 = i + 1 < starts.length ? plot.x(starts[i + 1]!) : plot.width;
    if (i + 1 < last && Math.floor(x0) === Math.floor(x1) && x1 - x0 < 0.5) continue;
    then(Math.floor(x0), Math.max(Math.ceil(x1), Math.floor(x0) + 1), i);
  }
}

function bars(plot: Plot, state: State, values: Float64Array, colorOf: (row: number) => string): void {
  const width = Math.max(1, Math.round(plot.width));
  const rows = largestPerPixel(state.process.value.columns.start_ms, values, { from: plot.from, to: plot.to }, width);
  const shown = rows.reduce((n, row) => n + (row >= 0 ? 1 : 0), 0);
  const thick = shown > 0 && shown * 6 < width ? 3 : shown * 3 < width ? 2 : 1;
  rows.forEach((row, x) => {
    if (row < 0) return;
    plot.ctx.fillStyle = colorOf(row);
    const y = plot.y(values[row]!);
    plot.ctx.fillRect(x, Math.min(y, plot.height - 1), thick, Math.max(plot.height - y, 1));
  });
}

function dots(plot: Plot, state: State, values: Float64Array, color: string): void {
  const width = Math.max(1, Math.round(plot.width));
  const { start_ms: starts } = state.process.value.columns;
  const [first, last] = bounds(state);
  plot.ctx.fillStyle = color;
  const seen = new Set<number>();
  for (let i = first; i < last; i++) {
    if (!(values[i]! >= 0)) continue;
    const x = Math.round(plot.x(starts[i]!));
    const y = Math.round(plot.y(values[i]!));
    const key = y * width + x;
    if (seen.has(key)) continue;
    seen.add(key);
    plot.ctx.fillRect(x - 1, y - 1, 3, 3);
  }
}

export const kCharts: readonly ChartSpec[] = [
  {
    id: "heap",
    title: "Heap after each GC",
    about: "sizes of the generations, stacked, with the large and the pinned object heap on top, and the peak before each GC, of several in one place the largest",
    wide: true,
    bytes: true,
    legend: [["POH", "--g4"], ["LOH", "--g3"], ["gen0", "--g0"], ["gen1", "--g1"], ["gen2", "--g2"], ["peak", "--peak"]],
    max: (state) => Math.max(maxOf("after_bytes")(state), maxOf("peak_bytes")(state)),
    format: formatBytes,
    paint(plot, state) {
      const tops = stacked(kHeap.map((name) => state.column(name)));
      const after = state.column("after_bytes");
      for (let k = tops.length - 1; k >= 0; k--) {
        plot.ctx.fillStyle = plot.color(kHeapColors[k]!);
        steps(plot, state, after, (x0, x1, row) => {
          const y = plot.y(tops[k]![row]!);
          plot.ctx.fillRect(x0, y, x1 - x0, plot.height - y);
        });
      }
      const peaks = state.column("peak_bytes");
      plot.ctx.fillStyle = plot.color("--peak");
      largestPerPixel(state.process.value.columns.start_ms, peaks, { from: plot.from, to: plot.to }, Math.max(1, Math.round(plot.width)))
        .forEach((row, x) => row >= 0 && plot.ctx.fillRect(x - 1, plot.y(peaks[row]!) - 1, 3, 2));
    },
  },
  {
    id: "pauses",
    title: "Pauses",
    about: "how long each GC stopped the program; of merged ones the longest",
    wide: true,
    legend: [["gen0", "--pause0"], ["gen1", "--pause1"], ["gen2", "--pause2"], ["background", "--pauseb"]],
    max: maxOf("max_pause_ms"),
    format: ms,
    paint(plot, state) {
      const { generation, type } = state.process.value.columns;
      const colors = ["--pause0", "--pause1", "--pause2"].map(plot.color);
      const background = plot.color("--pauseb");
      bars(plot, state, state.column("max_pause_ms"), (row) =>
        type[row] === 1 ? background : (colors[generation[row]!] ?? colors[0]!));
    },
  },
  {
    id: "rate",
    title: "Allocation rate",
    about: "bytes per second that the program allocated between two GCs",
    bytes: true,
    legend: [],
    max: maxOf("rate"),
    format: formatRate,
    paint(plot, state) {
      const rate = state.column("rate");
      plot.ctx.fillStyle = plot.color("--g1");
      // It tells of the time before the GC.
      const { start_ms: starts } = state.process.value.columns;
      const [first, last] = bounds(state);
      for (let i = first; i < Math.min(last + 1, starts.length); i++) {
        if (!(rate[i]! >= 0)) continue;
        const x0 = i > 0 ? plot.x(starts[i - 1]!) : 0;
        const x1 = plot.x(starts[i]!);
        const y = plot.y(rate[i]!);
        plot.ctx.fillRect(x0, y, Math.max(x1 - x0, 1), Math.max(plot.height - y, 1));
      }
    },
  },
  {
    id: "promoted",
    title: "Promoted",
    about: "bytes that each GC found alive in the generations that it collected; of merged ones the mean",
    bytes: true,
    legend: [],
    max: maxOf("promoted_each"),
    format: formatBytes,
    paint(plot, state) {
      const color = plot.color("--g3");
      bars(plot, state, state.column("promoted_each"), () => color);
    },
  },
  {
    id: "survival",
    title: "Survival",
    about: "share of the bytes of a collected generation that lived on",
    legend: [["gen0", "--pause0"], ["gen1", "--pause1"], ["gen2", "--pause2"]],
    max: () => 100,
    format: percent,
    paint(plot, state) {
      for (const [name, color] of [["gen0", "--pause0"], ["gen1", "--pause1"], ["gen2", "--pause2"]] as const) {
        dots(plot, state, state.column(`${name}_survived_percent`), plot.color(color));
      }
    },
  },
  {
    id: "share",
    title: "Share of time in GC",
    about: "how much of each stretch of time the program stood still",
    legend: [],
    max: (state) => {
      const { from, to } = state.range.value;
      const inside = state.process.value.pause_share.filter((s) => s.end_ms > from && s.start_ms < to);
      return Math.max(1, ...inside.map((s) => (100 * s.paused_ms) / (s.end_ms - s.start_ms)));
    },
    format: percent,
    paint(plot, state) {
      plot.ctx.fillStyle = plot.color("--pause2");
      for (const s of state.process.value.pause_share) {
        const y = plot.y((100 * s.paused_ms) / (s.end_ms - s.start_ms));
        const x0 = plot.x(s.start_ms);
        plot.ctx.fillRect(x0, y, Math.max(plot.x(s.end_ms) - x0 - 1, 1), plot.height - y);
      }
    },
  },
];
