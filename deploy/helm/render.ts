import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { badValues } from "./bad-values.ts";
import { chartDir, digestFile, digestInputs, examples, renderedDir, renderedExamples } from "./chart-inputs.ts";
import { findHelm, helmVersion, type Result, run } from "./helm-tool.ts";
import { ofKind, parseManifests } from "./manifests.ts";

/**
 * Renders every example of the chart, and writes two of them into rendered/ with a digest of their inputs. With --check
 * it writes nothing: it compares, runs `helm lint`, and tries values that must be refused. CI has no helm, so it relies
 * on the digest.
 */

const helm = await findHelm();
const valuesFile = (example: string) => join(chartDir, "ci", `${example}-values.yaml`);

const template = (example: string, ...args: string[]): Promise<Result> =>
  run(helm, [
    ...["template", "perch", chartDir, "--namespace", "perch", "--values", valuesFile(example)],
    ...["--kube-version", "1.30.0", ...args],
  ]);

async function render(example: string): Promise<string> {
  const { code, stdout, stderr } = await template(example);
  if (code !== 0) throw new Error(`${example} cannot be rendered:\n${stderr}`);
  const rules = ofKind(parseManifests(stdout), "NetworkPolicy").flatMap(({ spec }) => spec.ingress ?? []);
  if (rules.some(({ ports = [], from = [] }) => ports.length === 0 || from.length === 0))
    throw new Error(`${example} has a network policy with a rule that opens a pod to all ports or all peers`);
  return stdout;
}

async function write(): Promise<void> {
  const texts = new Map<string, string>();
  for (const example of examples) texts.set(example, await render(example));
  rmSync(renderedDir, { recursive: true, force: true });
  mkdirSync(renderedDir);
  for (const example of renderedExamples) writeFileSync(join(renderedDir, `${example}.yaml`), texts.get(example) ?? "");
  writeFileSync(digestFile, `${digestInputs()}\n`);
  console.log(`${examples.length} examples rendered, ${renderedExamples.length} of them into ${renderedDir}`);
}

/** Every problem, one line each. */
async function* problems(): AsyncGenerator<string> {
  const { stdout: version } = await run(helm, ["version", "--template", "{{.Version}}"]);
  // A helm that was built from modules reports only v4.3.
  if (!`${helmVersion}.`.startsWith(`${version}.`))
    yield `this helm is ${version}, and the manifests were rendered by ${helmVersion}`;
  const files = readdirSync(renderedDir).filter((file) => file.endsWith(".yaml"));
  if (files.length !== renderedExamples.length)
    yield `rendered/ has ${files.length} files for ${renderedExamples.length} examples`;
  for (const example of examples) {
    const file = join(renderedDir, `${example}.yaml`);
    const text = await render(example);
    if (renderedExamples.includes(example) && text !== readFileSync(file, "utf8"))
      yield `${file} is not what the chart renders now`;
    const lint = await run(helm, ["lint", "--strict", chartDir, "--values", valuesFile(example)]);
    if (lint.code !== 0) yield `helm lint --strict with ${example}:\n${lint.stdout}${lint.stderr}`;
  }
  const alerts = join(import.meta.dirname, "../alerts/perch.yaml");
  const { stdout: rules } = await template("production", "--set-file", `prometheusRule.rules=${alerts}`);
  if (rules.match(/alert: Perch\w+/g)?.length !== readFileSync(alerts, "utf8").match(/alert: Perch\w+/g)?.length)
    yield "--set-file prometheusRule.rules does not give all alert rules to Prometheus";
  yield* unrefused();
}

/** Wrong values that helm takes, or refuses with other words than the table has. */
async function* unrefused(): AsyncGenerator<string> {
  for (const { title, set, says } of badValues) {
    const args = Object.entries(set).flatMap(([path, value]) => ["--set-json", `${path}=${JSON.stringify(value)}`]);
    const { code, stderr } = await template("minimal", ...args);
    if (code === 0) yield `${title}: not refused`;
    else if (!stderr.includes(says)) yield `${title}: refused without "${says}":\n${stderr}`;
  }
}

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
if (values.check) {
  let found = 0;
  for await (const problem of problems()) {
    console.log(problem);
    found += 1;
  }
  console.log(
    found === 0
      ? `${renderedExamples.length} of ${examples.length} examples are rendered as they should be, and ${badValues.length} wrong values are refused`
      : `${found} problems. If the chart is right, run: node deploy/helm/render.ts`,
  );
  process.exitCode = found === 0 ? 0 : 1;
} else await write();
