// SPDX-License-Identifier: Apache-2.0
// What charts draw, worked out of columns: scales, stacks, and what many points in one pixel become.

export interface Range { readonly from: number; readonly to: number }

// Round numbers from 0 that reach `max`, about `n` of them: 1, 2, 5 × 10^k, or powers of two for bytes.
export function ticks(max: number, n: number, bytes = false): number[] {
  if (!(max > 0)) return [0];
  const raw = max / Math.max(n, 1);
  let step: number;
  if (bytes) {
    const unit = 1024 ** Math.max(0, Math.floor(Math.log2(raw) / 10));
    step = unit * niceStep(raw / unit, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
  } else {
    const power = 10 ** Math.floor(Math.log10(raw));
    step = power * niceStep(raw / power, [1, 2, 5, 10]);
  }
  const out: number[] = [];
  for (let i = 0; i * step <= max * 1.0001 || out.length < 2; i++) out.push(i * step);
  return out;
}

const niceStep = (wanted: number, steps: readonly number[]) => steps.find((s) => s >= wanted * 0.999) ?? steps.at(-1)!;

// Ticks of time inside a range, in ms.
export function timeTicks(range: Range, n: number): number[] {
  const raw = (range.to - range.from) / Math.max(n, 1);
  const kSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5];
  const step = kSteps.find((s) => s >= raw) ?? Math.ceil(raw / 864e5) * 864e5;
  const out: number[] = [];
  for (let t = Math.ceil(range.from / step) * step; t <= range.to; t += step) out.push(t);
  return out;
}

// "350 ms", "12 s", "1:05", "2:03:00": all of one axis by the same step.
export function timeLabel(ms: number, step: number): string {
  if (step < 1000) return `${Math.round(ms)} ms`;
  const s = Math.round(ms / 1000);
  if (s < 60 && step < 60_000) return `${s} s`;
  const two = (v: number) => String(v).padStart(2, "0");
  const h = Math.floor(s / 3600);
  return h > 0 ? `${h}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

// Rows whose start lies in the range, as [first, last + 1); starts ascend.
export function rowsIn(starts: Float64Array, range: Range): [number, number] {
  return [lowerBound(starts, range.from), lowerBound(starts, range.to, true)];
}

export function lowerBound(values: Float64Array, at: number, after = false): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (values[mid]! < at || (after && values[mid]! === at)) low = mid + 1;
    else high = mid;
  }
  return low;
}

// For each pixel column the row with the largest value, -1 where there is none.
export function largestPerPixel(
  starts: Float64Array,
  values: Float64Array,
  range: Range,
  width: number,
): Int32Array {
  const out = new Int32Array(width).fill(-1);
  const [first, last] = rowsIn(starts, range);
  const scale = width / Math.max(range.to - range.from, 1e-9);
  for (let i = first; i < last; i++) {
    const v = values[i]!;
    if (!(v >= 0)) continue;
    const x = Math.min(width - 1, Math.max(0, Math.floor((starts[i]! - range.from) * scale)));
    const best = out[x]!;
    if (best < 0 || values[best]! < v) out[x] = i;
  }
  return out;
}

export function largest(values: Float64Array, first: number, last: number): number {
  let max = 0;
  for (let i = first; i < last; i++) if (values[i]! > max) max = values[i]!;
  return max;
}

// Sums of columns row by row, each on top of the one before; unknown counts as nothing there.
export function stacked(columns: readonly Float64Array[]): Float64Array[] {
  const out: Float64Array[] = [];
  for (const column of columns) {
    const below = out.at(-1);
    out.push(Float64Array.from(column, (v, i) => (below?.[i] ?? 0) + (v >= 0 ? v : 0)));
  }
  return out;
}

// Indexes of rows in the order of a column; unknown ones are last either way.
export function sortedRows(rows: Uint32Array, values: Float64Array, descending: boolean): Uint32Array {
  const sign = descending ? -1 : 1;
  return rows.slice().sort((a, b) => {
    const x = values[a]!;
    const y = values[b]!;
    if (Number.isNaN(x) || Number.isNaN(y)) return (Number.isNaN(x) ? 1 : 0) - (Number.isNaN(y) ? 1 : 0) || a - b;
    return sign * (x - y) || a - b;
  });
}
