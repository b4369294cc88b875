// SPDX-License-Identifier: Apache-2.0
// What is on screen ↔ the URL's fragment, so that a link or the Back button brings a view back.
import { type ViewName, kViewNames } from "../data/profile.ts";
import { type Metric, kMetrics } from "./estimate.ts";

export type Tab = "types" | "methods" | "sites";
export const kTabs: readonly Tab[] = ["types", "methods", "sites"];

export interface ViewState {
  readonly shows: ViewName | null; // null = what the page shows first
  readonly metric: Metric;
  readonly flame: boolean;
  readonly machinery: boolean;
  readonly typeLeaves: boolean;
  readonly zoom: readonly number[]; // what each node on the way is (see Tree.what)
  readonly query: string;
  readonly type: number | null;
  readonly process: number | null;
  readonly kind: number | null;
  readonly age: number | null; // seconds: live objects that are older
  readonly theme: "light" | "dark" | null; // null = as the system has it
  readonly tab: Tab;
}

export const kInitial: ViewState = {
  shows: null,
  metric: "bytes",
  flame: false,
  machinery: false,
  typeLeaves: true,
  zoom: [],
  query: "",
  type: null,
  process: null,
  kind: null,
  age: null,
  theme: null,
  tab: "types",
};

// Only what differs from kInitial.
export function toHash(s: ViewState): string {
  const out = new URLSearchParams();
  if (s.shows) out.set("shows", s.shows);
  if (s.metric !== kInitial.metric) out.set("metric", s.metric);
  if (s.flame) out.set("view", "flame");
  if (s.machinery) out.set("plumbing", "1");
  if (!s.typeLeaves) out.set("leaves", "0");
  if (s.zoom.length > 0) out.set("zoom", s.zoom.map((w) => w.toString(36)).join("."));
  if (s.query) out.set("q", s.query);
  if (s.type !== null) out.set("type", String(s.type));
  if (s.process !== null) out.set("process", String(s.process));
  if (s.kind !== null) out.set("heap", String(s.kind));
  if (s.age !== null) out.set("older", String(s.age));
  if (s.theme) out.set("theme", s.theme);
  if (s.tab !== kInitial.tab) out.set("tab", s.tab);
  return out.toString();
}

function index(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

// Whatever a fragment holds, the result is a valid state; what it does not say is as in kInitial.
export function fromHash(hash: string): ViewState {
  const h = new URLSearchParams(hash.replace(/^#/, ""));
  const oneOf = <T extends string>(name: string, values: readonly T[], otherwise: T): T =>
    values.find((v) => v === h.get(name)) ?? otherwise;
  const theme = h.get("theme");
  const zoom = (h.get("zoom") ?? "").split(".").filter((t) => /^-?[0-9a-z]{1,7}$/.test(t));
  return {
    shows: kViewNames.find((v) => v === h.get("shows")) ?? null,
    metric: oneOf("metric", kMetrics, kInitial.metric),
    flame: h.get("view") === "flame",
    machinery: h.get("plumbing") === "1",
    typeLeaves: h.get("leaves") !== "0",
    zoom: zoom.map((t) => parseInt(t, 36)),
    query: h.get("q") ?? "",
    type: index(h.get("type")),
    process: index(h.get("process")),
    kind: index(h.get("heap")),
    age: index(h.get("older")),
    theme: theme === "light" || theme === "dark" ? theme : null,
    tab: oneOf("tab", kTabs, kInitial.tab),
  };
}
