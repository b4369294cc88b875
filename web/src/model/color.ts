// SPDX-License-Identifier: Apache-2.0
// Fills by module: the program's own modules get hues, heaviest first; the framework stays quiet.
import { kFramework, kMachinery, kPseudo, kUnresolved, type ProfileData } from "../data/profile.ts";

export type Theme = "light" | "dark";
export type Rgb = readonly [number, number, number];

export interface Palette {
  readonly text: string; // on every fill below
  readonly frame: readonly string[]; // frame → fill
  readonly type: string; // fill of type leaves
  readonly typeMark: string;
  readonly typeThin: string; // where there is no room for a mark
  readonly typeText: string;
  readonly root: string;
  readonly thin: string; // runs of nodes too thin to draw
  readonly framework: string; // for legends
  readonly module: (name: string) => string; // fill of a module, for legends
}

// Far apart for the first few; red is left to errors.
const kHues = [212, 28, 152, 276, 46, 186, 322, 98, 246, 12, 168, 300];

export function hslToRgb(h: number, s: number, l: number): Rgb {
  const a = (s / 100) * Math.min(l / 100, 1 - l / 100);
  const channel = (n: number) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

export const toCss = ([r, g, b]: Rgb): string =>
  `#${[r, g, b].map((v) => v.toString(16).padStart(2, "0")).join("")}`;

// WCAG 2 relative luminance and contrast ratio.
export function contrast(a: Rgb, b: Rgb): number {
  const luminance = (c: Rgb) => {
    const [r, g, bl] = c.map((v) => {
      const s = v / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * bl;
  };
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

export const kText: Record<Theme, Rgb> = { light: [27, 31, 36], dark: [240, 243, 247] };

// Dark fills all have the luminance of one grey, so that hues such as yellow do not glare.
export function userFill(theme: Theme, rank: number): Rgb {
  const hue = kHues[rank % kHues.length]!;
  const round = Math.floor(rank / kHues.length) % 3;
  if (theme === "light") return hslToRgb(hue, 62 - 14 * round, 76 + 3 * round);
  for (let l = 40; l > 15; l -= 0.5) {
    const fill = hslToRgb(hue, 44 - 10 * round, l);
    if (contrast(fill, kText.dark) >= 6.2) return fill;
  }
  return hslToRgb(hue, 30, 20);
}

export function frameworkFill(theme: Theme, rank: number): Rgb {
  const step = rank % 4;
  return theme === "light" ? hslToRgb(216, 16, 87 - 2.5 * step) : hslToRgb(216, 10, 27 - 2 * step);
}

export const pseudoFill = (theme: Theme): Rgb =>
  theme === "light" ? hslToRgb(40, 10, 93) : hslToRgb(40, 4, 17);
export const typeFill = (theme: Theme): Rgb => (theme === "light" ? [255, 255, 255] : [18, 22, 27]);
export const typeText = (theme: Theme): Rgb => (theme === "light" ? [13, 84, 84] : [134, 217, 209]);

// Modules in the order of their hues: heaviest first, by the bytes that their frames allocate
// themselves or, for the user's, the number of nodes; stable whatever is selected.
function rankModules(data: ProfileData): Map<string, number> {
  const nodes = new Map<string, number>();
  const framework = new Map<string, boolean>();
  for (let i = 1; i < data.nodes.frame.length; i++) {
    const frame = data.frames[data.nodes.frame[i]!]!;
    nodes.set(frame.module, (nodes.get(frame.module) ?? 0) + 1);
    framework.set(frame.module, (frame.flags & kFramework) !== 0);
  }
  const ranks = new Map<string, number>();
  let user = 0;
  let quiet = 0;
  for (const [name] of [...nodes].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))) {
    ranks.set(name, framework.get(name) ? quiet++ : user++);
  }
  return ranks;
}

export function makePalette(data: ProfileData, theme: Theme): Palette {
  const ranks = rankModules(data);
  const quiet = new Set<string>();
  const frame = data.frames.map((f) => {
    const rank = ranks.get(f.module) ?? 0;
    if (f.flags & kPseudo || f.flags & kUnresolved || f.module === "") return toCss(pseudoFill(theme));
    if (f.flags & (kFramework | kMachinery)) {
      if (f.flags & kFramework) quiet.add(f.module);
      return toCss(frameworkFill(theme, rank));
    }
    return toCss(userFill(theme, rank));
  });
  return {
    text: toCss(kText[theme]),
    frame,
    type: toCss(typeFill(theme)),
    typeMark: theme === "light" ? "#2a9d97" : "#3fb5ab",
    typeThin: theme === "light" ? "#c3e3e0" : "#1f4744",
    typeText: toCss(typeText(theme)),
    root: theme === "light" ? "#d3dae3" : "#333b46",
    thin: theme === "light" ? "#dfe4ea" : "#2a313a",
    framework: toCss(frameworkFill(theme, 0)),
    module: (name) => {
      if (name === "") return toCss(pseudoFill(theme));
      const rank = ranks.get(name) ?? 0;
      return toCss(quiet.has(name) ? frameworkFill(theme, rank) : userFill(theme, rank));
    },
  };
}
