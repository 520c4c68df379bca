import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkoutDir } from "@perch/testkit/services/layout.ts";
import { expect, test } from "vitest";
import config from "../../vitest.config.ts";
import { hasInput, listFiles } from "./changes.ts";
import { commonInputs, longTests, stages } from "./stages.ts";

test("every file of the repository is an input of a stage that examines more than its format", () => {
  const examining = stages.filter(({ name }) => name !== "static" && name !== "fast");
  const unnamed = listFiles().filter((path) => !examining.some((stage) => hasInput(stage, path)));
  const isText =
    /\.md$|^docs\/|(^|\/)\.|^LICENSE$|^biome\.json$|^renovate\.json$|^compose\.dev\.yaml$|^spec\/[^/]*\.ts$|^spec\/requirements\/|^bench\/|^scripts\//;
  expect(unnamed.filter((path) => !isText.test(path))).toEqual([]);
});

test("every project of vitest runs in a stage, and every long test is left out of one and run in another", () => {
  const projects = (config.test?.projects ?? []) as readonly { readonly test: { readonly name: string } }[];
  const run = new Set(stages.flatMap(({ checks }) => checks.flatMap((check) => ("tests" in check ? check.tests : []))));
  expect(projects.map(({ test: { name } }) => name).filter((name) => !run.has(name))).toEqual([]);
  expect(longTests.filter((file) => !existsSync(join(checkoutDir, file)))).toEqual([]);
});

test("inputs name something that exists", () => {
  const files = listFiles();
  const globs = new Set([...commonInputs, ...stages.flatMap(({ inputs }) => inputs)]);
  const empty = [...globs].filter((glob) => !files.some((path) => hasInput({ inputs: [glob] }, path)));
  expect(empty).toEqual([]);
});
