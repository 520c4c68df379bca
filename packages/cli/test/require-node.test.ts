import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const packages = join(import.meta.dirname, "../..");
const pretendOlder = `data:text/javascript,${encodeURIComponent(
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.9.1" } })',
)}`;

describe.each([
  ["perch", "cli"],
  ["perch-server", "server"],
])("%s", (program, folder) => {
  test("prints in one line which Node it needs", () => {
    const main = join(packages, folder, "src/main.ts");
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", pretendOlder, main, "--version"], {
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(`${program} needs Node 24 or later, and this is Node 20.9.1.\n`);
  });

  test("its package needs the same", () => {
    const manifest = JSON.parse(readFileSync(join(packages, folder, "package.json"), "utf8"));
    expect(manifest.engines).toEqual({ node: ">=24" });
  });
});
