import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";

const folder = join(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "perch-sdk-"));
const installed = join(scratch, "node_modules/@perch/sdk");
let tarball: string;

beforeAll(() => {
  execFileSync("pnpm", ["run", "build"], { cwd: folder });
  execFileSync("pnpm", ["pack", "--pack-destination", scratch], { cwd: folder });
  tarball = join(scratch, globSync("*.tgz", { cwd: scratch })[0] ?? "");
  execFileSync("mkdir", ["-p", installed]);
  execFileSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/**
 * 5 kB of the client are errors that name the next step, the log of attempts, and the waits for runs, decisions and
 * deployments.
 */
const sizes = [
  ["the client, which most programs import", "{ Perch }", { minified: 35_400, gzipped: 10_750 }],
  ["all of it, with the checks of webhooks and calls", "*", { minified: 46_900, gzipped: 15_100 }],
] as const;

test("the packed package depends on nothing, and contains only the files that it needs", () => {
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  for (const field of ["dependencies", "peerDependencies", "optionalDependencies"])
    expect(manifest[field] ?? {}).toEqual({});
  expect(manifest).toMatchObject({ type: "module", sideEffects: false });
  expect(manifest.exports).toEqual({ ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } });
  const files = globSync("**/*.*", { cwd: installed });
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !/^dist\/.*\.(js|d\.ts)$|^package\.json$|^README\.md$|^LICENSE$/.test(file))).toEqual(
    [],
  );
  expect(files).toContain("README.md");
});

test("neither its code nor its types know anything but themselves", () => {
  const files = globSync("dist/**/*.{js,ts}", { cwd: installed });
  const specifiers = files.flatMap((file) =>
    [...readFileSync(join(installed, file), "utf8").matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)].map(
      ([, name = ""]) => name,
    ),
  );
  expect(specifiers.length).toBeGreaterThan(20);
  expect(specifiers.filter((name) => !/^\.{1,2}\/.*\.js$/.test(name))).toEqual([]);
});

test.each(sizes)("bundled, %s is small", async (title, imported, max) => {
  const entry = join(scratch, "whole.js");
  writeFileSync(entry, `export ${imported} from ${JSON.stringify(join(installed, "dist/index.js"))};`);
  const bundle = await rolldown({ input: entry, platform: "browser", logLevel: "silent" });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  const [{ code }] = output;
  const bytes = { minified: Buffer.byteLength(code), gzipped: gzipSync(code).length };
  console.log(`@perch/sdk, ${title}: ${bytes.minified} bytes minified, ${bytes.gzipped} gzipped`);
  expect(output).toHaveLength(1);
  expect(bytes.minified).toBeLessThan(max.minified);
  expect(bytes.gzipped).toBeLessThan(max.gzipped);
});

test("a program that uses a part of it bundles only that part", async () => {
  const entry = join(scratch, "verify-only.js");
  writeFileSync(entry, `export { verifyWebhook } from ${JSON.stringify(join(installed, "dist/index.js"))};`);
  const bundle = await rolldown({ input: entry, platform: "browser", logLevel: "silent" });
  const [{ code }] = (await bundle.generate({ format: "esm", minify: true })).output;
  expect(code).toContain("webhook-signature");
  expect(Buffer.byteLength(code)).toBeLessThan(4000);
});

test("publint reports nothing", async () => {
  const { messages, pkg } = await publint({ pkgDir: installed, strict: true, pack: false });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test("the types are right for a program that imports it as a module", async () => {
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  if (!result.types) throw new Error("it has no types");
  // The package supports only import, and `exports` is how it is found. It does not support require in old Node, nor
  // the module resolution of before 2021.
  const wanted = result.problems.filter(
    (problem) => !("resolutionKind" in problem) || !["node10", "node16-cjs"].includes(problem.resolutionKind),
  );
  expect(wanted).toEqual([]);
});

test("a program in TypeScript compiles with only its types, checked in full", () => {
  const program = `
    import { Perch, PerchError, type Agent } from "@perch/sdk";
    const perch = new Perch({ baseUrl: "http://127.0.0.1", apiKey: "k" });
    const agent: Agent = await perch.agents.get("bot");
    for await (const { name } of perch.agents.list({ limit: 5 })) name.toUpperCase();
    const { data, pagination } = await perch.logs.list(agent.id);
    const cursor: string | null = pagination.next_cursor;
    const stream = perch.agents.invokeStream("bot", { message: "hi", context: { user_id: undefined } });
    for await (const event of stream) if (event.type === "token") event.snapshot.trim();
    // @ts-expect-error: message is required
    await perch.agents.invoke("bot", {});

    await perch.agents.create({ name: "bot", model: "perch/echo" });
    await perch.agents.create({ name: "remote", runtime: { type: "http", url: "https://agent.example.com" } });
    // @ts-expect-error: an agent needs a model
    await perch.agents.create({ name: "bot" });
    // @ts-expect-error: an agent that is not remote needs a model
    await perch.agents.create({ name: "bot", runtime: { type: "model" } });
    // @ts-expect-error: by its route too
    await perch.request("POST /v1/agents", { body: { name: "bot" } });

    const { signal } = new AbortController();
    await perch.agents.list({ limit: 5 }, { signal });
    await perch.request("GET /v1/me", {}, { signal });
    // @ts-expect-error: options are not a query
    await perch.agents.list({ signal });
    const mixed = { limit: 5, signal };
    // @ts-expect-error: nor a part of one
    await perch.agents.list(mixed);
    // @ts-expect-error: nor where there is no query at all
    await perch.request("GET /v1/me", { signal });
    // @ts-expect-error: a query is not options
    await perch.agents.get("bot", { limit: 5 });
    // @ts-expect-error: options are not a body
    await perch.agents.update("bot", { ifMatch: "tag" });
    export { cursor, data, PerchError };
  `;
  writeFileSync(join(scratch, "program.ts"), program);
  writeFileSync(join(scratch, "package.json"), '{"type": "module"}');
  const tsc = join(folder, "../../node_modules/.bin/tsc");
  const options = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--lib",
    "es2023,dom",
    "--types",
    "",
    "--skipLibCheck",
    "false",
  ];
  for (const resolution of [
    ["--module", "nodenext"],
    ["--module", "esnext", "--moduleResolution", "bundler"],
  ])
    execFileSync(tsc, ["--ignoreConfig", ...options, ...resolution, "program.ts"], { cwd: scratch, stdio: "inherit" });
});
