// SPDX-License-Identifier: Apache-2.0
// Bundles src/ into HTML templates, script and style inlined and allowed by their hashes alone.
//   node build.mjs [--out FOLDER]    default: ../build/web
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const web = fileURLToPath(new URL(".", import.meta.url));
const at = process.argv.indexOf("--out");
const out = at > 0 ? resolve(process.argv[at + 1]) : join(web, "../build/web");
const kBudget = 120 * 1024;

const shared = { bundle: true, minify: true, write: false, legalComments: "none", target: "es2022" };
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

async function bundle(name, entry, styles) {
  const script = await esbuild.build({
    ...shared,
    entryPoints: [join(web, entry)],
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
    charset: "ascii",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const style = await esbuild.build({ ...shared, entryPoints: [join(web, styles)] });
  // esbuild ends each file with a line feed, and a hash covers every byte between the tags.
  const js = script.outputFiles[0].text.trim();
  const css = style.outputFiles[0].text.trim();
  for (const bad of ["</script", "</style", "<!--"]) {
    if (js.includes(bad) || css.includes(bad)) throw new Error(`the bundle contains ${bad}`);
  }
  const policy = [
    "default-src 'none'",
    `script-src ${hash(js)}`,
    `style-src ${hash(css)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const page = readFileSync(join(web, "src/report.html"), "utf8")
    .replace("{{policy}}", () => policy)
    .replace("{{style}}", () => css)
    .replace("{{script}}", () => js);
  if (js.length > kBudget) throw new Error(`the bundle has ${js.length} bytes, over its budget of ${kBudget}`);
  writeFileSync(join(out, `${name}.html`), page);
  console.log(`${name}.html: script ${js.length} bytes, style ${css.length} bytes, page ${page.length} bytes`);
}

mkdirSync(out, { recursive: true });
await bundle("report", "src/main.tsx", "src/report.css");
await bundle("gc", "src/gc/main.tsx", "src/gc/gc.css");
