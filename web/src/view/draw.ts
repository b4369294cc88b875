// SPDX-License-Identifier: Apache-2.0
// Sizes and drawings that are there in the first frame. A screenshot or a print may see no later one.
import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

// Calls `measure` before the element is shown, and whenever its size has changed.
export function useSize(element: RefObject<HTMLElement | null>, measure: (element: HTMLElement) => void): void {
  useLayoutEffect(() => {
    const measured = element.current;
    if (!measured) return;
    const observer = new ResizeObserver(() => measure(measured));
    observer.observe(measured);
    measure(measured);
    return () => observer.disconnect();
  }, []);
}

// useSignalEffect, but before the frame is shown; that one runs behind it.
export function useDraw(draw: () => void): void {
  const latest = useRef(draw);
  latest.current = draw;
  useLayoutEffect(() => effect(() => latest.current()), []);
}
