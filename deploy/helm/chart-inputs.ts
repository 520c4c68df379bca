import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { parse } from "yaml";
import { helmVersion } from "./helm-tool.ts";

export const chartDir = join(import.meta.dirname, "perch");
export const renderedDir = join(import.meta.dirname, "rendered");
/** The digest of the templates and values from which the manifests beside it were rendered. */
export const digestFile = join(renderedDir, "inputs.sha256");

export const chart = parse(readFileSync(join(chartDir, "Chart.yaml"), "utf8")) as {
  readonly version: string;
  readonly appVersion: string;
};

/** The smallest example and the fullest one are rendered into files, which CI examines without helm. */
export const renderedExamples = ["minimal", "upgrade"];

/** All examples, by name. */
export const examples = readdirSync(join(chartDir, "ci"))
  .map((file) => basename(file, "-values.yaml"))
  .sort();

/** Everything that the manifests follow from, in an order that does not depend on the machine. */
const inputFiles = (): string[] =>
  readdirSync(chartDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "README.md")
    .map((entry) => relative(chartDir, join(entry.parentPath, entry.name)))
    .sort();

/** Changes with any input, and with the version of helm. */
export function digestInputs(): string {
  const hash = createHash("sha256").update(helmVersion);
  for (const file of inputFiles()) hash.update(`\0${file}\0`).update(readFileSync(join(chartDir, file)));
  return hash.digest("hex");
}
