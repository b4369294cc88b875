// SPDX-License-Identifier: Apache-2.0
// The page: header, time, toolbar, icicle and tables.
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { kRoot } from "../model/tree.ts";
import type { State } from "../model/state.ts";
import { Breadcrumb } from "./breadcrumb.tsx";
import { Header } from "./header.tsx";
import { Help } from "./help.tsx";
import { Icicle } from "./icicle.tsx";
import { globalKey } from "./keys.ts";
import { Legend } from "./legend.tsx";
import { Panel } from "./panel.tsx";
import { Splitter } from "./splitter.tsx";
import { Timeline } from "./timeline.tsx";
import { Toolbar } from "./toolbar.tsx";

function Nothing() {
  return (
    <div class="nothing">
      <h2>No allocations recorded</h2>
      <p>
        The recording holds no allocation event. Either the program allocated less than one sample's worth (about
        100 KB) while it was watched, or allocation events were not switched on.
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

  if (state.data.cells.node.length === 0) {
    return (
      <>
        <Header state={state} />
        <Nothing />
      </>
    );
  }
  const empty = state.weights.value.total.samples[kRoot] === 0;
  return (
    <>
      <Header state={state} />
      <Timeline state={state} />
      <Toolbar state={state} input={input} />
      <main>
        <section class="graph" aria-label="Stacks">
          <div class="graph-head">
            <Breadcrumb state={state} />
            <Legend state={state} />
          </div>
          {empty ? (
            <div class="nothing">
              <p>Nothing was allocated under this selection of process, heap and type.</p>
            </div>
          ) : (
            <Icicle state={state} />
          )}
        </section>
        <Splitter />
        <Panel state={state} />
      </main>
      {state.help.value && <Help state={state} />}
    </>
  );
}
