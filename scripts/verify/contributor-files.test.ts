import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkoutDir } from "@perch/testkit/services/layout.ts";
import { expect, test } from "vitest";
import config from "../../vitest.config.ts";
import { listFiles } from "./changes.ts";
import { stages } from "./stages.ts";

const read = (path: string) => readFileSync(join(checkoutDir, path), "utf8");
const page = read("docs/testing.md");

/** The words in code style that begin the rows of a section's table. */
const listedIn = (heading: string): string[] => {
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^\| `(?:--)?([a-z]+)` \|/gm)].map(([, name = ""]) => name);
};

test("docs/testing.md lists the projects of vitest", () => {
  const projects = (config.test?.projects ?? []) as readonly { readonly test: { readonly name: string } }[];
  expect(listedIn("Projects")).toEqual(projects.map(({ test: { name } }) => name));
});

test("docs/testing.md lists the forms of chaos", () => {
  const forms = stages.flatMap(({ name }) => (name.startsWith("chaos-") ? [name.slice("chaos-".length)] : []));
  expect(listedIn("Chaos")).toEqual(forms);
});

test("docs/testing.md names variables that the code reads", () => {
  const variables = [...new Set(page.match(/\b(?:PERCH|CONSOLE|TEST)_[A-Z_]+/g))];
  const code = listFiles()
    .filter((path) => path.endsWith(".ts"))
    .map(read)
    .join("\n");
  expect(variables.length).toBeGreaterThan(10);
  expect(variables.filter((name) => !code.includes(name))).toEqual([]);
});

test(".nvmrc, the dev container and compose.dev.yaml have the versions of .ci/run and deploy/compose", () => {
  const ciRun = read(".ci/run");
  const versionOf = (name: string) => new RegExp(`^${name}_version=(.+)$`, "m").exec(ciRun)?.[1];
  expect(read(".nvmrc").trim()).toBe(versionOf("node"));
  expect(read(".devcontainer/devcontainer.json")).toContain(`pnpm@${versionOf("pnpm")}"`);
  const imagesOf = (path: string) => read(path).match(/\$\{(?:POSTGRES|VALKEY)_IMAGE:-[^}]+\}/g);
  expect(imagesOf("compose.dev.yaml")).toEqual(imagesOf("deploy/compose/compose.yaml"));
});
