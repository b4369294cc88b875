// SPDX-License-Identifier: Apache-2.0
// Allocation rate, how often or long something happened, or the collector's CPU time, over time, with a mark for each garbage collection
// below it.
import { useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { formatCount, formatDuration, formatNanoseconds, formatPerSecond, formatPercent, formatRate } from "../base/format.ts";
import { rateOverTime, usefulSteps } from "../model/rate.ts";
import type { State } from "../model/state.ts";
import { useDraw, useSize } from "./draw.ts";

const kHeight = 46;
const kMarks = 9; // pixels at the bottom for the collections
// gen 0, 1, 2, unknown: heavier collections are darker and taller.
const kGcColors = { light: ["#8fb8de", "#d08a2e", "#b3261e", "#8a929c"], dark: ["#5b86ad", "#d99a3f", "#f2766b", "#767f8a"] };

export function Timeline({ state }: { state: State }) {
  const { data } = state;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useSignal(0);
  const hover = useSignal<number | null>(null);
  useSize(box, (element) => (width.value = element.clientWidth));
  const rate = useComputed(() =>
    width.value < 20
      ? null
      : rateOverTime(state.data, state.selection.value, state.metric.value, usefulSteps(state.data, width.value)),
  );

  useDraw(() => {
    const r = rate.value;
    const element = canvas.current;
    const theme = state.shownTheme.value;
    const process = state.process.value;
    const context = element?.getContext("2d");
    if (!element || !context || !r) return;
    const ratio = window.devicePixelRatio || 1;
    const wide = width.value;
    element.width = Math.round(wide * ratio);
    element.height = Math.round(kHeight * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, kHeight);
    const floor = kHeight - kMarks;
    const step = wide / r.perSecond.length;
    context.fillStyle = theme === "light" ? "#7aa7d6" : "#4f7cab";
    r.perSecond.forEach((v, i) => {
      const high = r.most > 0 ? ((floor - 2) * v) / r.most : 0;
      context.fillRect(i * step, floor - high, Math.max(1, step - (step > 3 ? 1 : 0)), high);
    });
    context.fillStyle = theme === "light" ? "#c9d1da" : "#3a434e";
    context.fillRect(0, floor, wide, 1);
    const g = state.data.gcs;
    for (let i = 0; i < g.start.length; i++) {
      if (process !== null && g.process[i] !== process) continue;
      const generation = Math.min(3, g.generation[i]!);
      const x = (wide * (g.start[i]! - r.begin)) / (r.end - r.begin);
      const w = (wide * (g.end[i]! - g.start[i]!)) / (r.end - r.begin);
      const high = generation === 2 ? 7 : generation === 1 ? 5 : 4;
      context.fillStyle = kGcColors[theme][generation]!;
      context.fillRect(x, floor + 2, Math.max(1.5, w), high);
    }
  });

  if (data.times.start.length === 0) return null;
  const r = rate.value;
  const unit = state.metric.value;
  const cpu = state.shows.value === "gc-cpu";
  const { meta } = data;
  const perSecond = (v: number) => {
    if (cpu) return `${formatPercent(v, 1)} of a core`;
    if (meta.events && unit !== "samples") return meta.quantity[unit].unit === "ns" ? `${formatNanoseconds(v)}/s` : formatPerSecond(v);
    return unit === "bytes" ? formatRate(v) : `${formatCount(v)} ${unit}/s`;
  };
  const what = cpu ? "GC CPU" : meta.events ? `${meta.title[0]!.toUpperCase()}${meta.title.slice(1)}` : "Allocation rate";
  let text = "";
  if (r && hover.value !== null) {
    const step = (r.end - r.begin) / r.perSecond.length;
    const i = Math.min(r.perSecond.length - 1, Math.max(0, Math.floor(hover.value * r.perSecond.length)));
    const from = r.begin + i * step;
    const counts = [0, 0, 0, 0];
    data.gcs.start.forEach((t, k) => {
      if (state.process.value !== null && data.gcs.process[k] !== state.process.value) return;
      if (t >= from && t < from + step) counts[Math.min(3, data.gcs.generation[k]!)]!++;
    });
    const gcs = counts.map((n, g) => (n ? `${n} gen ${g === 3 ? "?" : g}` : "")).filter(Boolean);
    text =
      `${formatDuration(from)} to ${formatDuration(from + step)}: ${perSecond(r.perSecond[i]!)}` +
      (gcs.length > 0 ? `, collections: ${gcs.join(", ")}` : "");
  }
  const generations = [...new Set(Array.from(data.gcs.generation, (g) => Math.min(3, g)))].sort();
  return (
    <section class="timeline" aria-label={`${what} over time`}>
      <div class="timeline-text">
        <span>{text || (r ? `${what}, most ${perSecond(r.most)}` : "")}</span>
        <span class="spring" />
        {generations.map((g) => (
          <span class="key">
            <i class="tick" style={{ background: kGcColors[state.shownTheme.value][g]! }} />
            {g === 3 ? "GC" : `gen ${g} GC`}
          </span>
        ))}
      </div>
      <div
        ref={box}
        class="timeline-box"
        onMouseMove={(e) => (hover.value = e.offsetX / Math.max(1, width.value))}
        onMouseLeave={() => (hover.value = null)}
      >
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <div class="timeline-axis">
        <span>{r ? formatDuration(r.begin) : ""}</span>
        <span>{r ? formatDuration(r.end) : ""}</span>
      </div>
    </section>
  );
}
