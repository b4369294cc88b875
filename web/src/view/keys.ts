// SPDX-License-Identifier: Apache-2.0
// The keyboard, in one table of words for the help and one function that acts on it.
import { metricsOf } from "../model/estimate.ts";
import { moveCursor } from "../model/cursor.ts";
import type { State } from "../model/state.ts";
import { kRoot } from "../model/tree.ts";
import { kTabs } from "../model/url.ts";

const kKeys: readonly (readonly [string, string])[] = [
  ["click", "zoom to a frame; on a type: show that type only"],
  ["Esc, 0", "back to everything"],
  ["/, Ctrl-F", "search by regular expression; a capital letter makes case count"],
  ["Enter, n / N", "next, previous match, heaviest first"],
  ["← ↑ → ↓", "parent, child, neighbours"],
  ["Enter, Space", "zoom to the frame at the cursor"],
  ["v", "allocated, live, exceptions, locks, waits, GC CPU: what the recording has"],
  ["m", "bytes, objects, samples; of events how many and how long"],
  ["i", "icicle or flame graph"],
  ["t", "types as leaf frames, on or off"],
  ["p", "async and thread-pool plumbing, shown or folded"],
  ["1 2 3 4", "types, methods, sites, threads"],
  ["d", "dark or light"],
  ["?", "this help"],
];

const kLineKeys: typeof kKeys = [
  ["s", "source of the frame that is selected, shown or hidden"],
  ["5", "lines"],
];

export const keysOf = (state: State): typeof kKeys =>
  state.data.lines === null ? kKeys : kKeys.flatMap((row) => (row[0] === "d" ? [...kLineKeys, row] : [row]));

const kMoves: Record<string, "up" | "down" | "left" | "right"> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

// Keys that move within the icicle; true = done.
export function icicleKey(state: State, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const move = kMoves[event.key];
  if (move) {
    const deeper = state.flame.value ? "up" : "down";
    const step = move === "left" || move === "right" ? move : move === deeper ? "child" : "parent";
    state.cursor.value = moveCursor(state, step);
  } else if (event.key === "Enter" || event.key === " ") {
    if (state.cursor.value !== null) state.activate(state.cursor.value);
  } else {
    return false;
  }
  event.preventDefault();
  return true;
}

export function toggleTheme(state: State): void {
  state.theme.value = state.shownTheme.value === "dark" ? "light" : "dark";
}

// Esc takes back one thing at a time, the nearest first.
export function stepBack(state: State): void {
  if (state.help.value) state.help.value = false;
  else if (state.query.value !== "") state.query.value = "";
  else if (state.zoom.value !== kRoot) state.zoomTo(kRoot);
  else if (state.type.value !== null) state.selectType(null);
  else if (state.thread.value !== null) state.selectThread(null);
  else state.cursor.value = null;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;

// Keys that work wherever the focus is.
export function globalKey(state: State, event: KeyboardEvent, focusSearch: () => boolean): void {
  if (event.defaultPrevented) return;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "f") {
    // A second Ctrl-F is the browser's own search.
    if (focusSearch()) event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    stepBack(state);
    event.preventDefault();
    return;
  }
  if (isTyping(event.target)) return;
  const actions: Record<string, () => void> = {
    "/": () => void focusSearch(),
    "0": () => {
      state.zoomTo(kRoot);
      state.cursor.value = null;
    },
    n: () => state.stepMatch(1),
    N: () => state.stepMatch(-1),
    v: () => {
      const names = state.views.map((view) => view.meta.shows);
      state.show(names[(names.indexOf(state.shows.value) + 1) % names.length]!);
    },
    m: () => {
      const all = metricsOf(state.data.meta);
      state.metric.value = all[(all.indexOf(state.metric.value) + 1) % all.length]!;
    },
    i: () => (state.flame.value = !state.flame.value),
    t: () => (state.typeLeaves.value = !state.typeLeaves.value),
    p: () => (state.machinery.value = !state.machinery.value),
    s: () => {
      if (state.data.lines !== null) state.source.value = !state.source.value;
    },
    d: () => toggleTheme(state),
    "?": () => (state.help.value = !state.help.value),
    "1": () => (state.tab.value = kTabs[0]!),
    "2": () => (state.tab.value = kTabs[1]!),
    "3": () => (state.tab.value = kTabs[2]!),
    "4": () => (state.tab.value = kTabs[3]!),
    "5": () => (state.tab.value = kTabs[4]!),
  };
  const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
  if (action) {
    action();
    event.preventDefault();
  } else if (event.target === document.body) {
    icicleKey(state, event);
  }
}
