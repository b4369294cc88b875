// SPDX-License-Identifier: Apache-2.0
// How old what lives is: stacked over time where there are several moments, and in bars now.
import { useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { formatAge, formatDuration, formatPercent } from "../base/format.ts";
import type { Theme } from "../model/color.ts";
import { agesInView, agesOverTime, groupOf, kAgeGroups } from "../model/ages.ts";
import { kRoot } from "../model/tree.ts";
import type { State } from "../model/state.ts";
import { useDraw, useSize } from "./draw.ts";
import { formatMetric } from "./figures.tsx";
import { labelsOf } from "./paint.ts";

const kHeight = 74;
// By kAgeGroups: the older, the heavier.
const kColors: Record<Theme, readonly string[]> = {
  light: ["#c9dff5", "#96c0e8", "#5b97d1", "#e3b04b", "#d0782e", "#a93226"],
  dark: ["#2c4a69", "#3f6f9f", "#5f9fdb", "#b98a34", "#d98a45", "#ef7a6b"],
};

function groupText(group: number): string {
  const next = kAgeGroups[group + 1];
  if (group === 0) return `under ${formatAge(next!)}`;
  return next === undefined ? `${formatAge(kAgeGroups[group]!)} and older` : `${formatAge(kAgeGroups[group]!)} to ${formatAge(next)}`;
}

function OverTime({ state }: { state: State }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useSignal(0);
  const hover = useSignal<number | null>(null);
  useSize(box, (element) => (width.value = element.clientWidth));
  const ages = useComputed(() => agesOverTime(state.data, state.selection.value, state.metric.value));

  useDraw(() => {
    const a = ages.value;
    const wide = width.value;
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!a || !element || !context || wide < 20) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(wide * ratio);
    element.height = Math.round(kHeight * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, kHeight);
    const begin = a.at[0]!;
    const span = a.at[a.at.length - 1]! - begin;
    const x = (i: number) => (wide * (a.at[i]! - begin)) / span;
    const y = (v: number) => kHeight - 1 - ((kHeight - 3) * v) / Math.max(a.most, 1);
    // The oldest lie at the bottom: what never goes away is a floor that rises.
    const below = new Float64Array(a.at.length);
    for (let group = kAgeGroups.length - 1; group >= 0; group--) {
      context.fillStyle = kColors[state.shownTheme.value][group]!;
      context.beginPath();
      context.moveTo(0, y(below[0]!));
      for (let i = 0; i < a.at.length; i++) context.lineTo(x(i), y(below[i]! + a.groups[group]![i]!));
      for (let i = a.at.length - 1; i >= 0; i--) context.lineTo(x(i), y(below[i]!));
      context.closePath();
      context.fill();
      for (let i = 0; i < below.length; i++) below[i]! += a.groups[group]![i]!;
    }
    context.fillStyle = state.shownTheme.value === "light" ? "#c9d1da" : "#3a434e";
    context.fillRect(0, kHeight - 1, wide, 1);
  });

  const a = ages.value;
  if (!a) return null;
  const meta = state.data.meta;
  const metric = state.metric.value === "objects" ? "objects" : "bytes";
  const amount = (v: number) => `${formatMetric(meta, metric, v)}${metric === "objects" ? " objects" : ""}`;
  let text = `What lived, by age, at most ${amount(a.most)}`;
  if (hover.value !== null) {
    const begin = a.at[0]!;
    const at = begin + hover.value * (a.at[a.at.length - 1]! - begin);
    // The moment that is nearest.
    let i = 0;
    while (i + 1 < a.at.length && Math.abs(a.at[i + 1]! - at) <= Math.abs(a.at[i]! - at)) i++;
    const parts = a.groups.map((g, group) => (g[i]! > 0 ? `${groupText(group)} ${amount(g[i]!)}` : "")).filter(Boolean);
    text = `${formatDuration(a.at[i]!)}: ${parts.reverse().join(", ") || "nothing"}`;
  }
  return (
    <div class="ages-time">
      <div class="timeline-text">
        <span class="ages-said">{text}</span>
      </div>
      <div
        ref={box}
        class="ages-box"
        onMouseMove={(e) => (hover.value = e.offsetX / Math.max(1, width.value))}
        onMouseLeave={() => (hover.value = null)}
      >
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <div class="timeline-axis">
        <span>{formatDuration(a.at[0]!)}</span>
        <span>{formatDuration(a.at[a.at.length - 1]!)}</span>
      </div>
    </div>
  );
}

function Now({ state }: { state: State }) {
  const { data } = state;
  const meta = data.meta;
  const metric = state.metric.value;
  const bars = agesInView(data, state.tree.value, state.selection.value, state.zoom.value, metric);
  if (bars.length === 0) return null;
  const most = bars.reduce((m, b) => Math.max(m, b.value), 0);
  const all = bars.reduce((m, b) => m + b.value, 0);
  const zoom = state.zoom.value;
  const type = state.selection.value.type;
  const of =
    (type === null ? "" : ` of ${data.types[type]!.name}`) +
    (zoom === kRoot ? "" : ` below ${labelsOf(data, state.tree.value, zoom)[1]}`);
  return (
    <div class="ages-now">
      <div class="timeline-text">
        <span class="ages-said">
          By age at {formatDuration(meta.at)}
          {of}
        </span>
      </div>
      <div class="ages-bars" role="group" aria-label="Live objects by age">
        {bars.map((b) => {
          const from = formatAge(b.from);
          const span = b.to === null ? `${from} and older` : `${from} to ${formatAge(b.to)}`;
          const value = `${formatMetric(meta, metric, b.value)}${metric === "bytes" ? "" : ` ${metric}`}`;
          const picked = state.age.value === (b.from || null) && b.from > 0;
          return (
            <button
              class={`age-bar ${state.age.value !== null && b.from < state.age.value ? "out" : ""}`}
              aria-pressed={picked}
              aria-label={`${span}: ${value}`}
              title={`${span}: ${value}, ${formatPercent(b.value, all)}\nclick: only what is ${from} old or older`}
              onClick={() => (state.age.value = picked || b.from === 0 ? null : b.from)}
            >
              <span class="age-room">
                <i
                  style={{
                    height: `${most > 0 ? (100 * b.value) / most : 0}%`,
                    background: kColors[state.shownTheme.value][groupOf(b.from)]!,
                  }}
                />
              </span>
              <span class="age-from">{from}</span>
            </button>
          );
        })}
      </div>
    </div>
  );
}

export function AgeChart({ state }: { state: State }) {
  const groups = kAgeGroups.keys();
  const used = new Set(Array.from(state.data.ages.bucket, (b) => groupOf(state.data.ages.starts[b]!)));
  return (
    <section class="ages" aria-label="Live objects by age">
      <OverTime state={state} />
      <Now state={state} />
      <div class="ages-legend">
        {[...groups]
          .filter((g) => used.has(g))
          .reverse()
          .map((g) => (
            <span class="key">
              <i style={{ background: kColors[state.shownTheme.value][g]! }} />
              {groupText(g)}
            </span>
          ))}
      </div>
    </section>
  );
}
