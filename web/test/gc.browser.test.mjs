// SPDX-License-Identifier: Apache-2.0
// The page of collections in a real browser: see browser.mjs.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { browserTests, pages, settle, shot as shotOf, text } from "./browser.mjs";

const check = browserTests("gc.html");
const shot = (page, name) => shotOf(page, name, { fullPage: true });
const cells = (page, column) =>
  page.evaluate((n) => [...document.querySelectorAll(".grid .row")]
    .sort((a, b) => Number(a.getAttribute("aria-rowindex")) - Number(b.getAttribute("aria-rowindex")))
    .map((row) => row.children[n].textContent), column);

// The colours of a chart's plot with how many pixels each has, without its axes.
const colours = (page, id) =>
  page.evaluate((chart) => {
    const canvas = document.querySelector(`#${chart} canvas`);
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const seen = {};
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] !== 255) continue;
      const key = `#${((1 << 24) | (data[i] << 16) | (data[i + 1] << 8) | data[i + 2]).toString(16).slice(1)}`;
      seen[key] = (seen[key] ?? 0) + 1;
    }
    return seen;
  }, id);
const kCharts = ["heap", "pauses", "rate", "promoted", "survival", "share"];

for (const [theme, gens] of [
  ["light", ["#1d5a9c", "#4f97d8", "#9cc3ee", "#e0913a", "#7f5bb5"]],
  ["dark", ["#a6cdf7", "#5fa3e6", "#3f6ea3", "#e8a257", "#a98be0"]],
]) {
  check(`draws every chart, ${theme}`, "gc.html", { colorScheme: theme }, async (page) => {
    for (const id of kCharts) {
      const seen = await colours(page, id);
      assert.ok(Object.values(seen).some((n) => n > 100), `${id} is empty`);
    }
    // Large and pinned object heaps are stacked on the generations, in proportion.
    const heap = await colours(page, "heap");
    for (const colour of gens) assert.ok(heap[colour] > 100, `${colour} in ${JSON.stringify(heap)}`);
    const [gen2, , , loh, poh] = gens.map((c) => heap[c]);
    assert.ok(gen2 > loh && loh > 4 * poh, `${gen2} ${loh} ${poh}`);
    assert.equal(await page.title(), "orders (4711) · GC - clrscope");
    assert.match(await text(page, ".figures"), /400\s*GCs/);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await shot(page, `gc-${theme}`);
  });
}

check("the table sorts by every column, unknown last", "gc.html", {}, async (page) => {
  assert.deepEqual((await cells(page, 0)).slice(0, 3), ["1", "2", "3"]);
  const head = (title) => page.locator(`.grid .heads button`, { hasText: new RegExp(`^${title}`) }).first();
  await head("Pause ms").click();
  await settle(page);
  const pauses = (await cells(page, 4)).map(Number);
  assert.ok(pauses.length > 15);
  assert.deepEqual(pauses, [...pauses].sort((a, b) => b - a));
  assert.equal(await page.locator('.grid [aria-sort="descending"]').innerText(), "Pause ms ▾");
  await head("Pause ms").click();
  await settle(page);
  const up = (await cells(page, 4)).map(Number);
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  const n = await page.locator(".grid .heads button").count();
  for (let i = 0; i < n; i++) await page.locator(".grid .heads button").nth(i).click();
  await settle(page);
  assert.ok((await cells(page, 0)).length > 15);
});

check("a row shows what was allocated before it", "gc.html", {}, async (page) => {
  await page.locator(".grid .row").nth(2).click();
  await settle(page);
  assert.match(await text(page, "#detail"), /GC 3[\s\S]*orders[\s\S]*67 %[\s\S]*Acme\.Orders\.Load/);
  await shot(page, "gc-detail");
});

check("dragging zooms all charts and the table, the button returns", "gc.html", {}, async (page) => {
  const before = await colours(page, "pauses");
  const said = await text(page, "#said");
  assert.match(said, /^400 GCs/);
  const box = await page.locator("#heap canvas").boundingBox();
  await page.mouse.move(box.x + 300, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 90, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const zoomed = Number((await text(page, "#said")).match(/^(\d+) GCs/)[1]);
  assert.ok(zoomed > 20 && zoomed < 120, String(zoomed));
  assert.notDeepEqual(await colours(page, "pauses"), before);
  await page.mouse.move(5, 5);
  await page.locator("#whole").click();
  await settle(page);
  assert.equal(await text(page, "#said"), said);
});

check("the pointer tells of the collection under it", "gc.html", {}, async (page) => {
  const box = await page.locator("#pauses canvas").boundingBox();
  await page.mouse.move(box.x + 600, box.y + 50);
  await settle(page);
  assert.match(await text(page, ".tip"), /GC \d+ · \d[NB]I?[\s\S]*pause[\s\S]*LOH, POH[\s\S]*30\.0 MiB, 3\.00 MiB/);
  await page.mouse.move(5, 5);
  await settle(page);
  assert.equal(await page.locator(".tip").count(), 0);
});

check("only one generation, or only induced ones", "gc.html", {}, async (page) => {
  await page.locator(".bar button", { hasText: "gen2" }).click();
  await settle(page);
  assert.match(await text(page, "#said"), /^8 GCs/);
  assert.ok((await cells(page, 2)).every((kind) => kind.startsWith("2B")));
  await page.locator(".bar button", { hasText: "Induced" }).click();
  await settle(page);
  assert.match(await text(page, "#said"), /^4 GCs/);
});

check("the theme can be turned", "gc.html", { colorScheme: "light" }, async (page) => {
  const light = await colours(page, "heap");
  await page.locator("#theme").click();
  await settle(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.notDeepEqual(await colours(page, "heap"), light);
});

check("100,000 collections stay usable", "gc-many.html", {}, async (page) => {
  assert.ok(statSync(join(pages, "gc-many.html")).size < 10_000_000);
  assert.match(await text(page, "#merged"), /100,000 GCs are shown in 22,000 rows: older ones are merged/);
  assert.match(await text(page, "#said"), /^100,000 GCs/);
  await page.locator(".grid .heads button", { hasText: "Pause ms" }).click();
  await settle(page);
  await page.locator(".grid").evaluate((e) => (e.scrollTop = e.scrollHeight));
  await settle(page);
  assert.ok((await cells(page, 0)).length > 10);
  assert.ok((await page.locator(".grid .row").count()) < 60); // those in sight
  await shot(page, "gc-many");
});

check("names of the program are text", "gc-hostile.html", {}, async (page) => {
  assert.match(await text(page, "h1"), /<\/script><img/);
  await page.locator(".grid .row").first().click();
  await settle(page);
  assert.equal(await page.locator("img").count(), 0);
});

check("without collections it says so", "gc-empty.html", {}, async (page) => {
  assert.match(await text(page, "#app"), /No collections were recorded/);
});
