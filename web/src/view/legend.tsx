// SPDX-License-Identifier: Apache-2.0
// Which fill is which module, for the few that fill most of the icicle.
import { useComputed } from "@preact/signals";
import { kFramework, kPseudo } from "../data/profile.ts";
import { metricsOf } from "../model/estimate.ts";
import type { State } from "../model/state.ts";
import { typeWord } from "./figures.tsx";

const kModules = 6;

export function Legend({ state }: { state: State }) {
  const modules = useComputed(() => {
    const data = state.data;
    const self = state.weights.value.total[metricsOf(data.meta)[0]!];
    const tree = state.tree.value;
    const sums = new Map<string, number>();
    for (let i = 1; i < tree.size; i++) {
      const w = tree.what[i]!;
      if (w < 0) continue;
      const frame = data.frames[w]!;
      if (frame.module === "" || frame.flags & (kFramework | kPseudo)) continue;
      sums.set(frame.module, (sums.get(frame.module) ?? 0) + self[i]!);
    }
    return [...sums].sort((a, b) => b[1] - a[1]).slice(0, kModules);
  });
  const palette = state.palette.value;
  const meta = state.data.meta;
  return (
    <div class="legend">
      {modules.value.map(([name]) => (
        <span class="key">
          <i style={{ background: palette.module(name) }} />
          {name}
        </span>
      ))}
      {meta.shows !== "gc-cpu" && (
        <span class="key">
          <i style={{ background: palette.framework }} />
          framework
        </span>
      )}
      {state.typeLeaves.value && meta.typed && (
        <span class="key">
          <i class="type-key" style={{ borderColor: palette.typeMark }} />
          {typeWord(meta)}
        </span>
      )}
    </div>
  );
}
