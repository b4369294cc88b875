// SPDX-License-Identifier: Apache-2.0
// The way to the zoomed frame; every step leads back.
import { kRoot, pathTo } from "../model/tree.ts";
import type { State } from "../model/state.ts";
import { labelsOf } from "./paint.ts";

const kSteps = 4; // the innermost ones; the rest is behind "…"

export function Breadcrumb({ state }: { state: State }) {
  const path = pathTo(state.tree.value, state.zoom.value);
  const shown = path.slice(-kSteps);
  const hidden = path.length - shown.length;
  return (
    <nav class="crumbs" aria-label="Zoom">
      <button disabled={path.length === 0} onClick={() => state.zoomTo(kRoot)} title="Esc or 0: back to everything">
        all
      </button>
      {hidden > 0 && <span class="quiet">› … {hidden} …</span>}
      {shown.map((node, i) => {
        const [long, short] = labelsOf(state.data, state.tree.value, node);
        return (
          <>
            <span class="quiet">›</span>
            <button disabled={i === shown.length - 1} title={long} onClick={() => state.zoomTo(node)}>
              {short}
            </button>
          </>
        );
      })}
    </nav>
  );
}
