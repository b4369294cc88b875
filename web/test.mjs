// SPDX-License-Identifier: Apache-2.0
// Bundles every src/**/*.test.ts and runs them with node's test runner.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const src = fileURLToPath(new URL("./src/", import.meta.url));
const tests = readdirSync(src, { recursive: true })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => join(src, name));
const out = mkdtempSync(join(tmpdir(), "clrscope-web-test-"));
try {
  await esbuild.build({
    entryPoints: tests,
    bundle: true,
    outdir: out,
    outbase: src,
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    sourcemap: "inline",
  });
  const files = readdirSync(out, { recursive: true }).filter((name) => name.endsWith(".test.mjs"));
  const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files.map((f) => join(out, f))], {
    stdio: "inherit",
  });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
