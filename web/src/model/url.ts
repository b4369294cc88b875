// SPDX-License-Identifier: Apache-2.0
// What is on screen ↔ the URL's fragment, so that a link or the Back button brings a view back.
import { type ViewMeta, type ViewName, kViewNames } from "../data/profile.ts";
import { type Metric, kMetrics } from "./estimate.ts";

export type Tab = "types" | "methods" | "sites" | "threads" | "lines";
export const kTabs: readonly Tab[] = ["types", "methods", "sites", "threads", "lines"];

// The tables of a view; the first is the default.
export function tabsOf(meta: Pick<ViewMeta, "shows" | "typed" | "byThread">, lines = false): readonly Tab[] {
  if (meta.shows === "gc-cpu") return ["methods"];
  const tabs: Tab[] = meta.typed ? ["types", "methods", "sites"] : ["sites", "methods"];
  if (meta.byThread) tabs.push("threads");
  if (lines) tabs.push("lines");
  return tabs;
}

export interface ViewState {
  readonly shows: ViewName | null; // null = what the page shows first
  readonly metric: Metric | null; // null = the view's first
  readonly flame: boolean;
  readonly machinery: boolean;
  readonly typeLeaves: boolean;
  readonly zoom: readonly number[]; // what each node on the way is (see Tree.what)
  readonly query: string;
  readonly type: number | null;
  readonly process: number | null;
  readonly thread: number | null;
  readonly kind: number | null;
  readonly age: number | null; // seconds: live objects that are older
  readonly theme: "light" | "dark" | null; // null = as the system has it
  readonly source: boolean; // the panel of source, where lines are known
  readonly tab: Tab | null; // null = the view's first
}

export const kInitial: ViewState = {
  shows: null,
  metric: null,
  flame: false,
  machinery: false,
  typeLeaves: true,
  zoom: [],
  query: "",
  type: null,
  process: null,
  thread: null,
  kind: null,
  age: null,
  theme: null,
  source: true,
  tab: null,
};

// Only what differs from kInitial.
export function toHash(s: ViewState): string {
  const out = new URLSearchParams();
  if (s.shows) out.set("shows", s.shows);
  if (s.metric) out.set("metric", s.metric);
  if (s.flame) out.set("view", "flame");
  if (s.machinery) out.set("plumbing", "1");
  if (!s.typeLeaves) out.set("leaves", "0");
  if (s.zoom.length > 0) out.set("zoom", s.zoom.map((w) => w.toString(36)).join("."));
  if (s.query) out.set("q", s.query);
  if (s.type !== null) out.set("type", String(s.type));
  if (s.process !== null) out.set("process", String(s.process));
  if (s.thread !== null) out.set("thread", String(s.thread));
  if (s.kind !== null) out.set("heap", String(s.kind));
  if (s.age !== null) out.set("older", String(s.age));
  if (s.theme) out.set("theme", s.theme);
  if (!s.source) out.set("source", "0");
  if (s.tab) out.set("tab", s.tab);
  return out.toString();
}

function index(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

// Whatever a fragment holds, the result is a valid state; what it does not say is as in kInitial.
export function fromHash(hash: string): ViewState {
  const h = new URLSearchParams(hash.replace(/^#/, ""));
  const oneOf = <T extends string>(name: string, values: readonly T[]): T | null =>
    values.find((v) => v === h.get(name)) ?? null;
  const theme = h.get("theme");
  const zoom = (h.get("zoom") ?? "").split(".").filter((t) => /^-?[0-9a-z]{1,7}$/.test(t));
  return {
    shows: oneOf("shows", kViewNames),
    metric: oneOf("metric", kMetrics),
    flame: h.get("view") === "flame",
    machinery: h.get("plumbing") === "1",
    typeLeaves: h.get("leaves") !== "0",
    zoom: zoom.map((t) => parseInt(t, 36)),
    query: h.get("q") ?? "",
    type: index(h.get("type")),
    process: index(h.get("process")),
    thread: index(h.get("thread")),
    kind: index(h.get("heap")),
    age: index(h.get("older")),
    theme: theme === "light" || theme === "dark" ? theme : null,
    source: h.get("source") !== "0",
    tab: oneOf("tab", kTabs),
  };
}
