// SPDX-License-Identifier: Apache-2.0
// Unpacks the data and draws the page of collections.
import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app.tsx";
import { loadPage } from "./data.ts";
import { type Theme, createState } from "./state.ts";

async function start(): Promise<void> {
  const app = document.getElementById("app")!;
  const element = document.getElementById("clrscope-data")!;
  const loaded = await loadPage(element.textContent ?? "");
  element.remove();
  app.replaceChildren();
  if (!loaded.ok) {
    const message = document.createElement("p");
    message.className = "fatal";
    message.textContent = loaded.error;
    app.append(message);
    return;
  }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = (): Theme => (dark.matches ? "dark" : "light");
  const state = createState(loaded.value, theme());
  dark.addEventListener("change", () => (state.theme.value = theme()));
  // Before anything is drawn: canvases take their colours from it.
  effect(() => void (document.documentElement.dataset["theme"] = state.theme.value));
  render(<App state={state} />, app);
  performance.mark("clrscope-ready");
}

void start();
