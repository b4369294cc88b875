// SPDX-License-Identifier: Apache-2.0
// Runs `npm ci` when node_modules does not match package-lock.json; builds may call it at once.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL(".", import.meta.url));
const stamp = join(web, "node_modules", ".clrscope-stamp");
const want = createHash("sha256").update(readFileSync(join(web, "package-lock.json"))).digest("hex");
const fresh = () => existsSync(stamp) && readFileSync(stamp, "utf8") === want;

if (!fresh()) {
  const lock = join(tmpdir(), `clrscope-npm-${createHash("sha256").update(web).digest("hex").slice(0, 16)}`);
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      // Another build installs; a lock older than ten minutes was left behind by one that died.
      if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 600_000) rmdirSync(lock);
      await new Promise((done) => setTimeout(done, 300));
    }
  }
  try {
    if (!fresh()) {
      execFileSync("npm", ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], {
        cwd: web,
        stdio: ["ignore", "ignore", "inherit"],
      });
      writeFileSync(stamp, want);
    }
  } finally {
    rmdirSync(lock);
  }
}
