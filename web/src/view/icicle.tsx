// SPDX-License-Identifier: Apache-2.0
// The icicle (or flame graph): canvas, scrolling, pointer, and the keyboard within it.
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { NodeId } from "../base/brand.ts";
import { allOf, formatPercent } from "../base/format.ts";
import { hit, layOut } from "../model/layout.ts";
import { kRoot } from "../model/tree.ts";
import type { State } from "../model/state.ts";
import { AriaTree } from "./aria_tree.tsx";
import { useDraw, useSize } from "./draw.ts";
import { formatMetric, unitWord } from "./figures.tsx";
import { icicleKey } from "./keys.ts";
import { kRowHeight, paint } from "./paint.ts";
import { Tooltip } from "./tooltip.tsx";

function rootLabel(state: State): string {
  const metric = state.metric.value;
  const value = state.weights.value.total[metric][kRoot]!;
  const all = state.data.meta.total[metric];
  const what = state.selection.value.type === null ? allOf(state.data.meta) : state.data.types[state.selection.value.type]!.name;
  const unit = unitWord(state.data.meta, metric);
  const share = value < all * 0.99999 ? ` · ${formatPercent(value, all)} of all` : "";
  return `${what} · ${formatMetric(state.data.meta, metric, value)}${unit}${share}`;
}

export function Icicle({ state }: { state: State }) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal({ width: 0, height: 0 });
  const scroll = useSignal(0);
  const pointer = useSignal(false); // the focus ring is for the keyboard
  const hover = useSignal<{ rect: number; x: number; y: number } | null>(null);

  const layout = useComputed(() =>
    layOut(state.tree.value, state.weights.value, state.metric.value, state.zoom.value, size.value.width),
  );
  const drawing = useComputed(() => Math.max(layout.value.rows * kRowHeight, size.value.height));
  const top = useComputed(() => {
    const high = drawing.value;
    return state.flame.value
      ? (row: number) => high - (row + 1) * kRowHeight
      : (row: number) => row * kRowHeight;
  });

  useSize(scroller, (element) => {
    size.value = { width: element.clientWidth, height: element.clientHeight };
  });

  // Painting waits for the next frame, so that a burst of changes paints once.
  const frame = useRef(0);
  useDraw(() => {
    const scene = {
      data: state.data,
      tree: state.tree.value,
      layout: layout.value,
      palette: state.palette.value,
      rootLabel: rootLabel(state),
      matches: state.search.value.found?.node ?? null,
      width: size.value.width,
      height: size.value.height,
      pixelRatio: window.devicePixelRatio || 1,
      scroll: scroll.value,
      top: top.value,
      highlight: state.shownTheme.value === "light" ? "#ffd33d" : "#e3b341",
      highlightText: "#1b1f24",
    };
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      if (canvas.current) paint(canvas.current, scene);
    });
  });

  // A new zoom starts with its own row in view, three ancestors above it.
  useSignalEffect(() => {
    const zoomRow = state.tree.value.depth[state.zoom.value]!;
    const y = top.value(zoomRow);
    const element = scroller.current;
    if (!element) return;
    hover.value = null;
    const context = 3 * kRowHeight;
    const wanted = state.flame.value ? y + kRowHeight + context - element.clientHeight : y - context;
    requestAnimationFrame(() => (element.scrollTop = Math.max(0, wanted)));
  });
  // The cursor stays in view.
  useSignalEffect(() => {
    const node = state.cursor.value;
    const element = scroller.current;
    if (node === null || !element || state.cursor.value === state.zoom.value) return;
    const y = top.value(state.tree.value.depth[node]!);
    requestAnimationFrame(() => {
      if (y < element.scrollTop) element.scrollTop = y - kRowHeight;
      else if (y + kRowHeight > element.scrollTop + element.clientHeight)
        element.scrollTop = y + 2 * kRowHeight - element.clientHeight;
    });
  });

  const rectAt = (event: MouseEvent): number => {
    const box = canvas.current!.getBoundingClientRect();
    const y = event.clientY - box.top + scroll.value;
    const row = state.flame.value
      ? Math.floor((drawing.value - y) / kRowHeight)
      : Math.floor(y / kRowHeight);
    return hit(layout.value, event.clientX - box.left, row);
  };
  const onMove = (event: MouseEvent) => {
    const rect = rectAt(event);
    hover.value = rect < 0 ? null : { rect, x: event.clientX, y: event.clientY };
  };
  const onClick = (event: MouseEvent) => {
    const rect = rectAt(event);
    const node = rect < 0 ? -1 : layout.value.node[rect]!;
    if (node >= 0) state.activate(node as NodeId);
    // From here on the arrow keys go on from what was clicked.
    event.currentTarget instanceof HTMLElement &&
      event.currentTarget.closest(".icicle")?.querySelector<HTMLElement>(".aria-tree")?.focus({ preventScroll: true });
  };
  const onKey = (event: KeyboardEvent) => {
    pointer.value = false;
    if (icicleKey(state, event)) event.stopPropagation();
  };

  const boxOf = (rect: number) => ({
    left: `${layout.value.x[rect]!}px`,
    width: `${Math.max(2, layout.value.w[rect]!)}px`,
    top: `${top.value(layout.value.row[rect]!)}px`,
    height: `${kRowHeight}px`,
  });
  const cursorRect = useComputed(() =>
    state.cursor.value === null ? -1 : layout.value.node.subarray(0, layout.value.count).indexOf(state.cursor.value),
  );
  const under = hover.value;
  const underNode = under ? layout.value.node[under.rect]! : -1;
  return (
    <div
      class={`icicle ${pointer.value ? "pointer" : ""}`}
      style={{ "--wanted": `${layout.value.rows * kRowHeight}px` }}
      onKeyDown={onKey}
      onMouseDown={() => (pointer.value = true)}
    >
      <div
        class="icicle-scroll"
        ref={scroller}
        onScroll={(e) => {
          scroll.value = e.currentTarget.scrollTop;
          hover.value = null;
        }}
      >
        <div class="icicle-sheet" style={{ height: `${drawing.value}px` }}>
          <canvas
            id="icicle"
            ref={canvas}
            aria-hidden="true"
            style={{ height: `${size.value.height}px`, cursor: underNode >= 0 ? "pointer" : "default" }}
            onMouseMove={onMove}
            onMouseLeave={() => (hover.value = null)}
            onClick={onClick}
          />
          {under && <div class="icicle-box hover" style={boxOf(under.rect)} />}
          {cursorRect.value >= 0 && <div class="icicle-box cursor" style={boxOf(cursorRect.value)} />}
        </div>
      </div>
      <AriaTree state={state} />
      {under && underNode >= 0 && <Tooltip state={state} node={underNode as NodeId} x={under.x} y={under.y} />}
      {under && underNode < 0 && (
        <div class="tip small" style={{ left: `${under.x + 14}px`, top: `${under.y + 14}px` }}>
          frames too narrow to draw: zoom in to see them
        </div>
      )}
    </div>
  );
}
