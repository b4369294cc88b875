// SPDX-License-Identifier: Apache-2.0
// Figures with their intervals, written the same way everywhere.
import { formatBytes, formatCount, formatDuration, formatInterval, formatNanoseconds } from "../base/format.ts";
import type { Meta } from "../data/profile.ts";
import type { Estimates } from "../base/estimates.ts";
import { type Metric, bytesInterval, kFewSamples, objectsInterval } from "../model/estimate.ts";

// Of columns and buttons.
export function metricName(meta: Meta, metric: Metric): string {
  return metric === "samples" ? "Samples" : meta.quantity[metric].heading;
}

// What follows a figure that does not say its unit: " objects".
export function unitWord(meta: Meta, metric: Metric): string {
  if (metric !== "samples" && meta.quantity[metric].unit !== "number") return "";
  return ` ${metricName(meta, metric).toLowerCase()}`;
}

export const typeWord = (meta: Meta): string => (meta.events ? "type" : "allocated type");

export function formatMetric(meta: Meta, metric: Metric, value: number): string {
  if (meta.shows === "gc-cpu") return formatDuration(value);
  const unit = metric === "samples" ? "number" : meta.quantity[metric].unit;
  return unit === "bytes" ? formatBytes(value) : unit === "ns" ? formatNanoseconds(value) : formatCount(value);
}

// "" where the profile's event has no interval. `kind`: of the one heap that is shown, if it is one.
export function intervalText(meta: Meta, metric: Metric, e: Estimates, i: number, kind: number | null): string {
  if (!meta.hasInterval || metric === "samples") return "";
  return metric === "bytes"
    ? formatInterval(e.bytes[i]!, bytesInterval(e, i), "bytes")
    : formatInterval(e.objects[i]!, objectsInterval(e, i, kind), "count");
}

// CPU time is measured, not sampled, and events are counted.
export const isFew = (meta: Meta, e: Estimates, i: number): boolean =>
  meta.shows !== "gc-cpu" && !meta.events && e.samples[i]! < kFewSamples;
