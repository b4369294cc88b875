// SPDX-License-Identifier: Apache-2.0
// The table of collections: any number of rows, of which those in sight exist; and one in detail.
import { useEffect, useRef, useState } from "preact/hooks";
import { formatExact, printable } from "../base/format.ts";
import { bytes, millis } from "./app.tsx";
import { type State, kindOf } from "./state.ts";

interface GridColumn { readonly title: string; readonly column: string; readonly width: number; readonly left?: boolean; readonly about?: string; cell(state: State, row: number): string }

const at = (state: State, name: string, row: number) => state.column(name)[row]!;
const size = (title: string, column: string, about?: string): GridColumn => ({ title, column, width: 84, ...(about ? { about } : {}), cell: (s, row) => bytes(at(s, column, row)) });
const time = (title: string, column: string, about?: string): GridColumn => ({ title, column, width: 78, ...(about ? { about } : {}), cell: (s, row) => millis(at(s, column, row)) });
const share = (title: string, column: string): GridColumn => ({ title, column, width: 68, cell: (s, row) => (at(s, column, row) >= 0 ? `${at(s, column, row).toFixed(0)} %` : "–") });

const kGrid: readonly GridColumn[] = [
  { title: "GC", column: "number", width: 92, cell: (s, row) => (at(s, "count", row) > 1 ? `${at(s, "number", row)}–${at(s, "last_number", row)}` : String(at(s, "number", row))) },
  { title: "At s", column: "start_ms", width: 80, cell: (s, row) => (at(s, "start_ms", row) / 1000).toFixed(3) },
  { title: "Gen", column: "generation", width: 58, left: true, about: "N blocking, B background, F foreground, I induced", cell: (s, row) => kindOf(s.process.value, row) },
  { title: "Reason", column: "reason", width: 120, left: true, cell: (s, row) => s.page.reasons[at(s, "reason", row)] ?? String(at(s, "reason", row)) },
  time("Pause ms", "pause_ms", "the program stood still"),
  time("Longest", "max_pause_ms", "of rows that are merged"),
  time("Suspend", "suspend_ms", "until all threads stood still"),
  size("Allocated", "allocated_bytes", "since the GC before"),
  { ...size("Rate /s", "rate"), width: 92 },
  size("Peak", "peak_bytes"),
  size("After", "after_bytes"),
  size("Promoted", "promoted_bytes"),
  size("gen0", "gen0_bytes"), size("gen1", "gen1_bytes"), size("gen2", "gen2_bytes"), size("LOH", "loh_bytes"), size("POH", "poh_bytes"),
  share("Surv0", "gen0_survived_percent"), share("Surv1", "gen1_survived_percent"), share("Surv2", "gen2_survived_percent"),
  share("SurvL", "loh_survived_percent"), share("SurvP", "poh_survived_percent"),
  size("Free", "fragmentation_bytes", "fragmentation of all generations"),
  size("Committed", "committed_bytes"),
  { title: "Pinned", column: "pinned_objects", width: 66, cell: (s, row) => (at(s, "pinned_objects", row) >= 0 ? formatExact(at(s, "pinned_objects", row)) : "–") },
  { title: "Heaps", column: "heaps", width: 56, cell: (s, row) => (at(s, "heaps", row) >= 0 ? String(at(s, "heaps", row)) : "–") },
  { title: "Load", column: "memory_load_percent", width: 56, cell: (s, row) => (at(s, "memory_load_percent", row) >= 0 ? `${at(s, "memory_load_percent", row)} %` : "–") },
  { title: "", column: "marks", width: 36, left: true, about: "! events were lost, ? not everything was seen", cell: (s, row) => { const m = at(s, "marks", row); return (m & 2 ? "!" : "") + (m & 1 ? "?" : ""); } },
];
const kRow = 22;

export function Grid({ state }: { state: State }) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const rows = state.rows.value;
  const { column, descending } = state.sort.value;
  useEffect(() => box.current?.style.setProperty("--columns", kGrid.map((c) => `${c.width}px`).join(" ")), []);
  useEffect(() => {
    // What was chosen in a chart comes into sight.
    const chosen = state.selected.value;
    const index = chosen < 0 ? -1 : rows.indexOf(chosen);
    const element = box.current;
    if (index < 0 || !element) return;
    const y = index * kRow;
    if (y < element.scrollTop || y > element.scrollTop + element.clientHeight - 3 * kRow) element.scrollTop = Math.max(0, y - element.clientHeight / 2);
  }, [state.selected.value]);
  const height = box.current?.clientHeight ?? 460;
  const first = Math.max(0, Math.floor(top / kRow) - 5);
  const last = Math.min(rows.length, Math.ceil((top + height) / kRow) + 5);
  const visible: number[] = [];
  for (let i = first; i < last; i++) visible.push(i);
  return (
    <section>
      <h2>Collections</h2>
      <div class="grid" ref={box} role="grid" aria-rowcount={rows.length} tabIndex={0} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
        <div class="heads" role="row">
          {kGrid.map((c) => (
            <div key={c.column} role="columnheader" aria-sort={column === c.column ? (descending ? "descending" : "ascending") : "none"}>
              <button
                class={c.left ? "left" : ""}
                title={c.about ?? ""}
                onClick={() => (state.sort.value = { column: c.column, descending: column === c.column ? !descending : c.column !== "number" && c.column !== "start_ms" })}
              >
                {c.title}{column === c.column ? (descending ? " ▾" : " ▴") : ""}
              </button>
            </div>
          ))}
        </div>
        <div class="sheet" ref={(e) => { if (e) e.style.height = `${Math.max(rows.length * kRow, 1)}px`; }}>
          {visible.map((i) => {
            const row = rows[i]!;
            return (
              <div
                key={row}
                class="row"
                role="row"
                aria-rowindex={i + 1}
                aria-selected={state.selected.value === row}
                ref={(e) => { if (e) e.style.top = `${i * kRow}px`; }}
                onClick={() => (state.selected.value = state.selected.value === row ? -1 : row)}
              >
                {kGrid.map((c) => <span key={c.column} class={c.left ? "left" : ""}>{c.cell(state, row)}</span>)}
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}

export function Detail({ state }: { state: State }) {
  const row = state.selected.value;
  if (row < 0) return null;
  const p = state.process.value;
  const detail = p.details[String(row)];
  const name = (i: number) => printable(state.page.names[i] ?? "?");
  const merged = p.columns.count[row]! > 1;
  return (
    <div class="detail" id="detail">
      <h3>{merged ? `GCs ${p.columns.number[row]} to ${p.columns.last_number[row]}: that with the longest pause` : `GC ${p.columns.number[row]}`}</h3>
      {!detail && <p class="quiet">What was allocated before it is not in this page: it is there for the GCs with the longest pauses, where allocations were recorded.</p>}
      {detail && (
        <div class="columns">
          {detail.types.length > 0 && (
            <table class="plain">
              <thead><tr><th class="name">Allocated since the GC before</th><th>Estimate</th><th>Share</th></tr></thead>
              <tbody>{detail.types.map(([type, n]) => <tr key={type}><td class="name">{name(type)}</td><td>{bytes(n)}</td><td>{detail.all ? `${((100 * n) / detail.all).toFixed(0)} %` : "–"}</td></tr>)}</tbody>
            </table>
          )}
          {detail.sites.length > 0 && (
            <table class="plain">
              <thead><tr><th class="name">Where</th><th class="name">Type</th><th>Estimate</th></tr></thead>
              <tbody>{detail.sites.map(([type, method, n], i) => <tr key={i}><td class="name">{name(method)}</td><td class="name">{name(type)}</td><td>{bytes(n)}</td></tr>)}</tbody>
            </table>
          )}
          {detail.stack.length > 0 && <div><b>Asked for by</b>{detail.stack.slice(0, 20).map((f, i) => <div key={i}>{name(f)}</div>)}</div>}
        </div>
      )}
    </div>
  );
}
