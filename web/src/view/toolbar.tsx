// SPDX-License-Identifier: Apache-2.0
// Search, metric, filters and the toggles.
import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { RefObject } from "preact";
import { formatAge, formatExact, formatPercent, shortType } from "../base/format.ts";
import { type ViewName, kHeapNames } from "../data/profile.ts";
import { agesIn } from "../model/ages.ts";
import { metricsOf } from "../model/estimate.ts";
import type { State } from "../model/state.ts";
import { kRoot } from "../model/tree.ts";
import { threadName } from "../model/tables.ts";
import { metricName, typeWord } from "./figures.tsx";
import { toggleTheme } from "./keys.ts";

function MatchText({ state }: { state: State }) {
  const { error, found } = state.search.value;
  if (error) return <span class="match error">{error}</span>;
  if (!found) return null;
  const count = found.outermost.length;
  if (count === 0) return <span class="match">no match</span>;
  const metric = state.metric.value;
  const at = state.matchIndex.value;
  const place = at >= 0 && at < count ? `${formatExact(at + 1)} of ${formatExact(count)}` : formatExact(count);
  return (
    <span class="match" title="Share of everything in view; a match within a match counts once. Enter or n: next.">
      matched {formatPercent(found.weight, state.weights.value.total[metric][kRoot]!)} · {place}
    </span>
  );
}

function Search({ state, input }: { state: State; input: RefObject<HTMLInputElement | null> }) {
  const text = useSignal(state.query.peek());
  const timer = useRef(0);
  const committed = useRef(text.peek());
  // Runs with the next frame only: what was typed since the last commit is not undone by it.
  useSignalEffect(() => {
    const query = state.query.value;
    if (query === committed.current) return;
    committed.current = query;
    text.value = query;
  });
  const commit = (value: string) => {
    window.clearTimeout(timer.current);
    committed.current = value;
    if (state.query.value === value) return;
    state.query.value = value;
    state.matchIndex.value = -1;
  };
  return (
    <div class="search" role="search">
      <input
        ref={input}
        type="text"
        id="search"
        placeholder="Search: method, module or type (regex)  /"
        aria-label="Search by regular expression"
        aria-invalid={state.search.value.error !== null}
        spellcheck={false}
        autocomplete="off"
        value={text.value}
        onInput={(e) => {
          const value = e.currentTarget.value;
          text.value = value;
          window.clearTimeout(timer.current);
          timer.current = window.setTimeout(() => commit(value), 90);
        }}
        onKeyDown={(e) => {
          if (e.key === "Enter") {
            commit(text.value);
            state.stepMatch(e.shiftKey ? -1 : 1);
            e.preventDefault();
          } else if (e.key === "Escape") {
            if (text.value === "") e.currentTarget.blur();
            text.value = "";
            commit("");
            e.preventDefault();
          }
        }}
      />
      <span aria-live="polite">
        <MatchText state={state} />
      </span>
    </div>
  );
}

const kViewTexts: Partial<Record<ViewName, readonly [string, string]>> = {
  allocated: ["Allocated", "v: what was allocated over the whole recording"],
  live: ["Live", "v: what lives at its end and has survived a collection"],
  cpu: ["CPU", "v: who used CPU time"],
  "gc-cpu": ["GC CPU", "v: what the garbage collector takes of the process's CPU time"],
};

function Views({ state }: { state: State }) {
  if (state.views.length < 2) return null;
  return (
    <div class="segments views" role="group" aria-label="What is shown">
      {state.views.map((view) => {
        const name = view.meta.shows;
        const [text, title] = kViewTexts[name] ?? [name[0]!.toUpperCase() + name.slice(1), `v: ${view.meta.title}`];
        return (
          <button class="segment" aria-pressed={state.shows.value === name} title={title} onClick={() => state.show(name)}>
            {text}
          </button>
        );
      })}
    </div>
  );
}

function Filters({ state }: { state: State }) {
  const { data } = state;
  const kinds = [...new Set(data.cells.kind)].sort();
  const select = (value: string) => (value === "" ? null : Number(value));
  return (
    <>
      {data.meta.processes.length > 1 && (
        <select
          aria-label="Process"
          value={state.process.value ?? ""}
          onChange={(e) => (state.process.value = select(e.currentTarget.value))}
        >
          <option value="">all processes</option>
          {data.meta.processes.map((p, i) => (
            <option value={i}>
              {p.name || p.mainModule} {p.pid}
            </option>
          ))}
        </select>
      )}
      {kinds.length > 1 && (
        <select
          aria-label="Heap"
          value={state.kind.value ?? ""}
          onChange={(e) => (state.kind.value = select(e.currentTarget.value))}
        >
          <option value="">all heaps</option>
          {kinds.map((k) => (
            <option value={k}>{kHeapNames[k]}</option>
          ))}
        </select>
      )}
      {data.cells.age && (
        <select
          aria-label="Age"
          value={state.age.value ?? ""}
          onChange={(e) => (state.age.value = select(e.currentTarget.value))}
        >
          <option value="">any age</option>
          {agesIn(data)
            .filter((s) => s > 0)
            .map((s) => (
              <option value={s}>{formatAge(s)} and older</option>
            ))}
        </select>
      )}
      {state.selection.value.type !== null && (
        <button class="chip" onClick={() => state.selectType(null)} title="Show all types again">
          {shortType(data.types[state.selection.value.type]!.name)} <span aria-hidden="true">✕</span>
        </button>
      )}
      {state.selection.value.thread !== null && (
        <button class="chip" onClick={() => state.selectThread(null)} title="Show all threads again">
          {threadName(data, state.selection.value.thread)} <span aria-hidden="true">✕</span>
        </button>
      )}
    </>
  );
}

interface ToggleProps {
  readonly on: boolean;
  readonly text: string;
  readonly title: string;
  readonly id?: string;
  onClick(): void;
}

function Toggle({ on, text, title, onClick, id }: ToggleProps) {
  return (
    <button id={id} class="toggle" aria-pressed={on} title={title} onClick={onClick}>
      {text}
    </button>
  );
}

export function Toolbar({ state, input }: { state: State; input: RefObject<HTMLInputElement | null> }) {
  const cpu = state.shows.value === "gc-cpu";
  const meta = state.data.meta;
  return (
    <div class="toolbar" role="toolbar" aria-label="View">
      <Views state={state} />
      <Search state={state} input={input} />
      <Filters state={state} />
      <span class="spring" />
      {!cpu && (
        <>
          <div class="segments" role="group" aria-label="Metric">
            {metricsOf(meta).map((m) => (
              <button
                class="segment"
                aria-pressed={state.metric.value === m}
                onClick={() => (state.metric.value = m)}
                title="m: next metric"
              >
                {metricName(meta, m)}
              </button>
            ))}
          </div>
          {meta.typed && (
            <Toggle
              on={state.typeLeaves.value}
              text="Type leaves"
              title={`t: show the ${typeWord(meta)} as the innermost frame`}
              onClick={() => (state.typeLeaves.value = !state.typeLeaves.value)}
            />
          )}
          <Toggle
            on={state.machinery.value}
            text="Plumbing"
            title="p: show async and thread-pool plumbing, which is folded away by default"
            onClick={() => (state.machinery.value = !state.machinery.value)}
          />
        </>
      )}
      {state.data.lines !== null && (
        <Toggle
          on={state.source.value}
          text="Source"
          title="s: show the source of the frame that is selected"
          onClick={() => (state.source.value = !state.source.value)}
        />
      )}
      <Toggle
        on={state.flame.value}
        text="Flame"
        title="i: flame graph (root at the bottom) or icicle (root at the top)"
        onClick={() => (state.flame.value = !state.flame.value)}
      />
      <Toggle
        id="theme"
        on={state.shownTheme.value === "dark"}
        text="Dark"
        title="d: dark or light"
        onClick={() => toggleTheme(state)}
      />
      <button class="toggle" title="?: keys" aria-label="Help" onClick={() => (state.help.value = true)}>
        ?
      </button>
    </div>
  );
}
