// SPDX-License-Identifier: Apache-2.0
import { formatBytes, formatDuration, formatExact, formatPercent, formatRate, formatTime, printable } from "../base/format.ts";
import { Chart } from "./chart.tsx";
import { kCharts } from "./charts.ts";
import type { Process, Rollup } from "./data.ts";
import { Detail, Grid } from "./grid.tsx";
import { type Kind, type State, kindOf } from "./state.ts";

export const millis = (v: number | null | undefined): string =>
  v === null || v === undefined || Number.isNaN(v) ? "–" : v >= 1000 ? formatExact(v) : v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2);
export const bytes = (v: number | null | undefined): string =>
  v === null || v === undefined || Number.isNaN(v) ? "–" : formatBytes(v);

export function App({ state }: { state: State }) {
  const { page } = state;
  if (page.processes.length === 0 || state.process.value.gcs === 0) {
    return <p class="fatal">No collections were recorded.</p>;
  }
  const process = state.process.value;
  return (
    <>
      <Header state={state} process={process} />
      <Figures process={process} />
      <Notes state={state} process={process} />
      <Bar state={state} process={process} />
      <div class="charts">{kCharts.map((spec) => <Chart key={spec.id} spec={spec} state={state} />)}</div>
      <Grid state={state} />
      <Detail state={state} />
      <Rollups process={process} />
      <Causes process={process} />
      <Tip state={state} />
    </>
  );
}

function Header({ state, process }: { state: State; process: Process }) {
  const { page } = state;
  const named = (p: Process) => `${printable(p.name ?? "process")} (${p.pid})`;
  return (
    <header>
      <h1>{named(process)}</h1>
      <span class="quiet">
        {[process.runtime, process.gc_server === null ? null : process.gc_server ? "server GC" : "workstation GC",
          (process.heap_count_max ?? 1) > 1 ? `${process.heap_count_max} heaps` : null,
          formatDuration((process.end_ms - process.start_ms) / 1000) + " recorded", formatTime(page.startUnixMs)]
          .filter(Boolean).join(" · ")}
      </span>
      <span class="spring" />
      {page.processes.length > 1 && (
        <select
          aria-label="Process"
          value={state.processIndex.value}
          onChange={(e) => {
            state.zoom.value = null;
            state.selected.value = -1;
            state.processIndex.value = Number(e.currentTarget.value);
          }}
        >
          {page.processes.map((p, i) => <option key={i} value={i}>{named(p)}: {formatExact(p.gcs)} GCs</option>)}
        </select>
      )}
      <button id="theme" onClick={() => (state.theme.value = state.theme.value === "dark" ? "light" : "dark")}>
        {state.theme.value === "dark" ? "Light" : "Dark"}
      </button>
    </header>
  );
}

function Figures({ process: p }: { process: Process }) {
  const all = p.by_generation.at(-1)!;
  const figure = (value: string, label: string) => <div key={label}><b>{value}</b><span>{label}</span></div>;
  return (
    <div class="figures">
      {figure(formatExact(p.gcs), "GCs")}
      {figure(p.pause_percent === null ? "–" : `${p.pause_percent.toFixed(p.pause_percent < 10 ? 2 : 1)} %`, "of the time paused")}
      {figure(`${millis(p.pause_ms.p50)} ms`, "median pause")}
      {figure(`${millis(p.pause_ms.p99)} ms`, "99th percentile")}
      {figure(`${millis(p.pause_ms.max)} ms`, "longest pause")}
      {figure(bytes(p.peak_max_bytes), "largest heap")}
      {figure(bytes(all.allocated_bytes), "allocated before GCs")}
      {figure(formatExact(all.induced), "induced")}
    </div>
  );
}

function Notes({ state, process: p }: { state: State; process: Process }) {
  const merged = p.gcs - p.rows;
  return (
    <div class="notes">
      {p.advice.map((a) => (
        <div class="advice" key={a.rule}><b>{a.evidence}.</b> {a.advice} <code>{a.setting}</code></div>
      ))}
      {state.page.losses.map((l) => <div class="note" key={l.sentence}>{formatExact(l.count)} {l.sentence}</div>)}
      {p.gcs_maybe_touched_by_loss > 0 && <div class="note">{formatExact(p.gcs_maybe_touched_by_loss)} GCs (!) ran while events were lost: their figures may be too low</div>}
      {p.gcs_missing > 0 && <div class="note">{formatExact(p.gcs_missing)} GCs are missing by their numbers: their events were lost</div>}
      {p.gcs_incomplete > 0 && <div class="note calm">Of {formatExact(p.gcs_incomplete)} GCs (?) not everything was seen</div>}
      {merged > 0 && <div class="note calm" id="merged">{formatExact(p.gcs)} GCs are shown in {formatExact(p.rows)} rows: older ones are merged; sums and longest pauses stay what they were</div>}
    </div>
  );
}

function Bar({ state, process }: { state: State; process: Process }) {
  const { from, to } = state.range.value;
  const kinds: readonly (readonly [Kind, string])[] = [["all", "All"], ["0", "gen0"], ["1", "gen1"], ["2", "gen2"], ["induced", "Induced"]];
  const rows = state.rows.value;
  let pause = 0;
  let count = 0;
  for (const row of rows) {
    count += process.columns.count[row]!;
    if (process.columns.pause_ms[row]! >= 0) pause += process.columns.pause_ms[row]!;
  }
  return (
    <div class="bar">
      {kinds.map(([kind, label]) => (
        <button key={kind} aria-pressed={state.kind.value === kind} onClick={() => (state.kind.value = kind)}>{label}</button>
      ))}
      <button id="whole" disabled={state.zoom.value === null} onClick={() => (state.zoom.value = null)}>Whole time</button>
      <span class="said" id="said">
        {formatExact(count)} GCs, {millis(pause)} ms of pauses{state.zoom.value ? ` between ${formatDuration(from / 1000)} and ${formatDuration(to / 1000)}` : ""}. Drag in a chart to zoom, click for a GC.
      </span>
    </div>
  );
}

function Rollups({ process }: { process: Process }) {
  const name = (r: Rollup) => r.generation === "all" ? "all" : r.background === null ? `gen${r.generation}` : r.background ? "– background" : "– blocking";
  return (
    <section>
      <h2>By generation</h2>
      <table class="plain" id="rollup">
        <thead><tr>{["Generation", "GCs", "Induced", "Pause ms", "Mean", "p50", "p95", "p99", "Max", "Max suspend ms", "Allocated before", "Promoted", "Largest heap"].map((t) => <th key={t}>{t}</th>)}</tr></thead>
        <tbody>
          {process.by_generation.filter((r) => r.count > 0).map((r, i) => (
            <tr key={i}>
              <td>{name(r)}</td><td>{formatExact(r.count)}</td><td>{r.induced || ""}</td><td>{millis(r.pause_total_ms)}</td><td>{millis(r.pause_mean_ms)}</td>
              <td>{millis(r.pause_ms.p50)}</td><td>{millis(r.pause_ms.p95)}</td><td>{millis(r.pause_ms.p99)}</td><td>{millis(r.pause_ms.max)}</td>
              <td>{millis(r.suspend_max_ms)}</td><td>{bytes(r.allocated_bytes)}</td><td>{bytes(r.promoted_bytes)}</td><td>{bytes(r.peak_max_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Causes({ process: p }: { process: Process }) {
  const types = p.pause_by_type?.types.slice(0, 12) ?? [];
  const most = p.pause_by_type?.pause_ms ?? 0;
  return (
    <>
      {types.length > 0 && (
        <section>
          <h2>What was allocated before the pauses</h2>
          <table class="plain">
            <thead><tr><th class="name">Type</th><th>Pause ms</th><th>Share</th><th>Allocated (estimated)</th></tr></thead>
            <tbody>{types.map((t) => <tr key={t.type}><td class="name">{printable(t.type)}</td><td>{millis(t.pause_ms)}</td><td>{formatPercent(t.pause_ms, most)}</td><td>{bytes(t.allocated_estimate_bytes)}</td></tr>)}</tbody>
          </table>
        </section>
      )}
      {p.induced_by.length > 0 && (
        <section>
          <h2>Who asked for a GC</h2>
          <table class="plain">
            <thead><tr><th class="name">Stack, callee first</th><th>GCs</th><th>Pause ms</th></tr></thead>
            <tbody>{p.induced_by.slice(0, 12).map((s, i) => <tr key={i}><td class="name">{printable((s.stack ?? ["[no stack]"]).slice(0, 6).join(" < "))}</td><td>{formatExact(s.gcs)}</td><td>{millis(s.pause_ms)}</td></tr>)}</tbody>
          </table>
        </section>
      )}
    </>
  );
}

function Tip({ state }: { state: State }) {
  const at = state.hovered.value;
  if (!at) return null;
  const p = state.process.value;
  const c = p.columns;
  const { row } = at;
  const merged = c.count[row]! > 1;
  const place = (e: HTMLElement | null) => {
    if (!e) return;
    e.style.left = `${Math.min(at.x + 14, innerWidth - e.offsetWidth - 8)}px`;
    e.style.top = `${Math.min(at.y + 14, innerHeight - e.offsetHeight - 8)}px`;
  };
  const line = (label: string, value: string) => <tr><th>{label}</th><td>{value}</td></tr>;
  return (
    <div class="tip" ref={place}>
      <b>{merged ? `GCs ${c.number[row]}–${c.last_number[row]}` : `GC ${c.number[row]} · ${kindOf(p, row)} · ${state.page.reasons[c.reason[row]!] ?? ""}`}</b>
      <table><tbody>
        {line("at", formatDuration(c.start_ms[row]! / 1000))}
        {line(merged ? "pauses, longest" : "pause", merged ? `${millis(c.pause_ms[row])}, ${millis(c.max_pause_ms[row])} ms` : `${millis(c.pause_ms[row])} ms`)}
        {line("heap after", bytes(state.column("after_bytes")[row]))}
        {line("LOH, POH", `${bytes(c.loh_bytes[row])}, ${bytes(c.poh_bytes[row])}`)}
        {line("peak", bytes(c.peak_bytes[row]))}
        {line("allocated before", bytes(c.allocated_bytes[row]))}
        {line("rate", state.column("rate")[row]! >= 0 ? formatRate(state.column("rate")[row]!) : "–")}
        {line("promoted", bytes(c.promoted_bytes[row]))}
      </tbody></table>
    </div>
  );
}
