import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as layout from "./image-layout.ts";

const root = join(import.meta.dirname, "../..");
const dockerfile = readFileSync(join(import.meta.dirname, "Dockerfile"), "utf8");
const script = readFileSync(join(root, ".ci/run"), "utf8");

/** The instructions of the last stage, which is the image: each instruction with its arguments in order. */
function lastStage(): Map<string, string[]> {
  const stages = dockerfile.split(/^FROM /m);
  const instructions = new Map<string, string[]>();
  for (const [, name = "", rest = ""] of (stages.at(-1) ?? "").matchAll(/^([A-Z]+) (.*)$/gm)) {
    instructions.set(name, [...(instructions.get(name) ?? []), rest]);
  }
  return instructions;
}

const assignments = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([name, value]) => `${name}="${value}"`);

test("the Dockerfile makes the image that build.ts makes: command, user, variables, ports and labels", () => {
  // The base image has a search path of its own, with Node in it.
  const { PATH: _, ...environment } = layout.environment;
  const labels = layout.labels({ version: "${" + "VERSION}", revision: "${" + "REVISION}" });
  expect(Object.fromEntries(lastStage())).toEqual({
    ARG: ["VERSION=unknown", "REVISION=unknown"],
    LABEL: assignments(labels),
    COPY: ["--from=build /image/ /"],
    ENV: assignments(environment),
    WORKDIR: ["/"],
    USER: [`${layout.user.id}:${layout.user.id}`],
    EXPOSE: layout.ports,
    STOPSIGNAL: [layout.stopSignal],
    ENTRYPOINT: [JSON.stringify(layout.entrypoint)],
    CMD: [JSON.stringify(layout.command)],
  });
});

test("the Dockerfile, build.ts and CI use the same versions of Node, pnpm and Debian", () => {
  expect(dockerfile).toContain(`ARG NODE_IMAGE=node:${layout.nodeVersion}-${layout.debianSuite}-slim\n`);
  expect(script).toContain(`node_version=${layout.nodeVersion}\n`);
  const [, pnpm = "none"] = /^pnpm_version=(\S+)$/m.exec(script) ?? [];
  expect(dockerfile).toContain(`ARG PNPM_VERSION=${pnpm}\n`);
});

test("the Dockerfile installs pnpm only if it has the digest in the repository, on both architectures", () => {
  const digests = readFileSync(join(import.meta.dirname, "pnpm.sha512"), "utf8")
    .trim()
    .split("\n");
  const [, pnpm = "none"] = /^pnpm_version=(\S+)$/m.exec(script) ?? [];
  expect(digests.map((line) => line.replace(/^[0-9a-f]{128} {2}/, ""))).toEqual(
    ["arm64", "x64"].map((architecture) => `pnpm-exe.linux-${architecture}-${pnpm}.tgz`),
  );
  const [build = ""] = dockerfile.split(/^FROM .*\n/m).slice(1);
  expect(build).not.toMatch(/(?<!p)npm (install|exec)|npx|corepack|curl|wget/);
  expect(build.indexOf("sha512sum --check --strict")).toBeGreaterThan(build.indexOf("npm pack"));
  expect(build.indexOf("tar -xzf")).toBeGreaterThan(build.indexOf("sha512sum --check --strict"));
});
