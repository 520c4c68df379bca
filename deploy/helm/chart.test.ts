import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import server from "../../packages/server/package.json" with { type: "json" };
import { knownVariables } from "../../packages/server/src/config/config.ts";
import { chart, chartDir, digestFile, digestInputs, examples, renderedExamples } from "./chart-inputs.ts";
import { byExample } from "./manifests.ts";

const read = (file: string) => readFileSync(join(chartDir, file), "utf8");
const values = parse(read("values.yaml")) as object;

test("the rendered manifests belong to exactly these templates and values: if not, run node deploy/helm/render.ts", () => {
  expect(readFileSync(digestFile, "utf8").trim()).toBe(digestInputs());
});

test("the checks see the smallest and the fullest example", () => {
  expect(examples).toEqual(expect.arrayContaining(renderedExamples));
  for (const [, manifests] of byExample) expect(manifests.length).toBeGreaterThanOrEqual(7);
});

test("the chart has the version of the server", () => {
  expect(chart.version).toBe(server.version);
  expect(chart.appVersion).toBe(server.version);
});

/** The paths of all values. A list, or a map that an operator fills, is one value. */
const pathsOf = (value: unknown, path = ""): string[] =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, path === "" ? key : `${path}.${key}`))
    : [path];

test("the README explains every value", () => {
  const [, section = ""] = read("README.md").split("\n## Values\n");
  const table = section.split("\n").filter((line) => line.startsWith("| `"));
  const explained = table.flatMap((line) =>
    [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, one = ""]) => one),
  );
  const paths = pathsOf(values);
  expect(paths.length).toBeGreaterThan(30);
  const isExplained = (path: string) => explained.some((one) => path === one || path.startsWith(`${one}.`));
  expect(paths.filter((path) => !isExplained(path))).toEqual([]);
  expect(explained.filter((one) => !paths.some((path) => path === one || path.startsWith(`${one}.`)))).toEqual([]);
});

describe("the refusals", () => {
  const checks = read("templates/checks.yaml");

  test("know every setting that is secret", () => {
    const secret = knownVariables.filter((name) => knownVariables.includes(`${name}_FILE`));
    expect(secret.length).toBeGreaterThan(8);
    expect(secret.filter((name) => !checks.includes(`"${name}"`))).toEqual([]);
  });

  test("name no setting that does not exist", () => {
    const named = [...checks.matchAll(/"(PERCH_\w+)"/g)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((name) => !knownVariables.includes(name))).toEqual([]);
  });

  test("cover every setting that the chart makes", () => {
    const set = byExample.flatMap(([example, manifests]) =>
      example === "minimal"
        ? manifests.flatMap(({ spec }) => spec.template?.spec.containers[0].env.map(({ name }) => name) ?? [])
        : [],
    );
    // Defaults of `settings` are for the operator to change there.
    const defaults = [...read("values.yaml").matchAll(/^ {2}(PERCH_\w+):/gm)].map(([, name]) => name);
    expect(defaults).toEqual(["PERCH_SCRIPT_MODEL"]);
    expect(set.length).toBeGreaterThan(15);
    expect(
      set.filter((name) => !defaults.includes(name) && !checks.includes(`"${name.replace(/_FILE$/, "")}"`)),
    ).toEqual([]);
  });
});
