// SPDX-License-Identifier: Apache-2.0
// The page of a recording with exceptions and waits in a real browser: see browser.mjs.
import assert from "node:assert/strict";
import { browserTests, look, rows, settle, shot, text } from "./browser.mjs";

const check = browserTests("events.html");
const labels = (page, group) => page.locator(`[aria-label="${group}"] button`).allInnerTexts();
const names = async (page) => (await rows(page)).map((t) => t.replaceAll("\n", ""));
const headings = (page) => page.locator(".table-head [data-sort]").allInnerTexts();
async function show(page, view) {
  await page.locator('[aria-label="What is shown"] button', { hasText: view }).click();
  await settle(page);
}

for (const theme of ["light", "dark"]) {
  check(`each measure has its own figures and words, ${theme}`, "events.html", { colorScheme: theme }, async (page) => {
    assert.deepEqual(await labels(page, "What is shown"), ["Allocated", "Exceptions", "Locks", "Waits"]);
    const allocated = await look(page);

    await show(page, "Exceptions");
    assert.match(page.url(), /shows=exceptions/);
    assert.match(await text(page, ".figures"), /1,240\s*thrown\s*300\s*rethrown\s*20\.7\/s\s*over 1 min 00 s/);
    assert.deepEqual(await labels(page, "Metric"), ["Thrown", "Rethrown"]);
    assert.deepEqual(await names(page), ["Acme.Orders.OutOfStock"]);
    assert.match(await text(page, ".timeline"), /Exceptions, most 1,240\/s/);
    assert.notEqual((await look(page)).digest, allocated.digest);
    await page.locator(".tabs button", { hasText: "Sites" }).click();
    await settle(page);
    assert.equal((await rows(page)).length, 2);
    await shot(page, `events-exceptions-${theme}`);
    await page.keyboard.press("m");
    await settle(page);
    assert.match(page.url(), /metric=bytes/);
    assert.match(await page.locator('[role="tree"]').innerText(), /^all exceptions, 300 rethrown/);

    await show(page, "Locks");
    assert.ok(!page.url().includes("metric="), "another measure begins with its own first quantity");
    assert.match(await text(page, ".figures"), /2\.50 s\s*waited\s*970\s*waits/);
    assert.deepEqual(await labels(page, "Metric"), ["Waited", "Waits"]);
    assert.deepEqual(await page.locator(".tabs button").allInnerTexts(), ["Methods", "Sites", "Threads"]);
    assert.deepEqual((await rows(page, ".c-wide")).slice(0, 2), ["2.50 s", "70"]);
    assert.ok(!(await names(page)).some((n) => n.includes("→")), "a lock has no type");
    assert.equal(await page.locator(".toggle", { hasText: "Type leaves" }).count(), 0);
    assert.match(await text(page, ".timeline"), /Waits for locks, most 2\.50 s\/s/);
    await page.keyboard.press("m");
    await settle(page);
    assert.equal((await rows(page, ".c-wide"))[1], "900", "by the number of waits");
    await shot(page, `events-locks-${theme}`);

    await show(page, "Waits");
    assert.match(await text(page, ".graph"), /No waits came; what was lost on the way stands above\./);
    assert.equal(await page.locator(".timeline").count(), 0);

    await show(page, "Allocated");
    assert.equal((await look(page)).digest, allocated.digest);
    assert.ok(!page.url().includes("shows="));
  });
}

check("where nothing was lost there was nothing", "events-whole.html", {}, async (page) => {
  await show(page, "Waits");
  assert.match(await text(page, ".graph"), /There were no waits\./);
});

check("what is picked in one measure does not hide another", "events.html", {}, async (page) => {
  await page.locator(".table-sheet .row", { hasText: "byte[]" }).click();
  await settle(page);
  await show(page, "Exceptions");
  assert.match(await text(page, ".graph"), /No exceptions here\. Another process or type may have some\./);
  await show(page, "Locks");
  assert.equal((await rows(page)).length, 2);
  await page.locator('[aria-label="What is shown"] button', { hasText: "Allocated" }).click();
  await settle(page);
  assert.equal(await page.locator(".chip").count(), 1);
});

check("clicking a site looks for it", "events.html", {}, async (page) => {
  await show(page, "Locks");
  await page.locator(".table-sheet .row").first().click();
  await settle(page);
  assert.match(await text(page, ".match"), /^matched 99\.8 % · 1 of 1$/);
});

check("threads are a table, and picking one narrows the page", "events.html", {}, async (page) => {
  assert.ok(!(await page.locator(".tabs button").allInnerTexts()).includes("Threads"), "of these allocations nobody knows them");
  await show(page, "Locks");
  const all = await look(page);
  await page.keyboard.press("4");
  await settle(page);
  assert.match(page.url(), /tab=threads/);
  const threads = await names(page);
  assert.ok(threads.length > 0 && threads.every((n) => /\d/.test(n)), threads.join());
  assert.match(await text(page, ".scope"), /threads? in all/);
  await page.locator(".table-sheet .row").first().click();
  await settle(page);
  assert.match(page.url(), /thread=\d/);
  assert.equal(await page.locator(".chip").count(), 1);
  assert.deepEqual(await names(page), threads, "the table is where another one is picked");
  await shot(page, "events-threads");
  await page.locator(".chip").click();
  await settle(page);
  assert.ok(!page.url().includes("thread="));
  assert.equal((await look(page)).digest, all.digest);
});
