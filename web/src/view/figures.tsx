// SPDX-License-Identifier: Apache-2.0
// Figures with their intervals, written the same way everywhere.
import { formatBytes, formatCount, formatInterval } from "../base/format.ts";
import type { Meta } from "../data/profile.ts";
import type { Estimates } from "../base/estimates.ts";
import { type Metric, bytesInterval, kFewSamples, objectsInterval } from "../model/estimate.ts";

export const kMetricNames: Record<Metric, string> = { bytes: "Bytes", objects: "Objects", samples: "Samples" };

export function formatMetric(metric: Metric, value: number): string {
  return metric === "bytes" ? formatBytes(value) : formatCount(value);
}

// "" where the profile's event has no interval.
export function intervalText(meta: Meta, metric: Metric, e: Estimates, i: number): string {
  if (!meta.hasInterval || metric === "samples") return "";
  return metric === "bytes"
    ? formatInterval(e.bytes[i]!, bytesInterval(e, i), "bytes")
    : formatInterval(e.objects[i]!, objectsInterval(e, i), "count");
}

export const isFew = (e: Estimates, i: number): boolean => e.samples[i]! < kFewSamples;
