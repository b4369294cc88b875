// SPDX-License-Identifier: Apache-2.0
// Pages in a real browser. The C++ tests write most of them:
//   CLRSCOPE_HTML_OUT=DIR build/…/bin/export_test --gtest_filter='*WritesPages*'
//   CLRSCOPE_HTML_OUT=DIR node --test web/test/*.browser.test.mjs
// Screenshots go to DIR/shots. CHROMIUM names another browser than /usr/bin/chromium.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

export const pages = process.env.CLRSCOPE_HTML_OUT ? resolve(process.env.CLRSCOPE_HTML_OUT) : "";
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

// check(name, file, options, body): a test that opens a page of `pages` and runs `body` on it.
// Whatever the console says, and any request, is a failure. Without a browser, or without `needs`
// among the pages once `make` has run, such tests are skipped.
export function browserTests(needs, make = () => "") {
  let browser;
  let why = false;
  before(async () => {
    why = pages ? make() : "CLRSCOPE_HTML_OUT names no directory";
    if (!why && !existsSync(join(pages, needs))) why = `CLRSCOPE_HTML_OUT names no directory with ${needs}`;
    if (!why && !existsSync(executablePath)) why = `no browser at ${executablePath}`;
    if (why) return;
    mkdirSync(join(pages, "shots"), { recursive: true });
    browser = await chromium.launch({
      executablePath,
      args: [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
  });
  after(() => browser?.close());

  return (name, file, options, body) => {
    test(name, async (t) => {
      if (why) return t.skip(why);
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
      const page = await context.newPage();
      const trouble = [];
      page.on("console", (m) => trouble.push(`${m.type()}: ${m.text()}`));
      page.on("pageerror", (e) => trouble.push(String(e)));
      page.on("request", (r) => {
        if (!r.url().startsWith("file:") && !r.url().startsWith("data:")) trouble.push(`request: ${r.url()}`);
      });
      try {
        await page.goto(`file://${join(pages, file)}`);
        await ready(page);
        await body(page, context);
        assert.deepEqual(trouble, []);
      } finally {
        await context.close();
      }
    });
  };
}

export async function ready(page) {
  await page.waitForFunction(() => performance.getEntriesByName("clrscope-ready").length > 0);
  await settle(page);
}

// Effects run in a timer that a frame sets (Preact), what they change is painted in the next frame, and a size that this changes is
// measured in the one after. Timers and frames each come in order, so that waiting for both in turn is behind all of it, however slow.
export const settle = (page) =>
  page.evaluate(async () => {
    for (let round = 0; round < 4; round++) {
      await new Promise((done) => requestAnimationFrame(() => done()));
      await new Promise((done) => setTimeout(done, 0));
    }
  });

export const kRow = 19; // of the icicle, in pixels

// `row`: from the root's, 0.
export async function clickRow(page, x, row) {
  const box = await page.locator("#icicle").boundingBox();
  await page.mouse.click(box.x + x, box.y + (row + 0.5) * kRow);
  await settle(page);
}

// `options`: of Playwright's page.screenshot
export const shot = (page, name, options = {}) => page.screenshot({ path: join(pages, "shots", `${name}.png`), ...options });
export const text = (page, selector) => page.locator(selector).innerText();

// How many distinct colours a canvas has, and a digest of all of it.
export const look = (page, selector = "#icicle") =>
  page.evaluate((which) => {
    const canvas = document.querySelector(which);
    // A copy is read, as reading back would turn the page's own canvas into a slower kind.
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    let digest = 0;
    for (let i = 0; i < data.length; i += 4) {
      const pixel = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      if (data[i + 3] > 0) colours.add(pixel);
      digest = (Math.imul(digest, 31) + pixel + data[i + 3]) | 0;
    }
    return { colours: colours.size, digest };
  }, selector);

// The rows of the table beside the icicle that are in sight, one column of them.
export const rows = (page, column = ".c-name") => page.locator(`.table-sheet .row ${column}`).allInnerTexts();
