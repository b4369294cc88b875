// SPDX-License-Identifier: Apache-2.0
// One chart over time: axes, what `paint` draws between them, and the pointer.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { effect, signal } from "@preact/signals";
import { lowerBound, ticks, timeLabel, timeTicks } from "./series.ts";
import type { State } from "./state.ts";

export interface Plot {
  readonly ctx: CanvasRenderingContext2D;
  readonly width: number; // of the plot, in CSS pixels
  readonly height: number;
  readonly from: number;
  readonly to: number;
  x(ms: number): number;
  y(value: number): number;
  color(name: string): string;
}
export interface ChartSpec {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly wide?: boolean;
  readonly bytes?: boolean;
  readonly legend: readonly (readonly [string, string])[]; // label, CSS variable
  max(state: State): number;
  format(value: number): string;
  paint(plot: Plot, state: State): void;
}

const kLeft = 66;
const kBottom = 18;
const kTop = 6;
const kClickPixels = 4;

const resized = signal(0);
addEventListener("resize", () => resized.value++);

export function Chart({ spec, state }: { spec: ChartSpec; state: State }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ x: number; now: number } | null>(null);

  useLayoutEffect(() => effect(() => {
    void resized.value;
    void state.theme.value;
    const element = canvas.current;
    if (element) draw(element, spec, state, null);
  }), [spec, state]);
  useEffect(() => effect(() => {
    // A line where the pointer is, in all charts at once.
    const element = canvas.current;
    const at = state.hovered.value;
    if (element) draw(element, spec, state, at ? state.process.value.columns.start_ms[at.row]! : null);
  }), [spec, state]);

  const timeAt = (event: PointerEvent): number => {
    const box = canvas.current!.getBoundingClientRect();
    const { from, to } = state.range.value;
    const share = (event.clientX - box.left - kLeft) / Math.max(box.width - kLeft, 1);
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  };
  const rowAt = (event: PointerEvent): number => {
    const starts = state.process.value.columns.start_ms;
    if (starts.length === 0) return -1;
    const t = timeAt(event);
    const after = Math.min(lowerBound(starts, t), starts.length - 1);
    return after > 0 && t - starts[after - 1]! < starts[after]! - t ? after - 1 : after;
  };
  const move = (event: PointerEvent) => {
    const row = rowAt(event);
    state.hovered.value = row < 0 ? null : { row, x: event.clientX, y: event.clientY };
    if (drag.current) {
      drag.current.now = event.clientX;
      selection(canvas.current!, drag.current.x, event.clientX);
    }
  };
  const down = (event: PointerEvent) => {
    drag.current = { x: event.clientX, now: event.clientX };
    canvas.current!.setPointerCapture(event.pointerId);
  };
  const up = (event: PointerEvent) => {
    const began = drag.current;
    drag.current = null;
    if (!began) return;
    if (Math.abs(event.clientX - began.x) < kClickPixels) {
      state.selected.value = rowAt(event);
      return;
    }
    const box = canvas.current!.getBoundingClientRect();
    const { from, to } = state.range.value;
    const at = (x: number) => from + Math.min(1, Math.max(0, (x - box.left - kLeft) / (box.width - kLeft))) * (to - from);
    const [a, b] = [at(began.x), at(event.clientX)].sort((p, q) => p - q) as [number, number];
    if (b - a > 0.01) state.zoom.value = { from: a, to: b };
  };
  return (
    <div class={spec.wide ? "chart wide" : "chart"} id={spec.id}>
      <h2>
        {spec.title}
        <span class="legend">
          {spec.legend.map(([label, color]) => (
            <span key={label}><i ref={(e) => { if (e) e.style.background = `var(${color})`; }} />{label}</span>
          ))}
        </span>
      </h2>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${spec.title}: ${spec.about}`}
        onPointerMove={move}
        onPointerDown={down}
        onPointerUp={up}
        onPointerLeave={() => (state.hovered.value = null)}
        onDblClick={() => (state.zoom.value = null)}
      />
    </div>
  );
}

function selection(canvas: HTMLCanvasElement, from: number, to: number): void {
  const ctx = canvas.getContext("2d")!;
  const box = canvas.getBoundingClientRect();
  const left = Math.max(kLeft, Math.min(from, to) - box.left);
  ctx.fillStyle = getComputedStyle(canvas).getPropertyValue("--accent");
  ctx.globalAlpha = 0.2;
  ctx.fillRect(left, kTop, Math.max(from, to) - box.left - left, box.height - kTop - kBottom);
  ctx.globalAlpha = 1;
}

function draw(canvas: HTMLCanvasElement, spec: ChartSpec, state: State, line: number | null): void {
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const ctx = canvas.getContext("2d")!;
  ctx.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const { from, to } = state.range.value;
  const plotWidth = Math.max(width - kLeft, 1);
  const plotHeight = Math.max(height - kTop - kBottom, 1);
  const max = spec.max(state);
  const values = ticks(max, 4, spec.bytes ?? false);
  const top = Math.max(max, values.at(-1)!, Number.MIN_VALUE) * 1.02;
  const x = (ms: number) => ((ms - from) / (to - from)) * plotWidth;
  const y = (value: number) => plotHeight * (1 - value / top);

  ctx.font = `11px ${style.fontFamily}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.fillStyle = color("--quiet");
  ctx.strokeStyle = color("--line-soft");
  ctx.lineWidth = 1;
  for (const value of values) {
    const at = Math.round(kTop + y(value)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(kLeft, at);
    ctx.lineTo(width, at);
    ctx.stroke();
    ctx.fillText(spec.format(value), kLeft - 6, at);
  }
  ctx.textBaseline = "bottom";
  ctx.textAlign = "center";
  const times = timeTicks({ from, to }, Math.max(2, Math.floor(plotWidth / 90)));
  const step = times.length > 1 ? times[1]! - times[0]! : to - from;
  for (const t of times) ctx.fillText(timeLabel(t, step), kLeft + x(t), height);

  ctx.save();
  ctx.translate(kLeft, kTop);
  ctx.beginPath();
  ctx.rect(0, 0, plotWidth, plotHeight + 1);
  ctx.clip();
  spec.paint({ ctx, width: plotWidth, height: plotHeight, from, to, x, y, color }, state);
  if (line !== null) {
    ctx.fillStyle = color("--text");
    ctx.globalAlpha = 0.5;
    ctx.fillRect(Math.round(x(line)), 0, 1, plotHeight);
  }
  ctx.restore();
}
