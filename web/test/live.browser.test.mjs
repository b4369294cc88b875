// SPDX-License-Identifier: Apache-2.0
// The page of a recording with live objects in a real browser: see browser.mjs. CLRSCOPE names the
// program, beside which make_live_capture lies: both make the page as a recording does.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { browserTests, look, pages, rows, settle, shot, text } from "./browser.mjs";

const clrscope = process.env.CLRSCOPE ?? "";
let report; // of what lives, as `clrscope report` tells it

function makePages() {
  const maker = join(dirname(clrscope), "make_live_capture");
  if (!existsSync(clrscope) || !existsSync(maker)) return "CLRSCOPE names no clrscope with make_live_capture beside it";
  const capture = join(pages, "live.clrscope");
  rmSync(capture, { force: true });
  const run = (program, ...args) => {
    const done = spawnSync(program, args, { encoding: "utf8" });
    assert.equal(done.status, 0, `${program} ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  };
  run(maker, capture);
  run(clrscope, "convert", capture, "-f", "-o", join(pages, "live.html"));
  report = JSON.parse(run(clrscope, "report", capture, "--live", "--by", "type", "--json"));
  run(clrscope, "convert", capture, "-f", "--live", "--older-than", "2m", "-o", join(pages, "live-old.html"));
  return "";
}

const check = browserTests("live.html", makePages);
const views = (page) => page.locator('[aria-label="What is shown"] button').allInnerTexts();
const names = async (page) => (await rows(page)).map((t) => t.replaceAll("\n", ""));
async function show(page, view) {
  await page.locator('[aria-label="What is shown"] button', { hasText: view }).click();
  await settle(page);
}

for (const theme of ["light", "dark"]) {
  check(`the selector switches flame graph and tables, ${theme}`, "live.html", { colorScheme: theme }, async (page) => {
    assert.deepEqual(await views(page), ["Allocated", "Live", "GC CPU"]);
    assert.match(await text(page, ".figures"), /\ballocated\b/);
    assert.deepEqual(await names(page), ["Orders.Order"]);
    const allocated = await look(page);
    await shot(page, `live-allocated-${theme}`);

    await show(page, "Live");
    assert.match(page.url(), /shows=live/);
    const { bytes, bytes_low, bytes_high } = report.totals;
    const error = ((50 * (bytes_high - bytes_low)) / bytes).toFixed(1);
    assert.ok((await text(page, ".figures")).includes(`±${error} %`), `±${error} % as in the report`);
    // 128,000 bytes a second for ten minutes, a refreshed cache of 40 MB and a table of 18 MB.
    const [, live] = (await text(page, ".figures")).match(/^([\d.]+) MiB[\s\S]*live at 10 min/);
    assert.ok(live > 110 && live < 160, live);
    assert.equal((await names(page))[0], "Orders.Order");
    assert.ok((await names(page)).includes("Orders.Price"));
    const alive = await look(page);
    assert.notEqual(alive.digest, allocated.digest);
    await shot(page, `live-live-${theme}`);

    await show(page, "GC CPU");
    assert.match(page.url(), /shows=gc-cpu/);
    assert.match(await text(page, ".figures"), /22\.2 %\s*of the CPU time is the collector's/);
    const parts = ["Rest of the process", "Garbage Collector", "Server GC threads", "Background GC threads"];
    assert.deepEqual(await names(page), parts, "the heaviest first");
    assert.equal((await text(page, ".notes")).trim(), "");
    assert.match(await text(page, ".timeline"), /GC CPU, most 20\.0 % of a core/);
    const cpu = await look(page);
    assert.notEqual(cpu.digest, alive.digest);
    assert.ok(cpu.colours > 2);
    await shot(page, `live-gc-cpu-${theme}`);

    await show(page, "Allocated");
    assert.equal((await look(page)).digest, allocated.digest);
    assert.ok(!page.url().includes("shows="));
  });
}

check("v steps through the views, Back returns", "live.html", {}, async (page) => {
  const shown = () => page.locator('[aria-label="What is shown"] [aria-pressed=true]').innerText();
  const seen = [];
  for (let i = 0; i < 3; i++) {
    seen.push(await shown());
    await page.keyboard.press("v");
    await settle(page);
  }
  assert.deepEqual(seen, ["Allocated", "Live", "GC CPU"]);
  assert.equal(await shown(), "Allocated");
  await page.goBack();
  await settle(page);
  assert.equal(await shown(), "GC CPU");
});

check("ages over time and now; a bar leaves what is that old", "live.html", {}, async (page) => {
  await show(page, "Live");
  assert.ok((await look(page, ".ages-box canvas")).colours >= 3, "several ages are stacked");
  const box = await page.locator(".ages-box canvas").boundingBox();
  await page.mouse.move(box.x + box.width - 2, box.y + 40);
  await settle(page);
  assert.match(await text(page, ".ages-time .ages-said"), /^10 min 00 s: 1 min to 10 min [\d.]+ MiB, 10 s to 1 min/);
  await page.mouse.move(box.x + box.width / 4, box.y + 40);
  await settle(page);
  assert.match(await text(page, ".ages-time .ages-said"), /^2 min [34]0 s: 1 min to 10 min/);

  const bars = page.locator(".age-bar");
  const label = (at) => bars.nth(at).getAttribute("aria-label");
  const all = await text(page, ".figures");
  assert.match(await label((await bars.count()) - 1), /^5 min to 10 min: [\d.]+ MiB$/);
  // Prices are refreshed each 100 s: none is two minutes old.
  assert.ok((await names(page)).includes("Orders.Price"));
  await page.locator('.age-bar[aria-label^="2 min to 5 min"]').click();
  await settle(page);
  assert.match(page.url(), /older=120/);
  assert.ok(!(await names(page)).includes("Orders.Price"));
  assert.ok((await names(page)).includes("Orders.Order"));
  assert.equal(await page.locator('[aria-label="Age"]').inputValue(), "120");
  assert.equal(await text(page, ".figures"), all, "the heading stays that of the whole");
  await shot(page, "live-older");
  await page.locator('[aria-label="Age"]').selectOption("");
  await settle(page);
  assert.ok((await names(page)).includes("Orders.Price"));

  // The bars are of what is in view.
  const before = await label((await bars.count()) - 1);
  await page.locator(".table-sheet .row", { hasText: "Orders.Price" }).or(page.locator(".table-sheet .row", { hasText: "Price" })).first().click();
  await settle(page);
  assert.notEqual(await label((await bars.count()) - 1), before);
  assert.match(await label((await bars.count()) - 1), /: 0 B$/);
  assert.match(await text(page, ".ages-now .ages-said"), /of Orders\.Price/);
});

check("what is picked in one view does not hide another", "live.html", {}, async (page) => {
  await show(page, "Live");
  await page.locator(".table-sheet .row", { hasText: "Price" }).first().click();
  await settle(page);
  await show(page, "GC CPU");
  assert.equal((await rows(page)).length, 4);
  await show(page, "Allocated");
  assert.match(await text(page, ".graph"), /Nothing was allocated here/);
  await page.locator(".chip").click();
  await settle(page);
  assert.deepEqual(await names(page), ["Orders.Order"]);
});

check("a page of --live has no allocations", "live-old.html", {}, async (page) => {
  assert.deepEqual(await views(page), ["Live", "GC CPU"]);
  assert.deepEqual((await names(page)).sort(), ["Orders.Order", "byte[]"]);
  assert.ok((await page.locator(".age-bar").first().getAttribute("aria-label")).startsWith("2 min"));
});

check("a narrow window", "live.html", { viewport: { width: 480, height: 1000 } }, async (page) => {
  await show(page, "Live");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "nothing sticks out");
  await shot(page, "live-narrow", { fullPage: true });
});
