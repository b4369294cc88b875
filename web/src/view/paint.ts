// SPDX-License-Identifier: Apache-2.0
// Rectangles and labels of the icicle onto a canvas that is as large as what can be seen.
import { shortMethod, shortType } from "../base/format.ts";
import type { NodeId } from "../base/brand.ts";
import type { ProfileData } from "../data/profile.ts";
import type { Palette } from "../model/color.ts";
import type { Layout } from "../model/layout.ts";
import { type Tree, frameOf, isType, kRoot, typeOf } from "../model/tree.ts";

export const kRowHeight = 19;
const kPad = 5;
const kLabelFrom = 26; // narrower rectangles have no label
const kFont = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export interface Scene {
  readonly data: ProfileData;
  readonly tree: Tree;
  readonly layout: Layout;
  readonly palette: Palette;
  readonly rootLabel: string;
  readonly matches: Uint8Array | null; // highlighted nodes; null = no search
  readonly width: number; // CSS pixels
  readonly height: number;
  readonly pixelRatio: number;
  readonly scroll: number; // CSS pixels from the top of the drawing
  readonly top: (row: number) => number; // CSS pixels from the top of the drawing
  readonly highlight: string;
  readonly highlightText: string;
}

export function labelsOf(data: ProfileData, tree: Tree, node: NodeId): [string, string] {
  if (isType(tree, node)) {
    const name = data.types[typeOf(tree, node)]!.name;
    return [name, shortType(name)];
  }
  const name = data.frames[frameOf(tree, node)]!.name;
  return [name, shortMethod(name)];
}

// Widths of texts never change within a page.
const widths = new Map<string, number>();
function widthOf(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    width = context.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

function fit(context: CanvasRenderingContext2D, long: string, short: string, room: number): string {
  if (widthOf(context, long) <= room) return long;
  const full = widthOf(context, short);
  if (full <= room) return short;
  let n = Math.floor((short.length * room) / full);
  while (n > 0 && widthOf(context, `${short.slice(0, n)}…`) > room) n--;
  return n < 2 ? "" : `${short.slice(0, n)}…`;
}

export function paint(canvas: HTMLCanvasElement, scene: Scene): void {
  const { layout, tree, palette, matches } = scene;
  const ratio = scene.pixelRatio;
  const wide = Math.max(1, Math.round(scene.width * ratio));
  const high = Math.max(1, Math.round(scene.height * ratio));
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext("2d", { alpha: true });
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, scene.width, scene.height);
  context.font = kFont;
  context.textBaseline = "middle";

  const zoomDepth = tree.depth[layout.zoom]!;
  for (let i = 0; i < layout.count; i++) {
    const y = scene.top(layout.row[i]!) - scene.scroll;
    if (y + kRowHeight <= 0 || y >= scene.height) continue;
    const node = layout.node[i]!;
    const x = layout.x[i]!;
    const full = layout.w[i]!;
    // A gap between neighbours, but never at the price of the rectangle.
    const w = full > 4 ? full - 1 : full > 1.5 ? full - 0.5 : full;
    const h = kRowHeight - 1;
    if (node < 0) {
      context.fillStyle = palette.thin;
      context.fillRect(x, y, w, h);
      continue;
    }
    const type = node !== kRoot && isType(tree, node as NodeId);
    const hit = matches !== null && matches[node] === 1;
    const above = tree.depth[node]! < zoomDepth;
    context.globalAlpha = above ? 0.55 : matches !== null && !hit ? 0.45 : 1;
    context.fillStyle = hit
      ? scene.highlight
      : node === kRoot
        ? palette.root
        : type
          ? palette.type
          : palette.frame[frameOf(tree, node as NodeId)]!;
    context.fillRect(x, y, w, h);
    if (type) {
      // Types look like tags: a mark on the left and an outline.
      if (w > 4) {
        context.fillStyle = palette.typeMark;
        context.fillRect(x, y, 3, h);
      } else if (!hit) {
        context.fillStyle = palette.typeThin;
        context.fillRect(x, y, w, h);
      }
      if (w > 8) {
        context.strokeStyle = palette.typeMark;
        context.lineWidth = 1;
        context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      }
    }
    if (w < kLabelFrom) continue;
    context.globalAlpha = above ? 0.8 : matches !== null && !hit ? 0.7 : 1;
    const left = x + kPad + (type ? 2 : 0);
    const room = w - kPad * 2 - (type ? 2 : 0);
    const [long, short] =
      node === kRoot ? [scene.rootLabel, scene.rootLabel] : labelsOf(scene.data, tree, node as NodeId);
    const text = fit(context, long, short, room);
    if (!text) continue;
    context.fillStyle = hit ? scene.highlightText : type ? palette.typeText : palette.text;
    context.fillText(text, left, y + h / 2 + 0.5);
  }
  context.globalAlpha = 1;
}
