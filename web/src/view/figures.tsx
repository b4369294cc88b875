// SPDX-License-Identifier: Apache-2.0
// Figures with their intervals, written the same way everywhere.
import { formatBytes, formatCount, formatDuration, formatInterval } from "../base/format.ts";
import type { Meta } from "../data/profile.ts";
import type { Estimates } from "../base/estimates.ts";
import { type Metric, bytesInterval, kFewSamples, objectsInterval } from "../model/estimate.ts";

export const kMetricNames: Record<Metric, string> = { bytes: "Bytes", objects: "Objects", samples: "Samples" };

export function metricName(meta: Meta, metric: Metric): string {
  return meta.shows === "gc-cpu" ? "CPU time" : kMetricNames[metric];
}

export function formatMetric(meta: Meta, metric: Metric, value: number): string {
  if (meta.shows === "gc-cpu") return formatDuration(value);
  return metric === "bytes" ? formatBytes(value) : formatCount(value);
}

// "" where the profile's event has no interval. `kind`: of the one heap that is shown, if it is one.
export function intervalText(meta: Meta, metric: Metric, e: Estimates, i: number, kind: number | null): string {
  if (!meta.hasInterval || metric === "samples") return "";
  return metric === "bytes"
    ? formatInterval(e.bytes[i]!, bytesInterval(e, i), "bytes")
    : formatInterval(e.objects[i]!, objectsInterval(e, i, kind), "count");
}

// CPU time is measured, not sampled.
export const isFew = (meta: Meta, e: Estimates, i: number): boolean =>
  meta.shows !== "gc-cpu" && e.samples[i]! < kFewSamples;
