// SPDX-License-Identifier: Apache-2.0
// Unpacks the data, makes the state, keeps it in the URL, and draws the page.
import { effect } from "@preact/signals";
import { render } from "preact";
import { loadProfile } from "./data/decode.ts";
import type { Theme } from "./model/color.ts";
import { type State, createState } from "./model/state.ts";
import { fromHash } from "./model/url.ts";
import { App } from "./view/app.tsx";

const kThemeKey = "clrscope-theme";

// Storage can be forbidden for local files.
function savedTheme(): Theme | null {
  try {
    const saved = localStorage.getItem(kThemeKey);
    return saved === "light" || saved === "dark" ? saved : null;
  } catch {
    return null;
  }
}

function followTheme(state: State): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => (state.systemTheme.value = dark.matches ? "dark" : "light");
  dark.addEventListener("change", follow);
  follow();
  effect(() => {
    const theme = state.theme.value;
    try {
      if (theme) localStorage.setItem(kThemeKey, theme);
    } catch {
      // Then the choice lasts as long as the page.
    }
  });
}

// Zooming and selecting make entries for the Back button; everything else replaces the last one.
function followUrl(state: State): void {
  const places = (hash: string) => {
    const view = fromHash(hash);
    return `${view.shows ?? ""}/${view.zoom.join(".")}/${view.type ?? ""}`;
  };
  effect(() => {
    const hash = state.hash.value;
    const now = location.hash.replace(/^#/, "");
    if (hash === now) return;
    const url = hash === "" ? location.pathname + location.search : `#${hash}`;
    try {
      if (places(hash) !== places(now)) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    } catch {
      // Sandboxed documents have no history.
    }
  });
  const apply = () => state.apply(fromHash(location.hash));
  addEventListener("popstate", apply);
  addEventListener("hashchange", apply);
}

async function start(): Promise<void> {
  const app = document.getElementById("app")!;
  const element = document.getElementById("clrscope-data")!;
  const loaded = await loadProfile(element.textContent ?? "");
  element.remove();
  app.replaceChildren();
  if (!loaded.ok) {
    const message = document.createElement("p");
    message.className = "fatal";
    message.textContent = loaded.error;
    app.append(message);
    return;
  }
  const state = createState(loaded.value, location.hash, savedTheme());
  followTheme(state);
  followUrl(state);
  render(<App state={state} />, app);
  performance.mark("clrscope-ready");
}

void start();
