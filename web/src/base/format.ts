// SPDX-License-Identifier: Apache-2.0
// How figures and names are written: the only place that knows units.
import type { Interval } from "./estimates.ts";

const kUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

// The scale at which a figure of `value` bytes has one to four digits before the point.
function byteScale(value: number): number {
  let unit = 0;
  let v = Math.abs(value);
  while (unit < kUnits.length - 1 && v >= 1023.5) {
    v /= 1024;
    unit++;
  }
  return unit;
}

// Three significant digits; 1024 and more keep all their integer digits.
function threeDigits(v: number): string {
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a >= 99.95) return group(Math.round(v));
  return v.toFixed(a >= 9.995 ? 1 : 2);
}

function group(n: number): string {
  const text = Math.abs(n).toFixed(0).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return n < 0 ? `-${text}` : text;
}

function bytesAt(value: number, unit: number): string {
  return unit === 0 ? group(Math.round(value)) : threeDigits(value / 1024 ** unit);
}

export function formatBytes(value: number): string {
  const unit = byteScale(value);
  return `${bytesAt(value, unit)} ${kUnits[unit]!}`;
}

// Counts in full up to a million, then 12.3 M: an estimate has no more digits than that.
export function formatCount(value: number): string {
  const a = Math.abs(value);
  if (a < 999_999.5) return group(Math.round(value));
  if (a < 999.5e6) return `${threeDigits(value / 1e6)} M`;
  if (a < 999.5e9) return `${threeDigits(value / 1e9)} G`;
  return `${threeDigits(value / 1e12)} T`;
}

export function formatExact(value: number): string {
  return group(Math.round(value));
}

export function formatPercent(part: number, whole: number): string {
  if (!(whole > 0)) return "–";
  const p = (100 * part) / whole;
  if (p === 0) return "0 %";
  if (p < 0.01) return "<0.01 %";
  if (p > 99.95 && p < 100) return ">99.9 %";
  return `${p < 0.995 ? p.toFixed(2) : p < 99.95 ? p.toFixed(1) : "100"} %`;
}

// "±4.1 %" when both sides are about the same, else the bounds: "1.20–3.40 MiB".
export function formatInterval(value: number, range: Interval, unit: "bytes" | "count"): string {
  if (!(value > 0)) return "";
  const below = (value - range.low) / value;
  const above = (range.high - value) / value;
  if (above <= 0.0005) return "exact";
  if (above < 0.25 && Math.abs(above - below) < 0.35 * above) {
    const p = 50 * (above + below);
    return `±${p < 0.1 ? "0.1" : p < 10 ? p.toFixed(1) : p.toFixed(0)} %`;
  }
  if (unit === "count") return `${formatCount(range.low)}–${formatCount(range.high)}`;
  const high = byteScale(range.high);
  const low = byteScale(range.low);
  if (high === low) return `${bytesAt(range.low, low)}–${bytesAt(range.high, high)} ${kUnits[high]!}`;
  return `${formatBytes(range.low)}–${formatBytes(range.high)}`;
}

export function formatRate(bytesPerSecond: number): string {
  return `${formatBytes(bytesPerSecond)}/s`;
}

// "950 ms", "12.3 s", "4 min 05 s", "2 h 07 min"
export function formatDuration(seconds: number): string {
  if (seconds === 0) return "0 s";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const s = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(s % 60)} s`;
  const m = Math.round(s / 60);
  return `${Math.floor(m / 60)} h ${two(m % 60)} min`;
}

// "850 ns", "12.3 µs", "4.56 ms", "1.23 s", then as formatDuration().
export function formatNanoseconds(ns: number): string {
  if (ns === 0) return "0 s";
  const a = Math.abs(ns);
  if (a < 999.5) return `${Math.round(ns)} ns`;
  if (a < 999.5e3) return `${threeDigits(ns / 1e3)} µs`;
  if (a < 999.5e6) return `${threeDigits(ns / 1e6)} ms`;
  if (a < 59.95e9) return `${threeDigits(ns / 1e9)} s`;
  return formatDuration(ns / 1e9);
}

// "0.25/s", "12.3/s", "1,234/s"
export function formatPerSecond(value: number): string {
  return `${value > 0 && value < 99.95 ? threeDigits(value) : formatCount(value)}/s`;
}

// In UTC, as captures of several machines meet in one ticket.
export function formatTime(unixMs: number): string {
  const date = new Date(unixMs);
  if (!(unixMs > 0) || Number.isNaN(date.getTime())) return "";
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

// Names come from the program that was looked at. What a reader could not see, or what would turn
// the text around it, is spelt out as ‹U+202E›.
const kInvisible =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
export function printable(text: string): string {
  return text.replace(
    kInvisible,
    (c) => `‹U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`,
  );
}

// Splits "A.B.List<X.Y>.Add" into what may be left out ("A.B.") and what tells it ("List<X.Y>.Add"):
// `keep` segments stay. Dots inside <>, [] and () do not count.
export function splitName(name: string, keep: number): [string, string] {
  let depth = 0;
  let left = keep;
  for (let i = name.length - 1; i > 0; i--) {
    const c = name[i];
    if (c === ">" || c === "]" || c === ")") depth++;
    else if (c === "<" || c === "[" || c === "(") depth--;
    else if (c === "." && depth === 0 && name[i - 1] !== "." && --left === 0) {
      return [name.slice(0, i + 1), name.slice(i + 1)];
    }
  }
  return ["", name];
}

export const shortMethod = (name: string): string => splitName(name, 2)[1];

// "System.Collections.Generic.Dictionary<System.String, Acme.Order>[]" →
// "Dictionary<String, Order>[]"
export function shortType(name: string): string {
  return name.replace(/(?:[\p{L}\p{N}_`$]+\.)+(?=[\p{L}\p{N}_`$<])/gu, "");
}

// The root's name.
export function allOf(meta: { readonly shows: string; readonly title: string }): string {
  return meta.shows === "gc-cpu" ? "all CPU time" : `all ${meta.title}`;
}

// Ages as people say them: "10 s", "2 min", "8 h", "7 d".
export function formatAge(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${seconds / 60} min`;
  if (seconds < 86400) return `${seconds / 3600} h`;
  return `${seconds / 86400} d`;
}
