// SPDX-License-Identifier: Apache-2.0
// The gap between icicle and tables, which can be dragged.
import { useSignal } from "@preact/signals";

const kLeast = 320;

export function Splitter() {
  const dragging = useSignal(false);
  const resize = (event: PointerEvent, splitter: HTMLElement) => {
    const main = splitter.parentElement!;
    const box = main.getBoundingClientRect();
    const width = Math.min(box.width - kLeast, Math.max(kLeast, box.right - event.clientX - 5));
    main.style.setProperty("--panel", `${width}px`);
  };
  return (
    <div
      class={`splitter ${dragging.value ? "dragging" : ""}`}
      title="Drag to resize; double-click to reset"
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        dragging.value = true;
        e.preventDefault();
      }}
      onPointerMove={(e) => {
        if (dragging.value) resize(e, e.currentTarget);
      }}
      onPointerUp={() => (dragging.value = false)}
      onDblClick={(e) => e.currentTarget.parentElement!.style.removeProperty("--panel")}
    />
  );
}
