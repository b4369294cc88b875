// SPDX-License-Identifier: Apache-2.0
// A list of which only the rows that can be seen exist, and the row that its keys move.
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { useSize } from "./draw.ts";

// `row`: pixels of each; `spare`: rows beyond either end of the view.
export function useVisibleRows(count: number, row: number, spare: number) {
  const body = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const high = useSignal(400);
  const cursor = useSignal(-1);
  useSize(body, (element) => (high.value = element.clientHeight));
  // The cursor moves by `key`, and comes into view. False: not a key that moves.
  const move = (key: string): boolean => {
    const page = Math.max(1, Math.floor(high.value / row) - 1);
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count };
    const by = moves[key];
    if (by === undefined) return false;
    cursor.value = Math.min(count - 1, Math.max(0, cursor.value + by));
    const y = cursor.value * row;
    const element = body.current!;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + row > element.scrollTop + element.clientHeight) element.scrollTop = y + row - element.clientHeight;
    return true;
  };
  const first = Math.max(0, Math.floor(top.value / row) - spare);
  const last = Math.min(count, Math.ceil((top.value + high.value) / row) + spare);
  return { body, top, cursor, first, last, move };
}
