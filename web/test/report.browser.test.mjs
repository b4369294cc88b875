// SPDX-License-Identifier: Apache-2.0
// The report in a real browser: see browser.mjs.
import assert from "node:assert/strict";
import { join } from "node:path";
import { browserTests, clickRow, kRow, look, pages, ready, rows, settle, shot, text } from "./browser.mjs";

const check = browserTests("shop.html");

check("draws the icicle, the time strip and the figures", "shop.html", { colorScheme: "light" }, async (page) => {
  assert.ok((await look(page)).colours > 20);
  assert.match(await text(page, "header"), /orders\s*pid 4711\s*· \.NET 10\.0\.12 · Linux x64/);
  assert.match(await text(page, ".figures"), /694 MiB\s*±2\.1 %\s*allocated/);
  assert.match(await text(page, ".figures"), /5,834\s*samples, AllocationSampled/);
  assert.match(await text(page, ".losses"), /1,840 events that the runtime dropped/);
  assert.equal(await page.locator(".timeline-box canvas").count(), 1);
  assert.equal(await page.title(), "orders (4711) - clrscope");
  await shot(page, "light");
});

check("search highlights, counts and cycles", "shop.html", {}, async (page) => {
  const plain = await look(page);
  await page.keyboard.press("/");
  await page.keyboard.type("Acme\\.Pricing");
  await page.waitForFunction(() => document.querySelector(".match")?.textContent === "matched 15.8 % · 1");
  await settle(page);
  assert.notEqual((await look(page)).digest, plain.digest);
  // Matches are sought once typing has paused.
  const says = (end) => page.waitForFunction((e) => document.querySelector(".match")?.textContent?.endsWith(e), end);
  await page.locator("#search").fill("byte|OrderService");
  await says("· 2");
  await page.keyboard.press("Enter");
  await says("· 1 of 2");
  await page.keyboard.press("Enter");
  await says("· 2 of 2");
  await settle(page);
  assert.match(await page.locator("#spoken").innerText(), /^byte\[\], /);
  await shot(page, "search");
  await page.locator("#search").fill("(");
  await page.waitForFunction(() => document.querySelector(".match.error"));
  assert.match(await text(page, ".match"), /not a regular expression/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".match").count(), 0);
  assert.equal((await look(page)).digest !== 0, true);
});

check("what is typed while the page searches stays", "shop.html", {}, async (page) => {
  const said = await page.evaluate(async () => {
    const input = document.querySelector("#search");
    const type = (text) => {
      input.value = text;
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    };
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    type("By");
    await pause(90); // the search begins, and this is the next task
    type("Byte");
    await pause(60); // some frames, and not yet the next search
    return input.value;
  });
  assert.equal(said, "Byte");
  await page.locator("#search").fill("");
  await page.waitForFunction(() => document.querySelector(".match") === null);
});

check("click zooms, the tables follow, Escape and Back return", "shop.html", {}, async (page) => {
  const all = await rows(page);
  const before = await look(page);
  await clickRow(page, 120, 3); // OrderService.Load
  assert.match(await text(page, ".crumbs"), /OrderService\.Load \[async\]$/);
  assert.match(page.url(), /#.*zoom=/);
  assert.notEqual((await look(page)).digest, before.digest);
  assert.equal((await rows(page)).length, 3);
  await shot(page, "zoom");
  await page.keyboard.press("Escape");
  await settle(page);
  assert.deepEqual(await rows(page), all);
  assert.ok(!page.url().includes("zoom="));
  await page.goBack();
  await settle(page);
  assert.match(page.url(), /zoom=/);
  assert.equal((await rows(page)).length, 3);
  const url = page.url();
  await page.goto("about:blank");
  await page.goto(url);
  await ready(page);
  assert.match(await text(page, ".crumbs"), /OrderService\.Load/, "the URL brings the view back");
});

check("the table sorts and filters", "shop.html", {}, async (page) => {
  assert.equal((await rows(page))[0], "byte[]");
  await page.locator('[data-sort="samples"]').click();
  const samples = (await rows(page, ".c-samples")).map((t) => Number(t.replaceAll(",", "")));
  assert.deepEqual(samples, [...samples].sort((a, b) => b - a));
  await page.locator('[data-sort="samples"]').click();
  assert.equal((await rows(page, ".c-samples"))[0], "3");
  assert.match(await page.locator(".table-sheet .row").first().getAttribute("class"), /few/);
  await page.locator('[data-sort="name"]').click();
  const names = (await rows(page)).map((t) => t.replaceAll("\n", ""));
  assert.deepEqual(names, [...names].sort());
  await page.locator(".filter").fill("order");
  await settle(page);
  assert.equal((await rows(page)).length, 2);
  await page.locator(".filter").fill("zzz");
  await settle(page);
  assert.match(await text(page, ".table-body"), /No name contains this text/);
});

check("a type restricts the icicle", "shop.html", {}, async (page) => {
  const before = await look(page);
  await page.locator(".table-sheet .row", { hasText: "string" }).nth(0).click();
  await settle(page);
  assert.notEqual((await look(page)).digest, before.digest);
  assert.match(await text(page, ".chip"), /^string/);
  assert.match(page.url(), /type=\d/);
  const box = await page.locator("#icicle").boundingBox();
  await page.mouse.move(box.x + 100, box.y + kRow / 2);
  await settle(page);
  assert.match(await text(page, ".tip"), /total\s*133 MiB/);
  assert.equal((await rows(page)).length, 12, "the other types stay in the table");
  await page.locator(".chip").click();
  await settle(page);
  await page.mouse.move(5, 5);
  await settle(page);
  assert.equal((await look(page)).digest, before.digest);
});

check("tooltips tell name, module, figures and types", "shop.html", {}, async (page) => {
  const box = await page.locator("#icicle").boundingBox();
  await page.mouse.move(box.x + 120, box.y + 3.5 * kRow);
  await settle(page);
  const tip = await text(page, ".tip");
  assert.match(tip, /Acme\.Orders\.OrderService\.Load \[async\]/);
  assert.match(tip, /class System\.String, int32/);
  assert.match(tip, /total\s*307 MiB\s*±3\.0 %/);
  assert.match(tip, /share\s*44\.3 %\s*of all/);
  assert.match(tip, /50\.7 %\s*byte\[\]/);
});

check("methods, sites, metrics, plumbing and type leaves", "shop.html", {}, async (page) => {
  await page.keyboard.press("2");
  await settle(page);
  const methods = await rows(page);
  await page.keyboard.press("p");
  await settle(page);
  assert.equal((await rows(page)).length > methods.length, true);
  await page.keyboard.press("p");
  await page.keyboard.press("3");
  await settle(page);
  assert.match((await rows(page)).join("\n").replaceAll("\u00a0", " "), /Trail\.Write\s*→ string/);
  const withTypes = await look(page);
  await page.keyboard.press("t");
  await settle(page);
  const without = await look(page);
  assert.notEqual(without.digest, withTypes.digest);
  await page.keyboard.press("m");
  await settle(page);
  assert.notEqual((await look(page)).digest, without.digest);
  assert.match(page.url(), /metric=objects/);
  await page.keyboard.press("i");
  await settle(page);
  assert.match(page.url(), /view=flame/);
});

check("the keyboard walks the tree and says where it is", "shop.html", {}, async (page) => {
  await page.locator(".aria-tree").focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  await settle(page);
  const spoken = await page.locator("#spoken").innerText();
  assert.match(spoken, /^Acme\.Orders\.Api\.OrderController\.Post \[async\], 185 MiB, ±4\.5 %, 26\.\d %$/);
  const active = await page.locator(".aria-tree").getAttribute("aria-activedescendant");
  assert.equal(await page.locator(`#${active}[role=treeitem][aria-selected=true]`).count(), 1);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(await text(page, ".crumbs"), /OrderController\.Post/);
  await page.keyboard.press("?");
  assert.equal(await page.locator("[role=dialog]").count(), 1);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("[role=dialog]").count(), 0);
  // The cursor does not outlive the tree that it is in.
  await page.keyboard.press("Escape");
  for (let i = 0; i < 9; i++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("t");
  await page.keyboard.press("ArrowDown");
  await settle(page);
  assert.match(await page.locator("#spoken").innerText(), /^all allocations/);
});

check("dark follows the system, d turns it and it is remembered", "shop.html", { colorScheme: "dark" }, async (page) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await background(), "rgb(18, 22, 27)");
  assert.ok((await look(page)).colours > 20);
  await shot(page, "dark");
  await page.keyboard.press("d");
  await settle(page);
  assert.equal(await background(), "rgb(246, 248, 250)");
  await page.goto(`file://${join(pages, "shop.html")}`);
  await ready(page);
  assert.equal(await background(), "rgb(246, 248, 250)");
});

check("a narrow window has the table below the icicle", "shop.html", { viewport: { width: 480, height: 1000 } }, async (page) => {
  const icicle = await page.locator("#icicle").boundingBox();
  const table = await page.locator(".panel").boundingBox();
  assert.ok(table.y >= icicle.y + icicle.height - 1);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "nothing sticks out");
  assert.ok((await look(page)).colours > 20);
  await shot(page, "narrow", { fullPage: true });
});

check("AllocationTick is said to be biased and has no intervals", "tick.html", {}, async (page) => {
  assert.match(await text(page, ".notes"), /Biased: AllocationTick, no interval/);
  assert.match(await text(page, ".notes"), /Objects are not known/);
  assert.ok(!(await text(page, "main")).includes("95 %"));
  assert.ok(!(await text(page, ".figures")).includes("±"));
  assert.equal(await page.locator("[role=group][aria-label=Metric] button").count(), 2);
});

check("hostile names are text", "hostile.html", {}, async (page) => {
  assert.match((await rows(page))[0], /<\/script><img src=x onerror=alert\(1\)>‹U\+2028›‹U\+202E›‹U\+0001›/);
  assert.equal(await page.locator("img").count(), 0);
  await shot(page, "hostile");
});

check("an empty recording says so", "empty.html", {}, async (page) => {
  assert.match(await text(page, "#app"), /No allocations recorded/);
});

check("100,000 stacks", "many.html", { viewport: { width: 1920, height: 1000 } }, async (page) => {
  const start = await page.evaluate(() => Math.round(performance.getEntriesByName("clrscope-ready")[0].startTime));
  assert.ok((await look(page)).colours > 100);
  const timed = async (key) => {
    const begin = performance.now();
    await page.keyboard.press(key);
    await settle(page);
    return Math.round(performance.now() - begin);
  };
  const leaves = await timed("t");
  const flame = await timed("i");
  await page.keyboard.press("/");
  await page.keyboard.type("Service12");
  const begin = performance.now();
  await page.keyboard.press("Enter");
  await settle(page);
  const search = Math.round(performance.now() - begin);
  assert.match(await text(page, ".match"), /^matched [\d.]+ % · 1 of [\d,]+$/);
  for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+Enter"); // round to the lightest ones
  await settle(page);
  assert.match(page.url(), /zoom=/, "a match too thin to see is zoomed to");
  assert.ok((await page.locator(".icicle-box.cursor").boundingBox()).width > 30);
  await page.locator("#search").fill("");
  await page.keyboard.press("Escape");
  await page.keyboard.press("0");
  assert.match(await text(page, ".notes"), /lightest stack nodes are folded/);
  console.log(`100,000 stacks: first view ${start} ms, another tree ${leaves} ms, flame ${flame} ms, search ${search} ms`);
  assert.ok(start < 20_000 && leaves < 10_000 && search < 10_000, "slow beyond what a busy machine explains");
  await shot(page, "many");
});

check("the first frame has the time strip and the icicle", "shop.html", {}, async (page) => {
  await page.addInitScript(() => {
    // The page's own drawings of a frame are asked for before this one.
    const observer = new MutationObserver(() => {
      const canvases = [...document.querySelectorAll(".timeline-box canvas, .icicle canvas")];
      if (canvases.length === 0) return;
      observer.disconnect();
      requestAnimationFrame(() => {
        window.drawnAtFirst = canvases.map((c) =>
          c.width > 0 && c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v > 0),
        );
      });
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  await page.reload();
  await ready(page);
  assert.deepEqual(await page.evaluate(() => window.drawnAtFirst), [true, true]);
});
