// SPDX-License-Identifier: Apache-2.0
// The source of the frame that is selected, each line with its figures.
import { useComputed } from "@preact/signals";
import { formatPercent, shortMethod } from "../base/format.ts";
import type { Lines, SourceFile } from "../data/lines.ts";
import { lineAddress } from "../model/source_link.ts";
import { kLongest, splitLines } from "../model/source_text.ts";
import type { State } from "../model/state.ts";
import { frameOf, isType, parentOf } from "../model/tree.ts";
import { formatMetric } from "./figures.tsx";
import { labelsOf } from "./paint.ts";
import { type SourceLine, SourceLines } from "./source_lines.tsx";

const kWithout: Record<NonNullable<SourceFile["without"]> | "short", string> = {
  absent: "The text of this file is not in the page",
  another: "The text that was found is of another version of this file, by its checksum",
  size: "The text of this file was left out to keep the page small",
  short: "The text that was found has no such line, and so is of another version of this file",
};

function Without({ file }: { file: SourceFile }) {
  const why = file.without ?? "short";
  if (why === "size") return <p class="source-note">{kWithout[why]}.</p>;
  return (
    <p class="source-note">
      {kWithout[why]}: <code>clrscope convert --source-path DIR</code> takes it from the folder of the program's sources.
    </p>
  );
}

// The texts of files, split once.
const split = new WeakMap<SourceFile, readonly string[]>();
function textOf(file: SourceFile): readonly string[] | null {
  if (file.text === null) return null;
  let lines = split.get(file);
  if (lines === undefined) split.set(file, (lines = splitLines(file.text)));
  return lines;
}

// First place of each file; places are in the order of files.
function placesOf(lines: Lines, file: number): number[] {
  const places: number[] = [];
  for (let p = 0; p < lines.file.length; p++) if (lines.file[p] === file) places.push(p);
  return places;
}

function File({ state, lines, place, places }: { state: State; lines: Lines; place: number; places: readonly number[] }) {
  const of = lines.file[place]!;
  const file = lines.files[of]!;
  const meta = state.data.meta;
  const metric = state.metric.value;
  const sums = state.places.value!;
  const whole = state.weights.value.total[metric][state.zoom.value]!;
  const text = textOf(file);
  const here = placesOf(lines, of);
  // A line beyond the end of its file is that of another text.
  const complete = text !== null && here.every((p) => lines.number[p]! <= text.length);
  const numbered = new Map(here.map((p) => [lines.number[p]!, p] as const));
  const known = complete ? [] : here.filter((p) => sums.total.samples[p]! > 0 || places.includes(p));
  const placeAt = (i: number) => (complete ? numbered.get(i + 1) : known[i]);
  const indexOf = (p: number) => (complete ? lines.number[p]! - 1 : known.indexOf(p));

  const lineAt = (i: number): SourceLine => {
    const p = placeAt(i);
    const base = { number: complete ? i + 1 : lines.number[p!]!, text: complete ? text![i]! : null };
    if (p === undefined || sums.total.samples[p] === 0) return { ...base, self: "", total: "", share: 0, approximate: false, title: "" };
    const self = sums.self[metric][p]!;
    const total = sums.total[metric][p]!;
    const few = sums.approximate[p] ? "\n~ may be another line of the method" : "";
    return {
      ...base,
      self: self > 0 ? formatMetric(meta, metric, self) : "",
      total: formatMetric(meta, metric, total),
      share: whole > 0 ? Math.min(1, self / whole) : 0,
      approximate: sums.approximate[p] === 1,
      title: `self ${formatPercent(self, whole)}, total ${formatPercent(total, whole)} of what is in view${few}`,
    };
  };
  const longest = complete ? text!.reduce((most, line) => Math.max(most, line.length), 0) : 0;
  return (
    <>
      {!complete && <Without file={file} />}
      {complete && !file.checked && <p class="source-note">Nothing tells whether this is the text that was compiled.</p>}
      <SourceLines
        key={of}
        label={file.name}
        count={complete ? text!.length : known.length}
        longest={Math.min(longest, kLongest + 30)}
        line={lineAt}
        marked={new Set(places.filter((p) => lines.file[p] === of).map(indexOf))}
        focus={indexOf(place)}
        onPick={(i) => {
          const p = placeAt(i);
          if (p !== undefined && sums.total.samples[p]! > 0) state.pickPlace(p, null);
        }}
      />
    </>
  );
}

export function Source({ state }: { state: State }) {
  const lines = state.data.lines;
  const shown = useComputed(() => state.source.value && state.selected.value !== null);
  if (!shown.value || lines === null) return null;
  const tree = state.tree.value;
  const selected = state.selected.value!;
  const node = isType(tree, selected) ? parentOf(tree, selected) : selected;
  const at = state.lines.value;
  const [long, short] = labelsOf(state.data, tree, node);
  const close = (
    <button class="source-close" title="s: hide the source" aria-label="Hide the source" onClick={() => (state.source.value = false)}>
      ✕
    </button>
  );
  if (at === null) {
    return (
      <section class="source" aria-label="Source">
        <div class="source-head">
          <span class="source-of">Source</span>
          {close}
        </div>
        <p class="empty">No line is known of {short}, nor of what calls it.</p>
      </section>
    );
  }
  const place = at.places[0]!;
  const file = lines.files[lines.file[place]!]!;
  const number = lines.number[place]!;
  const address = lineAddress(file.url, number);
  const name = `${at.approximate ? "~ " : ""}${file.name}:${number}`;
  const method = state.data.frames[frameOf(tree, at.node)]!.name;
  const around = at.node !== node;
  const others = at.places.length - 1;
  return (
    <section class="source" aria-label="Source">
      <div class="source-head">
        {address === null ? (
          <strong class="source-name" title={file.path}>
            {name}
          </strong>
        ) : (
          <a class="source-name" href={address} target="_blank" rel="noopener noreferrer" title={`${file.path}\n${address}`}>
            {name} <span aria-hidden="true">↗</span>
            <span class="sr-only">opens in another window</span>
          </a>
        )}
        <span class="source-of" title={around ? `${long} has no lines of its own: this is where ${method} calls it` : method}>
          {around && "calls "}
          {around ? short : shortMethod(method)}
          {others > 0 && ` · ${others} more ${others === 1 ? "line" : "lines"}`}
        </span>
        {close}
      </div>
      <File state={state} lines={lines} place={place} places={at.places} />
    </section>
  );
}
