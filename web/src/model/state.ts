// SPDX-License-Identifier: Apache-2.0
// The page's state as signals, and everything that follows from it.
import { type ReadonlySignal, type Signal, batch, computed, signal } from "@preact/signals";
import type { FrameId, NodeId, TypeId } from "../base/brand.ts";
import { kMachinery, type ProfileData, type ViewName } from "../data/profile.ts";
import { type Palette, type Theme, makePalette } from "./color.ts";
import { type Metric, metricsOf } from "./estimate.ts";
import { type FrameLines, type LineSums, lineRows, linesOf, nodeAtPlace, placeSums } from "./lines.ts";
import { type Found, compile, find, matchNames } from "./search.ts";
import { type Rows, methodRows, siteRows, threadRows, typeRows } from "./tables.ts";
import { type Tree, buildTree, findPath, isType, kRoot, parentOf, pathTo, typeOf } from "./tree.ts";
import { type Tab, type ViewState, fromHash, tabsOf, toHash } from "./url.ts";
import { type Selection, type Weights, kEverything, weigh } from "./weights.ts";

export interface SearchState {
  readonly error: string | null;
  readonly found: Found | null; // null when nothing is searched for
}

export interface State {
  readonly views: readonly ProfileData[]; // at least one
  readonly data: ProfileData; // the view that is shown; reading it follows the choice
  readonly shows: Signal<ViewName>;
  readonly metric: { value: Metric }; // one that the view has
  readonly flame: Signal<boolean>;
  readonly machinery: Signal<boolean>;
  readonly typeLeaves: Signal<boolean>;
  readonly type: Signal<TypeId | null>;
  readonly process: Signal<number | null>;
  readonly thread: Signal<number | null>;
  readonly kind: Signal<number | null>;
  readonly age: Signal<number | null>; // of live objects: seconds, where an age bucket begins
  readonly query: Signal<string>;
  readonly theme: Signal<Theme | null>;
  readonly systemTheme: Signal<Theme>;
  readonly tab: { value: Tab }; // likewise
  readonly help: Signal<boolean>;
  // The node that the keyboard or the search is at; another tree has none.
  readonly cursor: { value: NodeId | null };
  readonly matchIndex: Signal<number>; // -1 before the first Enter
  readonly source: Signal<boolean>; // the panel of source is wanted
  // Derived.
  readonly tree: ReadonlySignal<Tree>;
  readonly selection: ReadonlySignal<Selection>;
  readonly weights: ReadonlySignal<Weights>;
  readonly zoom: ReadonlySignal<NodeId>;
  readonly search: ReadonlySignal<SearchState>;
  readonly rows: ReadonlySignal<Rows>;
  readonly selected: ReadonlySignal<NodeId | null>; // what the panel of source is about
  readonly lines: ReadonlySignal<FrameLines | null>; // of `selected`; the line that was picked comes first
  readonly places: ReadonlySignal<LineSums | null>; // of what is in view, by place
  readonly shownTheme: ReadonlySignal<Theme>;
  readonly palette: ReadonlySignal<Palette>;
  readonly hash: ReadonlySignal<string>;
  // Actions.
  zoomTo(node: NodeId): void;
  selectType(type: TypeId | null): void;
  selectThread(thread: number | null): void;
  show(view: ViewName): void;
  activate(node: NodeId): void; // what a click does
  stepMatch(by: 1 | -1): void;
  pickPlace(place: number, frame: FrameId | null): void; // goes to the heaviest frame at that line
  apply(view: ViewState): void;
}

const inRange = (i: number | null, n: number): number | null => (i !== null && i < n ? i : null);

// Matches narrower than this share of the view are zoomed to, until they have kComfortable of it.
const kTooThin = 0.004;
const kComfortable = 0.05;

// Where to zoom for `node` to be seen: not at all if it can be helped.
function viewOf(tree: Tree, value: Float64Array, zoom: NodeId, node: NodeId): NodeId {
  const seen = zoom === kRoot || pathTo(tree, node).includes(zoom);
  const from = seen ? zoom : kRoot;
  if (value[node]! >= kTooThin * value[from]!) return from;
  let view = parentOf(tree, node);
  while (view !== kRoot && value[node]! >= kComfortable * value[parentOf(tree, view)]!) view = parentOf(tree, view);
  return view;
}

// What was chosen where the view has it, else the first that the view has.
function choice<T>(chosen: Signal<T | null>, all: ReadonlySignal<readonly T[]>): { value: T } {
  const shown = computed(() => all.value.find((v) => v === chosen.value) ?? all.value[0]!);
  return {
    get value() {
      return shown.value;
    },
    set value(v) {
      if (all.peek().includes(v)) chosen.value = v === all.peek()[0] ? null : v;
    },
  };
}

export function createState(views: readonly ProfileData[], hash: string, savedTheme: Theme | null): State {
  const first = fromHash(hash);
  const shared = views[0]!;
  const viewOr = (name: ViewName | null) => views.find((v) => v.meta.shows === name)?.meta.shows ?? shared.meta.shows;
  const ageOr = (s: number | null) => (s !== null && s > 0 && shared.ages.starts.includes(s) ? s : null);
  const shows = signal<ViewName>(viewOr(first.shows));
  const current = computed(() => views.find((v) => v.meta.shows === shows.value)!);
  const meta = computed(() => current.value.meta);
  const metricChosen = signal<Metric | null>(first.metric);
  const metric = choice(metricChosen, computed(() => metricsOf(meta.value)));
  const flame = signal(first.flame);
  const machinery = signal(first.machinery);
  const typeLeaves = signal(first.typeLeaves);
  const type = signal(inRange(first.type, shared.types.length) as TypeId | null);
  const process = signal(inRange(first.process, shared.meta.processes.length));
  const thread = signal(inRange(first.thread, shared.meta.threads.length));
  const kind = signal(inRange(first.kind, 4));
  const age = signal(ageOr(first.age));
  const query = signal(first.query);
  const theme = signal<Theme | null>(first.theme ?? savedTheme);
  const systemTheme = signal<Theme>("light");
  const tabChosen = signal<Tab | null>(first.tab);
  const tab = choice(tabChosen, computed(() => tabsOf(meta.value, current.value.lines !== null)));
  const source = signal(first.source);
  const picked = signal<{ node: NodeId; place: number } | null>(null);
  const help = signal(false);
  const matchIndex = signal(-1);
  // By what the nodes are, not by their numbers: it outlives another tree.
  const zoomPath = signal<readonly number[]>(first.zoom);

  const tree = computed(() => {
    const leaves = typeLeaves.value && meta.value.typed;
    return buildTree(current.value, { machinery: machinery.value, typeLeaves: leaves });
  });
  const place = signal<{ tree: Tree; node: NodeId } | null>(null);
  const cursor = {
    get value(): NodeId | null {
      return place.value?.tree === tree.value ? place.value.node : null;
    },
    set value(node: NodeId | null) {
      place.value = node === null ? null : { tree: tree.peek(), node };
    },
  };
  const selection = computed<Selection>(() => {
    if (shows.value === "gc-cpu") return { ...kEverything, process: process.value };
    const bucket = shows.value === "live" && age.value !== null ? shared.ages.starts.indexOf(age.value) : null;
    return {
      type: meta.value.typed ? type.value : null,
      process: process.value,
      thread: meta.value.byThread ? thread.value : null,
      kind: meta.value.heaps ? kind.value : null,
      age: bucket,
    };
  });
  const weights = computed(() => weigh(current.value, tree.value, selection.value));
  const zoom = computed(() => {
    // A selection can leave nothing of the zoomed node: then the nearest ancestor that has some.
    let node = findPath(tree.value, zoomPath.value, (w) => (shared.frames[w]?.flags ?? 0) & kMachinery);
    while (node !== kRoot && weights.value.total.samples[node] === 0) node = parentOf(tree.value, node);
    return node;
  });
  const compiled = computed(() => (query.value === "" ? null : compile(query.value)));
  const names = computed(() => (compiled.value?.ok ? matchNames(current.value, compiled.value.value) : null));
  const search = computed<SearchState>(() => ({
    error: compiled.value && !compiled.value.ok ? compiled.value.error : null,
    found: names.value && find(tree.value, weights.value, metric.value, names.value),
  }));
  const rows = computed(() => {
    const data = current.value;
    if (tab.value === "types") return typeRows(data, tree.value, selection.value, zoom.value);
    if (tab.value === "threads") return threadRows(data, tree.value, selection.value, zoom.value);
    if (tab.value === "methods") return methodRows(data, tree.value, weights.value, zoom.value);
    if (tab.value === "lines") return lineRows(data, data.lines!, tree.value, selection.value, zoom.value);
    return siteRows(data, tree.value, selection.value, zoom.value);
  });
  const selected = computed(() => cursor.value ?? (zoom.value === kRoot ? null : zoom.value));
  const lines = computed<FrameLines | null>(() => {
    const data = current.value;
    if (selected.value === null || data.lines === null) return null;
    const found = linesOf(data, data.lines, tree.value, selection.value, selected.value, metric.value);
    const place = picked.value?.node === selected.value ? picked.value.place : -1;
    return found?.places.includes(place) ? { ...found, places: [place, ...found.places.filter((p) => p !== place)] } : found;
  });
  const places = computed(() => {
    const data = current.value;
    return data.lines && placeSums(data, data.lines, tree.value, selection.value, zoom.value);
  });
  const shownTheme = computed(() => theme.value ?? systemTheme.value);
  const palette = computed(() => makePalette(current.value, shownTheme.value));
  const view = computed<ViewState>(() => ({
    shows: shows.value === shared.meta.shows ? null : shows.value,
    metric: metricChosen.value,
    flame: flame.value,
    machinery: machinery.value,
    typeLeaves: typeLeaves.value,
    zoom: zoomPath.value,
    query: query.value,
    type: type.value,
    process: process.value,
    thread: thread.value,
    kind: kind.value,
    age: age.value,
    theme: theme.value,
    source: source.value,
    tab: tabChosen.value,
  }));

  const zoomTo = (node: NodeId) => {
    batch(() => {
      zoomPath.value = pathTo(tree.value, node).map((n) => tree.value.what[n]!);
      cursor.value = node === kRoot ? null : node;
    });
  };
  // To a node that is seen, as one that is too thin is no sight.
  const goTo = (node: NodeId) => {
    const view = viewOf(tree.value, weights.value.total[metric.value], zoom.value, node);
    if (view !== zoom.value) zoomTo(view);
    cursor.value = node;
  };
  const selectType = (t: TypeId | null) => {
    batch(() => {
      type.value = t === type.value ? null : t;
      cursor.value = null;
      matchIndex.value = -1;
    });
  };
  const selectThread = (t: number | null) => {
    batch(() => {
      thread.value = t === thread.value ? null : t;
      cursor.value = null;
      matchIndex.value = -1;
    });
  };
  return {
    views,
    get data() {
      return current.value;
    },
    shows,
    metric,
    flame,
    machinery,
    typeLeaves,
    type,
    process,
    thread,
    kind,
    age,
    query,
    theme,
    systemTheme,
    tab,
    help,
    cursor,
    matchIndex,
    tree,
    selection,
    weights,
    zoom,
    source,
    search,
    rows,
    selected,
    lines,
    places,
    shownTheme,
    palette,
    hash: computed(() => toHash(view.value)),
    zoomTo,
    selectType,
    selectThread,
    show: (v) => {
      batch(() => {
        const from = meta.peek();
        shows.value = viewOr(v);
        // Another quantity is another question: its first comes first.
        const to = meta.peek();
        const alike = !to.events || (["bytes", "objects"] as const).every((q) => to.quantity[q].name === from.quantity[q].name);
        if (from.events !== to.events || !alike) metricChosen.value = null;
        cursor.value = null;
        matchIndex.value = -1;
      });
    },
    activate: (node) => {
      if (isType(tree.value, node)) selectType(typeOf(tree.value, node));
      else zoomTo(node);
    },
    stepMatch: (by) => {
      const list = search.value.found?.outermost ?? [];
      if (list.length === 0) return;
      const at = matchIndex.value < 0 && by < 0 ? 0 : matchIndex.value;
      const next = (at + by + list.length) % list.length;
      batch(() => {
        matchIndex.value = next;
        goTo(list[next]!);
      });
    },
    pickPlace: (at, frame) => {
      const data = current.value;
      if (data.lines === null) return;
      const node = nodeAtPlace(data, data.lines, tree.value, selection.value, zoom.value, metric.value, at, frame);
      if (node === null) return;
      batch(() => {
        picked.value = { node, place: at };
        goTo(node);
      });
    },
    apply: (v) => {
      batch(() => {
        shows.value = viewOr(v.shows);
        metricChosen.value = v.metric;
        flame.value = v.flame;
        machinery.value = v.machinery;
        typeLeaves.value = v.typeLeaves;
        zoomPath.value = v.zoom;
        query.value = v.query;
        type.value = inRange(v.type, shared.types.length) as TypeId | null;
        process.value = inRange(v.process, shared.meta.processes.length);
        thread.value = inRange(v.thread, shared.meta.threads.length);
        kind.value = inRange(v.kind, 4);
        age.value = ageOr(v.age);
        theme.value = v.theme ?? theme.value;
        source.value = v.source;
        tabChosen.value = v.tab;
        cursor.value = null;
      });
    },
  };
}
