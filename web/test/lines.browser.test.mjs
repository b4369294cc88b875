// SPDX-License-Identifier: Apache-2.0
// The page of a recording whose lines are known, in a real browser: see browser.mjs. Its figures are those of
// FillLines() in src/export/testing/line_profiles.h.
import assert from "node:assert/strict";
import { browserTests, clickRow, kRow, look, rows, settle, shot, text } from "./browser.mjs";

const check = browserTests("lines.html");

// self, total, line and text of a row
async function cells(row) {
  return (await row.locator('[role="gridcell"], [role="rowheader"]').allInnerTexts()).map((t) => t.trim());
}
const line = async (page, number) => {
  for (const row of await page.locator(".code-row").all()) {
    const found = await cells(row);
    if (found[2].endsWith(String(number))) return found;
  }
  return null;
};
const focus = (page) => cells(page.locator('.code-row[aria-current="true"]'));
const inSight = (page) =>
  page.evaluate(() => {
    const row = document.querySelector(".code-row.focus").getBoundingClientRect();
    const body = document.querySelector(".code-body").getBoundingClientRect();
    return row.top >= body.top && row.bottom <= body.bottom;
  });

for (const theme of ["light", "dark"]) {
  check(`a frame that is selected shows its source and figures, ${theme}`, "lines.html", { colorScheme: theme }, async (page) => {
    assert.equal(await page.locator(".source").count(), 0, "nothing is selected");
    await clickRow(page, 100, 2); // Orders.Load
    assert.match(await text(page, ".source-name"), /^Load\.cs:20/);
    assert.match(await text(page, ".source-of"), /^Orders\.Load · 2 more lines$/);
    assert.deepEqual(await focus(page), ["58.6 MiB", "58.6 MiB", "20", "var order = new Order(id);"]);
    assert.ok(await inSight(page));
    assert.deepEqual(await line(page, 21), ["29.9 MiB", "29.9 MiB", "21", "orders.Add(order);"]);
    assert.deepEqual((await line(page, 24)).slice(0, 2), ["5.86 MiB", "5.86 MiB"]);
    assert.match((await line(page, 24))[2], /^~\s*24$/);
    assert.deepEqual((await line(page, 19)).slice(0, 3), ["", "", "19"]);
    assert.equal(await page.locator('.code-row[aria-selected="true"]').count(), 3);
    await shot(page, `lines-${theme}`);

    await page.keyboard.press("m"); // objects
    await settle(page);
    assert.equal((await focus(page))[0], "512,298");
    await page.keyboard.press("m");
    await settle(page);
    assert.equal((await focus(page))[0], "600");
  });
}

check("figures are those of the selection", "lines.html", {}, async (page) => {
  await clickRow(page, 100, 2);
  await page.locator(".table-sheet .row", { hasText: "Order[]" }).click();
  await settle(page);
  await page.keyboard.press("ArrowDown");
  await settle(page);
  assert.equal((await focus(page))[2], "21", "where those are allocated");
  assert.equal((await focus(page))[1], "29.9 MiB");
  assert.deepEqual((await line(page, 20)).slice(0, 2), ["", ""]);
});

check("a method without lines is shown where it is called", "lines.html", {}, async (page) => {
  const box = await page.locator("#icicle").boundingBox();
  await clickRow(page, box.width * 0.7, 3); // List.Add
  assert.match(await text(page, ".source-name"), /^Load\.cs:21/);
  assert.match(await text(page, ".source-of"), /^calls List<T>\.Add$/);
  assert.deepEqual((await focus(page)).slice(0, 2), ["29.9 MiB", "29.9 MiB"]);
});

check("the file's name leads to SourceLink's address at that line, and nothing is fetched", "lines.html", {}, async (page) => {
  await clickRow(page, 100, 2);
  const link = page.locator("a.source-name");
  assert.equal(await link.getAttribute("href"), "https://github.com/acme/shop/blob/0123abcd/Load.cs#L20");
  assert.match(await link.getAttribute("rel"), /\bnoopener\b/);
  assert.equal(await page.locator("a[href]").count(), 1);
});

check("hostile text is shown and does nothing", "lines.html", {}, async (page) => {
  page.on("dialog", () => assert.fail("a dialog"));
  await clickRow(page, 100, 2);
  const hostile = await line(page, 22);
  assert.equal(hostile[3], 'var s = "</script><img src=x onerror=alert(1)><!--"; // ‹U+202E› gnp.exe ‹U+0001›');
  assert.equal(await page.locator(".source img, .source script").count(), 0);
  assert.match((await line(page, 23))[3], /^x{1000} … 4000 more characters$/);
  // Long lines are scrolled to, and figures stay where they are.
  const side = () => page.locator(".code-row.focus .code-side").evaluate((e) => e.getBoundingClientRect().left);
  const before = await side();
  const scrolled = await page.locator(".code-body").evaluate((e) => ((e.scrollLeft = 2000), e.scrollLeft));
  await settle(page);
  assert.ok(scrolled > 1000, scrolled);
  assert.equal(await side(), before);
});

check("a file without text says how to get it", "lines.html", {}, async (page) => {
  await page.keyboard.press("5");
  await settle(page);
  await page.locator(".table-sheet .row", { hasText: "Price.cs:7" }).click();
  await settle(page);
  assert.match(await text(page, ".source-name"), /^Price\.cs:7$/);
  assert.equal(await page.locator("a.source-name").count(), 0, "plain http is no link");
  assert.match(await text(page, ".source-note"), /not in the page: clrscope convert --source-path DIR takes it/);
  assert.equal((await focus(page))[2], "7");
  await shot(page, "lines-no-text");
  await page.locator(".table-sheet .row", { hasText: "Audit.cs:3" }).click();
  await settle(page);
  assert.match(await text(page, ".source-note"), /of another version of this file, by its checksum/);
});

check("lines are a table, and a row leads to its frame and its source", "lines.html", {}, async (page) => {
  await page.keyboard.press("5");
  await settle(page);
  assert.match(page.url(), /tab=lines/);
  const names = (await rows(page)).map((t) => t.replace(/\s+/g, " ").trim());
  assert.deepEqual(names, [
    "Load.cs:20 Orders.Load",
    "Load.cs:21 Orders.Load",
    "~ Load.cs:24 Orders.Load",
    "Price.cs:7 Prices.Quote",
    "Audit.cs:3 Audit.Write",
    "Load.cs:12 Program.Main",
  ]);
  assert.deepEqual((await rows(page, ".c-wide")).slice(2, 4), ["29.9 MiB", "29.9 MiB"]);
  const plain = await page.locator(".icicle-box.cursor").count();
  await page.locator(".table-sheet .row").nth(1).click();
  await settle(page);
  assert.equal(plain, 0);
  assert.equal(await page.locator(".icicle-box.cursor").count(), 1);
  assert.equal((await focus(page))[2], "21");
  assert.equal(await page.locator(".table-sheet .row.selected").count(), 1);
  await shot(page, "lines-table");
});

check("the keyboard reads the source and hides it", "lines.html", {}, async (page) => {
  await clickRow(page, 100, 2);
  await page.locator(".code-body").focus();
  await page.keyboard.press("ArrowDown");
  await settle(page);
  const active = await page.locator(".code-body").getAttribute("aria-activedescendant");
  assert.equal(active, "line-20");
  await page.keyboard.press("Enter"); // line 21
  await settle(page);
  assert.equal((await focus(page))[2], "21");
  await page.keyboard.press("End");
  await settle(page);
  assert.ok(await line(page, 400));
  await page.keyboard.press("s");
  await settle(page);
  assert.equal(await page.locator(".source").count(), 0);
  assert.match(page.url(), /source=0/);
  await page.keyboard.press("s");
  await settle(page);
  assert.equal(await page.locator(".source").count(), 1);
  assert.match(await page.locator("#spoken").innerText(), /, Load\.cs:2\d$/);
});

check("the tooltip tells the line", "lines.html", {}, async (page) => {
  const box = await page.locator("#icicle").boundingBox();
  await page.mouse.move(box.x + 100, box.y + 2.5 * kRow);
  await settle(page);
  assert.equal(await text(page, ".tip-at"), "Load.cs:20 and 2 more lines");
});

check("a narrow window has the source below the graph", "lines.html", { viewport: { width: 390, height: 844 } }, async (page) => {
  await clickRow(page, 60, 2);
  const top = async (selector) => (await page.locator(selector).boundingBox()).y;
  assert.ok((await top(".graph")) < (await top(".source")));
  assert.ok((await top(".source")) < (await top(".panel")));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the window");
  await shot(page, "lines-narrow", { fullPage: true });
});

check("a page without lines has no control of them", "shop.html", {}, async (page) => {
  const before = await look(page);
  assert.equal(await page.locator(".toggle", { hasText: "Source" }).count(), 0);
  assert.ok(!(await page.locator(".tabs button").allInnerTexts()).includes("Lines"));
  await page.keyboard.press("s");
  await page.keyboard.press("5");
  await clickRow(page, 120, 3);
  assert.equal(await page.locator(".source").count(), 0);
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal((await look(page)).digest, before.digest);
  await page.keyboard.press("?");
  assert.ok(!(await text(page, ".help")).includes("source"));
});
