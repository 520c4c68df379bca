import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listFlaws } from "./packed-contents.ts";

const paths = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts", "openapi.json"];
const manifest = {
  license: "Apache-2.0",
  description: "An example.",
  engines: { node: ">=24" },
  files: ["dist", "openapi.json"],
  scripts: { build: "node build.ts" },
  dependencies: { zod: "4.6.7" },
};

test("a package with its README, its licence and only its listed files has no flaws", () => {
  expect(listFlaws(paths, manifest)).toEqual([]);
});

test.each([
  ["a README that is missing", paths.filter((path) => path !== "README.md"), manifest, "README.md is missing"],
  ["no engines", paths, { ...manifest, engines: {} }, "package.json has no engines"],
  ["a file that it does not list", [...paths, "notes.txt"], manifest, 'notes.txt is not in "files"'],
  ["a test", [...paths, "dist/index.test.js"], manifest, "dist/index.test.js is of tests"],
  ["TypeScript", [...paths, "dist/index.ts"], manifest, "dist/index.ts is source, which Node does not run there"],
  ["an install script", paths, { ...manifest, scripts: { postinstall: "x" } }, "postinstall would run at a user's"],
  [
    "a dependency of the workspace",
    paths,
    { ...manifest, dependencies: { "@perch/sdk": "workspace:*" } },
    "@perch/sdk is depended on as workspace:*, which is not an exact version",
  ],
])("%s is a flaw", (_, packed, described, flaw) => {
  expect(listFlaws(packed, described)).toEqual([flaw]);
});

test("the wheel's copy of the licence is the repository's, which pnpm puts into the others itself", () => {
  const [ours, copy] = ["LICENSE", "sdk-python/LICENSE"].map((path) =>
    readFileSync(join(import.meta.dirname, "../../../..", path), "utf8"),
  );
  expect(ours).toContain("Apache License");
  expect(copy).toBe(ours);
});
