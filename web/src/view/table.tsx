// SPDX-License-Identifier: Apache-2.0
// A virtual table: only the rows that can be seen exist.
import type { ComponentChildren } from "preact";
import type { SortKey } from "../model/tables.ts";
import { useVisibleRows } from "./visible_rows.ts";

const kRow = 24;
const kSpare = 6;

export interface Column {
  readonly key: SortKey | null; // null = cannot be sorted by
  readonly title: string;
  readonly label: string;
  readonly className: string;
  readonly cell: (row: number) => ComponentChildren;
}

export interface TableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly order: Int32Array;
  readonly sort: SortKey;
  readonly ascending: boolean;
  readonly empty: string;
  readonly rowClass: (row: number) => string;
  readonly share: (row: number) => number; // 0..1: the bar behind the row
  readonly selected: (row: number) => boolean;
  readonly rowTitle: (row: number) => string;
  onSort(key: SortKey): void;
  onPick(row: number): void;
}

export function Table(props: TableProps) {
  const { order, columns } = props;
  const { body, top, cursor, first, last, move } = useVisibleRows(order.length, kRow, kSpare);
  const onKey = (event: KeyboardEvent) => {
    if (!move(event.key)) {
      if ((event.key !== "Enter" && event.key !== " ") || order[cursor.value] === undefined) return;
      props.onPick(order[cursor.value]!);
    }
    event.preventDefault();
  };

  const rows = [];
  for (let i = first; i < last; i++) {
    const row = order[i]!;
    const classes = ["row", props.rowClass(row), props.selected(row) ? "selected" : "", i === cursor.value ? "at" : ""];
    rows.push(
      <div
        key={i}
        role="row"
        id={`row-${i}`}
        aria-rowindex={i + 2}
        aria-selected={props.selected(row)}
        class={classes.filter(Boolean).join(" ")}
        style={{ top: `${i * kRow}px` }}
        title={props.rowTitle(row)}
        onClick={() => {
          cursor.value = i;
          props.onPick(row);
        }}
      >
        <div class="bar" style={{ width: `${(100 * props.share(row)).toFixed(2)}%` }} />
        {columns.map((c) => (
          <div role="gridcell" class={c.className}>
            {c.cell(row)}
          </div>
        ))}
      </div>,
    );
  }
  return (
    <div class="table" role="grid" aria-label={props.label} aria-rowcount={order.length + 1}>
      <div class="row header" role="row" aria-rowindex={1}>
        {columns.map((c) => {
          const sorted = c.key === props.sort && c.key !== null;
          const arrow = sorted ? (props.ascending ? "▲" : "▼") : "";
          return (
            <div
              role="columnheader"
              class={c.className}
              aria-sort={sorted ? (props.ascending ? "ascending" : "descending") : "none"}
            >
              {c.key === null ? (
                <span title={c.title}>{c.label}</span>
              ) : (
                <button title={c.title} data-sort={c.key} onClick={() => props.onSort(c.key!)}>
                  {c.label}
                  {arrow && <span class="arrow">{arrow}</span>}
                </button>
              )}
            </div>
          );
        })}
      </div>
      <div
        class="table-body"
        ref={body}
        tabIndex={0}
        aria-activedescendant={cursor.value >= 0 ? `row-${cursor.value}` : undefined}
        onScroll={(e) => (top.value = e.currentTarget.scrollTop)}
        onKeyDown={onKey}
      >
        {order.length === 0 ? (
          <p class="empty">{props.empty}</p>
        ) : (
          <div class="table-sheet" style={{ height: `${order.length * kRow}px` }}>
            {rows}
          </div>
        )}
      </div>
    </div>
  );
}
