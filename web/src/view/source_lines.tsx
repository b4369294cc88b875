// SPDX-License-Identifier: Apache-2.0
// Lines of a file with their figures: only those that can be seen exist.
import { useEffect, useMemo } from "preact/hooks";
import { shownLine } from "../model/source_text.ts";
import { useVisibleRows } from "./visible_rows.ts";

const kRow = 18;
const kSpare = 8;

export interface SourceLine {
  readonly number: number;
  readonly text: string | null; // as the file has it; null = not at hand
  readonly self: string; // "" where there is nothing
  readonly total: string;
  readonly share: number; // 0..1, of itself
  readonly approximate: boolean;
  readonly title: string;
}

export interface SourceLinesProps {
  readonly label: string;
  readonly count: number;
  readonly longest: number; // characters
  readonly line: (index: number) => SourceLine;
  readonly marked: ReadonlySet<number>; // indexes of the selected frame's lines
  readonly focus: number; // … and of the one that matters, -1 = none
  onPick(index: number): void;
}

export function SourceLines(props: SourceLinesProps) {
  const { count, focus } = props;
  const { body, top, cursor, first, last, move } = useVisibleRows(count, kRow, kSpare);
  // What was selected comes into view, with more of what follows than of what is before it.
  useEffect(() => {
    const element = body.current!;
    cursor.value = focus;
    if (focus < 0) return;
    element.scrollTop = Math.max(0, focus * kRow - element.clientHeight * 0.38);
    element.scrollLeft = 0;
    top.value = element.scrollTop;
  }, [focus, props.label]);

  const onKey = (event: KeyboardEvent) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!plain || !move(event.key)) {
      if ((event.key !== "Enter" && event.key !== " ") || cursor.value < 0) return;
      props.onPick(cursor.value);
    }
    event.preventDefault();
  };
  const texts = useMemo(() => new Map<number, string>(), [props.label]);
  const shown = (index: number, text: string): string => {
    let line = texts.get(index);
    if (line === undefined) texts.set(index, (line = shownLine(text)));
    return line;
  };

  const rows = [];
  for (let i = first; i < last; i++) {
    const line = props.line(i);
    const classes = [
      "code-row",
      line.total ? "counts" : "",
      props.marked.has(i) ? "selected" : "",
      i === focus ? "focus" : "",
      i === cursor.value ? "at" : "",
    ];
    rows.push(
      <div
        key={i}
        role="row"
        id={`line-${i}`}
        aria-rowindex={i + 2}
        aria-selected={props.marked.has(i)}
        aria-current={i === focus ? "true" : undefined}
        class={classes.filter(Boolean).join(" ")}
        style={{ top: `${i * kRow}px` }}
        title={line.title || undefined}
        onClick={() => {
          cursor.value = i;
          props.onPick(i);
        }}
      >
        <div class="code-side" role="presentation">
          <div class="bar" style={{ width: `${(100 * line.share).toFixed(2)}%` }} />
          <div role="gridcell" class="code-figure">
            {line.self}
          </div>
          <div role="gridcell" class="code-figure">
            {line.total}
          </div>
          <div role="rowheader" class="code-number">
            {line.approximate && <span title="may be another line of the method">~</span>}
            {line.number}
          </div>
        </div>
        <div role="gridcell" class="code-text">
          {line.text === null ? "" : shown(i, line.text)}
        </div>
      </div>,
    );
  }
  return (
    <div class="code" role="grid" aria-label={props.label} aria-rowcount={count + 1}>
      <div class="code-head" role="row" aria-rowindex={1}>
        <div role="columnheader" class="code-figure" title="of what is in view: here, in framework code too that this line calls">
          Self
        </div>
        <div role="columnheader" class="code-figure" title="of what is in view: with everything that this line calls">
          Total
        </div>
        <div role="columnheader" class="code-number">
          Line
        </div>
        <div role="columnheader" class="code-text">
          <span class="sr-only">Source</span>
        </div>
      </div>
      <div
        class="code-body"
        ref={body}
        tabIndex={0}
        aria-activedescendant={cursor.value >= first && cursor.value < last ? `line-${cursor.value}` : undefined}
        onScroll={(e) => (top.value = e.currentTarget.scrollTop)}
        onKeyDown={onKey}
      >
        <div class="code-sheet" style={{ height: `${count * kRow}px`, "--longest": `${props.longest}ch` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
