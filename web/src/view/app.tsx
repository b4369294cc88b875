// SPDX-License-Identifier: Apache-2.0
// The page: header, time, toolbar, icicle and tables.
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Meta, ViewName } from "../data/profile.ts";
import { kRoot } from "../model/tree.ts";
import type { State } from "../model/state.ts";
import { AgeChart } from "./age_chart.tsx";
import { Breadcrumb } from "./breadcrumb.tsx";
import { Header } from "./header.tsx";
import { Help } from "./help.tsx";
import { Icicle } from "./icicle.tsx";
import { globalKey } from "./keys.ts";
import { Legend } from "./legend.tsx";
import { Panel, nothingHere } from "./panel.tsx";
import { Source } from "./source.tsx";
import { Splitter } from "./splitter.tsx";
import { Timeline } from "./timeline.tsx";
import { Toolbar } from "./toolbar.tsx";

const kEmpty: Partial<Record<ViewName, string>> = {
  allocated: "No allocation was recorded.",
  live: "No followed object has survived a collection yet: nothing is known to live. Record for longer.",
  "gc-cpu": "The agent did not see any CPU time.",
};

// There may have been some all the same; the page's head says why.
function hasLost(meta: Meta): boolean {
  return !meta.complete || meta.losses.some((loss) => loss.hides) || meta.processes.some((process) => !process.complete);
}

function nothingCame(meta: Meta): string {
  return hasLost(meta) ? `No ${meta.title} came; what was lost on the way stands above.` : `There were no ${meta.title}.`;
}

function nothingText(state: State): string {
  const { meta, cells } = state.data;
  const empty = kEmpty[meta.shows];
  if (cells.node.length === 0) return empty ? empty + (hasLost(meta) ? " What was lost on the way stands above." : "") : nothingCame(meta);
  const others = meta.heaps ? "process, heap, age or type" : meta.typed ? "process or type" : "process";
  return `${nothingHere(meta)} Another ${others} may have some.`;
}

function Nothing({ state }: { state: State }) {
  if (!state.views.some((view) => view.meta.shows === "allocated")) {
    const { meta } = state.data;
    return (
      <div class="nothing">
        <h2>No {meta.title} recorded</h2>
        <p>{nothingCame(meta)}</p>
      </div>
    );
  }
  return (
    <div class="nothing">
      <h2>No allocations recorded</h2>
      <p>
        The recording holds no allocation event. Either the program allocated less than one sample's worth (about
        100 KB) while it was watched, or allocation events were not switched on
        {hasLost(state.data.meta) ? ", or they were lost on the way, as is told above" : ""}.
      </p>
      <p>
        Record for longer, or while the program is busy: <code>clrscope record -p PID --duration 60s</code>.{" "}
        <code>clrscope doctor PID</code> tells what the runtime can report.
      </p>
    </div>
  );
}

export function App({ state }: { state: State }) {
  const input = useRef<HTMLInputElement>(null);
  useSignalEffect(() => {
    document.documentElement.dataset["theme"] = state.shownTheme.value;
  });
  useEffect(() => {
    const focusSearch = () => {
      const element = input.current;
      if (!element || document.activeElement === element) return false;
      element.focus();
      element.select();
      return true;
    };
    const onKey = (event: KeyboardEvent) => globalKey(state, event, focusSearch);
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  if (state.views.every((view) => view.cells.node.length === 0)) {
    return (
      <>
        <Header state={state} />
        <Nothing state={state} />
      </>
    );
  }
  const empty = state.weights.value.total.samples[kRoot] === 0;
  return (
    <>
      <Header state={state} />
      {state.shows.value === "live" ? <AgeChart state={state} /> : <Timeline key={state.shows.value} state={state} />}
      <Toolbar state={state} input={input} />
      <main>
        <section class="graph" aria-label="Stacks">
          <div class="graph-head">
            <Breadcrumb state={state} />
            <Legend state={state} />
          </div>
          {empty ? (
            <div class="nothing">
              <p>{nothingText(state)}</p>
            </div>
          ) : (
            <Icicle state={state} />
          )}
        </section>
        <Splitter />
        <Panel state={state} />
        <Source state={state} />
      </main>
      {state.help.value && <Help state={state} />}
    </>
  );
}
