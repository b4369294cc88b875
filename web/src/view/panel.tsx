// SPDX-License-Identifier: Apache-2.0
// The tables beside the icicle: types, methods, sites of what is in view.
import { useComputed, useSignal } from "@preact/signals";
import type { FrameId, TypeId } from "../base/brand.ts";
import { formatCount, formatExact, formatPercent, shortMethod, shortType, splitName } from "../base/format.ts";
import { type Meta, type ViewName, kFramework } from "../data/profile.ts";
import { metricsOf } from "../model/estimate.ts";
import { type LineRows, placeName } from "../model/lines.ts";
import { type SortKey, orderRows } from "../model/tables.ts";
import { frameOf, isType, kRoot } from "../model/tree.ts";
import type { State } from "../model/state.ts";
import { type Tab, kTabs, tabsOf } from "../model/url.ts";
import { formatMetric, intervalText, isFew, metricName } from "./figures.tsx";
import { labelsOf } from "./paint.ts";
import { type Column, Table } from "./table.tsx";

const kTabNames: Record<Tab, string> = { types: "Types", methods: "Methods", sites: "Sites", threads: "Threads", lines: "Lines" };
const kTabTitles: Record<Tab, string> = {
  types: "1: what is allocated",
  methods: "2: methods, themselves and with what they call",
  sites: "3: your own code that allocates, with the type",
  threads: "4: who allocates",
  lines: "5: lines of your own code, by what they allocate, and what they call",
};

const kVerbs: Partial<Record<ViewName, string>> = { allocated: "allocated", live: "live, allocated", "gc-cpu": "used" };
const kNothing: Partial<Record<ViewName, string>> = {
  allocated: "Nothing was allocated here.",
  live: "Nothing of it lives.",
  "gc-cpu": "No CPU time was used here.",
};

export const nothingHere = (meta: Meta): string => kNothing[meta.shows] ?? `No ${meta.title} here.`;

function tabTitle(meta: Meta, tab: Tab): string {
  if (meta.shows === "gc-cpu") return "what used the CPU";
  if (tab === "threads") return `4: the threads${meta.events ? "" : " that allocate"}`;
  if (tab === "lines") return meta.events ? `5: lines of your own ${meta.doing} code, and what they call` : kTabTitles.lines;
  if (!meta.events || tab === "methods") return kTabTitles[tab];
  return tab === "types" ? `1: what ${meta.done}` : `3: your own ${meta.doing} code${meta.typed ? ", with the type" : ""}`;
}

function Name({ name, keep }: { name: string; keep: number }) {
  const [lead, tail] = splitName(name, keep);
  return (
    <>
      <span class="lead">{lead}</span>
      <span class="tail">{tail}</span>
    </>
  );
}

export function Panel({ state }: { state: State }) {
  const { data } = state;
  const meta = data.meta;
  const sort = useSignal<SortKey | null>(null); // null = by the metric in use
  const ascending = useSignal(false);
  const filter = useSignal("");
  const sortKey = useComputed<SortKey>(() => {
    const key = sort.value ?? (state.tab.value === "lines" ? "self" : state.metric.value);
    const missing = (key === "self" && !state.rows.value.self) || (key === "samples" && state.data.meta.events);
    return missing ? state.metric.value : key;
  });
  const order = useComputed(() =>
    orderRows(state.rows.value, sortKey.value, ascending.value, state.metric.value, filter.value),
  );

  const cpu = meta.shows === "gc-cpu";
  const tab = state.tab.value;
  const metric = state.metric.value;
  const rows = state.rows.value;
  const zoom = state.zoom.value;
  const heap = state.kind.value;
  const whole = state.weights.value.total[metric][zoom]!;
  // Types and threads keep their shares of everything in view, though one of them may be selected.
  const all = tab === "types" || tab === "threads" ? rows.value[metric].reduce((a, b) => a + b, 0) : whole;

  const lineRows = tab === "lines" && "place" in rows ? (rows as LineRows) : null;
  const selfAndTotal = rows.self !== null;
  const typeName = (r: number) => data.types[rows.type![r]!]!.name;
  const frameName = (r: number) => data.frames[rows.frame![r]!]?.name ?? "[no stack]";
  const nameCell = (r: number) => {
    if (tab === "threads") return <span class="tail">{rows.name(r)}</span>;
    if (tab === "types") return <Name name={typeName(r)} keep={1} />;
    if (lineRows) {
      const place = lineRows.place[r]!;
      if (place < 0) return <Name name={frameName(r)} keep={2} />;
      return (
        <>
          <span class="tail">
            {lineRows.approximate[r] ? "~ " : ""}
            {placeName(data.lines!, place)}
          </span>
          <span class="lead">&nbsp;{shortMethod(frameName(r))}</span>
        </>
      );
    }
    if (tab === "methods") return <Name name={frameName(r)} keep={2} />;
    if (!meta.typed) return <Name name={frameName(r)} keep={2} />;
    return (
      <>
        <span class="tail">{shortMethod(frameName(r))}</span>
        <span class="lead">&nbsp;→ {shortType(typeName(r))}</span>
      </>
    );
  };

  const lineTitle = (r: number) => {
    const place = lineRows!.place[r]!;
    if (place < 0) return `${frameName(r)}\nno line of it is known`;
    const about = lineRows!.approximate[r] ? "\n~ may be another line of the method" : "";
    return `${data.lines!.files[data.lines!.file[place]!]!.path}:${data.lines!.number[place]!}\n${frameName(r)}${about}`;
  };
  const isAtRow = (r: number) => {
    const at = state.lines.value;
    return at !== null && lineRows!.place[r] === at.places[0] && lineRows!.frame![r] === frameOf(state.tree.value, at.node);
  };
  const by = (whom: string) =>
    meta.events
      ? `${metricName(meta, metric)} in the method ${whom}`
      : `${metricName(meta, metric)} ${kVerbs[meta.shows]} by the method ${whom}`;

  const wide = cpu ? "c-num c-cpu" : "c-num c-wide";
  const columns: Column[] = [
    { key: "name", label: "Name", title: "sort by name", className: lineRows ? "c-name line" : tab === "sites" && meta.typed ? "c-name site" : "c-name", cell: nameCell },
  ];
  if (selfAndTotal) {
    columns.push({
      key: "self",
      label: "Self",
      title: cpu ? "CPU time of this part alone" : lineRows ? by("at this line, in framework code too that it calls") : by("itself"),
      className: wide,
      cell: (r) => formatMetric(meta, metric, rows.self![metric][r]!),
    });
  }
  const both = metricsOf(meta).filter((m) => m !== "samples");
  const shown = tab === "types" || tab === "threads" || (tab === "sites" && meta.events) ? both : [metric];
  for (const m of shown) {
    columns.push({
      key: m,
      label: selfAndTotal ? "Total" : metricName(meta, m),
      title: cpu
        ? "CPU time of this part and those below it"
        : lineRows
          ? by("at this line and what it calls")
          : tab === "methods"
            ? by("and what it calls")
            : `sort by ${metricName(meta, m).toLowerCase()}`,
      className: wide,
      cell: (r) => formatMetric(meta, m, rows.value[m][r]!),
    });
    if (meta.hasInterval && (m === metric || (m === "bytes" && metric === "samples")) && m !== "samples") {
      columns.push({
        key: null,
        label: "95 %",
        title: `95 % interval of ${m}: with this chance the true figure is within`,
        className: "c-num c-int",
        cell: (r) => intervalText(meta, m, rows.value, r, heap),
      });
    }
  }
  if (cpu) {
    columns.push({
      key: null,
      label: "Share",
      title: "of the CPU time in view",
      className: wide,
      cell: (r) => formatPercent(rows.value[metric][r]!, all),
    });
  } else if (!meta.events && (tab === "types" || tab === "threads" || metric !== "samples")) {
    columns.push({
      key: "samples",
      label: "Samples",
      title: `sampled allocations; rows on fewer than 5 are rough`,
      className: "c-num c-samples",
      cell: (r) => formatCount(rows.value.samples[r]!),
    });
  }

  const pick = (r: number) => {
    if (lineRows && lineRows.place[r]! >= 0) {
      state.pickPlace(lineRows.place[r]!, lineRows.frame![r]! as FrameId);
    } else if (rows.thread !== null) {
      if (data.meta.threads[rows.thread[r]!]) state.selectThread(rows.thread[r]!);
    } else if (rows.type === null) {
      state.query.value = `^${data.frames[rows.frame![r]!]!.name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$`;
      state.matchIndex.value = -1;
      state.stepMatch(1);
    } else {
      state.selectType(rows.type[r]! as TypeId);
    }
  };
  const things = cpu ? "parts" : tab;
  const scope =
    zoom === kRoot ? "in all" : `${isType(state.tree.value, zoom) ? "of" : "below"} ${labelsOf(data, state.tree.value, zoom)[1]}`;

  return (
    <section class="panel" aria-label="Tables">
      <div class="panel-head">
        <div class="tabs" role="tablist">
          {kTabs.filter((t) => tabsOf(meta, data.lines !== null).includes(t)).map((t) => (
            <button role="tab" aria-selected={tab === t} title={tabTitle(meta, t)} onClick={() => (state.tab.value = t)}>
              {cpu ? "Parts" : kTabNames[t]}
            </button>
          ))}
        </div>
        <span class="scope" title={scope}>
          {formatExact(order.value.length)} {order.value.length === 1 ? things.slice(0, -1) : things} {scope}
        </span>
        <input
          type="text"
          class="filter"
          placeholder="Filter"
          aria-label="Filter rows by name"
          spellcheck={false}
          value={filter.value}
          onInput={(e) => (filter.value = e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key !== "Escape") return;
            if (filter.value === "") e.currentTarget.blur();
            filter.value = "";
            e.preventDefault();
          }}
        />
      </div>
      <Table
        key={cpu ? "parts" : tab}
        label={cpu ? "Parts" : kTabNames[tab]}
        columns={columns}
        order={order.value}
        sort={sortKey.value}
        ascending={ascending.value}
        empty={filter.value ? "No name contains this text." : nothingHere(meta)}
        rowClass={(r) => {
          const quiet = rows.frame && (data.frames[rows.frame[r]!]?.flags ?? 0) & kFramework ? "framework" : "";
          return isFew(meta, rows.value, r) ? `few ${quiet}` : quiet;
        }}
        share={(r) => (all > 0 ? Math.min(1, (rows.self ? rows.self[metric] : rows.value[metric])[r]! / all) : 0)}
        selected={(r) =>
          lineRows ? isAtRow(r) : rows.thread !== null ? rows.thread[r] === state.thread.value : state.type.value !== null && rows.type !== null && rows.type[r] === state.type.value
        }
        rowTitle={(r) => {
          const name = lineRows ? lineTitle(r) : tab === "threads" ? rows.name(r) : tab === "types" ? typeName(r) : tab === "methods" || !meta.typed ? frameName(r) : `${frameName(r)} → ${typeName(r)}`;
          const few = isFew(meta, rows.value, r) ? `\nfew samples (${formatExact(rows.value.samples[r]!)}): a rough figure` : "";
          return `${name}\n${formatPercent(rows.value[metric][r]!, all)} of what is in view${few}`;
        }}
        onSort={(key) => {
          if (sortKey.value === key) {
            ascending.value = !ascending.value;
          } else {
            ascending.value = key === "name";
          }
          // Following the metric in use is the default, and comes back with it.
          sort.value = key === state.metric.value ? null : key;
        }}
        onPick={pick}
      />
    </section>
  );
}
