// SPDX-License-Identifier: Apache-2.0
// The overlay with the keys and what the figures mean.
import { useEffect, useRef } from "preact/hooks";
import type { State } from "../model/state.ts";
import { keysOf } from "./keys.ts";

export function Help({ state }: { state: State }) {
  const dialog = useRef<HTMLDivElement>(null);
  useEffect(() => dialog.current?.focus(), []);
  const meta = state.data.meta;
  return (
    <div class="veil" onClick={() => (state.help.value = false)}>
      <div
        class="help"
        role="dialog"
        aria-modal="true"
        aria-label="Help"
        tabIndex={-1}
        ref={dialog}
        onClick={(e) => e.stopPropagation()}
      >
        <h2>Keys</h2>
        <dl>
          {keysOf(state).map(([keys, what]) => (
            <>
              <dt>{keys}</dt>
              <dd>{what}</dd>
            </>
          ))}
        </dl>
        <h2>Figures</h2>
        <p>
          {meta.shows === "gc-cpu"
            ? "CPU time is what the operating system's clocks say of the collector's own threads and of the threads on which a collection ran."
            : meta.events
            ? `Figures are sums of all ${meta.title} that the runtime told of: nothing is estimated.`
            : meta.hasInterval
            ? "Bytes and objects are estimates from a random sample of allocations. The figure beside each is its 95 % interval: ±4.1 %, or its bounds where they are not even. Rows on fewer than five samples are set in grey: they say that something was allocated, hardly how much."
            : "Bytes are what the runtime's event reports, without an interval."}{" "}
          KiB, MiB and GiB count in steps of 1024.
        </p>
        <p>
          Fills tell modules apart; framework code is grey. A frame's width is its share, with everything that it
          calls. {meta.typed && (meta.events ? "The outlined leaf is the type." : "The outlined leaf is the type that was allocated.")}
        </p>
        <button class="toggle" onClick={() => (state.help.value = false)}>
          Close
        </button>
      </div>
    </div>
  );
}
