import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { type Installation, startInstallation } from "@perch/testkit/installation/installation.ts";
import { freePort, scratchSettings } from "@perch/testkit/installation/server-process.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Operation, operations } from "../../packages/contract/src/index.ts";
import { compareReply } from "./compare-replies.ts";
import type { StartOwnServer } from "./guide-servers.ts";
import { type GuideSetup, guideSetups, serverSettings } from "./guide-setups.ts";
import { type Block, fencesOf, type Page, readPage, type Step } from "./markdown-blocks.ts";
import { installCommands, runProgramBlocks, runShellBlocks } from "./run-blocks.ts";

const root = join(import.meta.dirname, "../..");
const guides = readdirSync(join(root, "docs/guides")).filter((name) => name.endsWith(".md"));
const pages = new Map(guides.map((name) => [name, readPage(readFileSync(join(root, "docs/guides", name), "utf8"))]));
const pageOf = (name: string): Page => pages.get(name) ?? readPage("");
const sdkReadme = "packages/sdk/README.md";
const folder = mkdtempSync(join(tmpdir(), "perch-guides-"));

let perch: Installation;
let keys: ReadonlyMap<string, string>;
beforeAll(async () => {
  // Server and command line start many times.
  process.env.NODE_COMPILE_CACHE ??= join(folder, "compiled");
  installCommands(join(folder, "bin"));
  perch = await startInstallation({ settings: (url) => ({ PERCH_PUBLIC_URL: url, ...serverSettings }) });
  keys = await createOrganisations([
    "README.md",
    sdkReadme,
    ...guides.filter((name) => !guideSetups[name]?.startOwnServer),
  ]);
}, 120_000);
afterAll(async () => {
  await perch?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** An organisation for each page, named after it, and its first admin key. */
async function createOrganisations(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const script = join(root, "packages/testkit/src/installation/create-organisations.ts");
  const organisations = names.flatMap((name) => [name.replace(".md", ""), guideSetups[name]?.tier ?? "pro"]);
  const env = { ...process.env, ...scratchSettings(perch.database, 0) };
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...organisations], { env });
  const created = stdout.trim().split("\n");
  expect(created).toHaveLength(names.length);
  return new Map(names.map((name, index) => [name, created[index] ?? ""]));
}

/** A reader's shell has none of our settings or npm's, except those with which `pnpm services up` finds its programs. */
const readersEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(PERCH|npm)_/.test(name) || name.startsWith("PERCH_SERVICES_")),
  ),
  PATH: [join(folder, "bin"), join(process.execPath, ".."), process.env.PATH].join(delimiter),
  XDG_CONFIG_HOME: join(folder, "config"),
  TZ: "UTC",
  NO_COLOR: "1",
});

/** Shows all differences of a page at once. */
function expectReplies(name: string, steps: readonly Step[], outputs: readonly string[]): void {
  for (const [index, { line, text, reply }] of steps.entries())
    for (const { part, expected, actual } of reply ? compareReply(reply, outputs[index] ?? "") : [])
      expect.soft(actual, `${name}, line ${line}, ${part}:\n${text}`).toEqual(expected);
}

const isCommand = ({ language }: Step): boolean => language === "sh";
const isProgram = ({ language }: Step): boolean => language === "ts" || language === "js";

async function runWithSharedServer(name: string, { steps }: Page, setup: GuideSetup): Promise<void> {
  const started = await setup.start?.();
  const env = {
    ...readersEnvironment(),
    PERCH_URL: perch.url,
    PERCH_API_KEY: keys.get(name),
    PORT: String(await freePort()),
    ...started?.env,
  };
  const cwd = setup.inEmptyFolder ? mkdtempSync(join(folder, "empty-")) : root;
  const commands = steps.filter(isCommand);
  try {
    expectReplies(name, commands, await runShellBlocks(commands, { cwd, env }));
    const program = steps.filter(isProgram);
    const programFolder = mkdtempSync(join(folder, "program-"));
    expectReplies(name, program, await runProgramBlocks(program, programFolder, { cwd, env }));
  } finally {
    await started?.stop();
  }
}

/** The page expects the usual port, which may be taken here. */
async function runWithOwnServer(name: string, { steps }: Page, start: StartOwnServer): Promise<void> {
  const [first, ...others] = steps.filter(isCommand);
  if (!first || steps.some(isProgram))
    throw new Error(`${name} has nothing but commands, and the first starts a server`);
  const { url, output, stop, ...surroundings } = await start(first.text, readersEnvironment(), folder);
  try {
    expectReplies(name, [first], [output]);
    const moved = others.map((step) => ({ ...step, text: step.text.replaceAll("http://127.0.0.1:7400", url) }));
    expectReplies(name, moved, await runShellBlocks(moved, surroundings));
  } finally {
    await stop();
  }
}

function expectValidBodies({ bodies }: Page): void {
  const table: Readonly<Record<string, Operation>> = operations;
  for (const { line, operation, text } of bodies) {
    const body = table[operation]?.body;
    expect(body, `line ${line}: there is no operation ${operation} with a body`).toBeDefined();
    expect(body?.safeParse(JSON.parse(text)).error?.issues, `line ${line}`).toBeUndefined();
  }
}

describe.each(guides)("docs/guides/%s", (name) => {
  const page = pageOf(name);
  const setup = guideSetups[name] ?? {};

  test("has no block that is neither executed, nor compared, nor marked with a reason", () => {
    expect.soft(page.mistakes).toEqual([]);
    if (page.pageNotExecuted === undefined) expect(page.steps.length).toBeGreaterThan(0);
    expectValidBodies(page);
    const { language, test: file } = setup.executedBy ?? {};
    const hasRunner = (step: Step) => isCommand(step) || isProgram(step) || step.language === language;
    expect(page.steps.filter((step) => !hasRunner(step)).map(({ line }) => `line ${line}`)).toEqual([]);
    if (file) expect(readFileSync(join(root, file), "utf8")).toContain(`docs/guides/${name}`);
  });

  test("works as printed, and prints the output of the page", { timeout: 180_000 }, () =>
    setup.startOwnServer ? runWithOwnServer(name, page, setup.startOwnServer) : runWithSharedServer(name, page, setup),
  );
});

describe("README.md", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const fences = [...fencesOf(readme)].filter(({ language }) => language !== "mermaid");
  const program = readPage(readme).steps.filter(isProgram);

  test("tries Perch with commands of the quick start, which are executed there", () => {
    const quickStart = readFileSync(join(root, "docs/guides/quick-start.md"), "utf8");
    const linesOf = ({ text }: Block) => text.split(/\n|&&/).map((line) => line.trim());
    const known = new Set([...fencesOf(quickStart)].filter(({ language }) => language === "sh").flatMap(linesOf));
    const [commands, ...others] = fences;
    expect(commands?.text).toContain("npx perch dev");
    expect(commands && linesOf(commands).filter((line) => line !== "" && !known.has(line))).toEqual([]);
    const executed = program.flatMap(({ line, reply }) => [line, ...(reply ? [reply.line] : [])]);
    expect(others.map(({ line }) => line)).toEqual(executed);
  });

  test("has a program that compiles, and prints the output of the page", () => {
    expect(program.length).toBeGreaterThan(0);
    expect(program.filter(({ reply }) => !reply)).toEqual([]);
    return runWithSharedServer("README.md", { ...readPage(""), steps: program }, {});
  });
});

describe(sdkReadme, () => {
  const { mistakes, steps } = readPage(readFileSync(join(root, sdkReadme), "utf8"));

  test("has a program that compiles, and prints the output of the page", () => {
    expect(mistakes).toEqual([]);
    expect(steps.filter((step) => !isProgram(step) || !step.reply)).toEqual([]);
    expect(steps.length).toBeGreaterThan(5);
    return runWithSharedServer(sdkReadme, { ...readPage(""), steps }, {});
  });
});

test("the guides were found, and the blocks that are not executed are listed", () => {
  const all = [...pages.values()];
  const steps = all.flatMap(({ steps }) => steps);
  const replies = steps.filter(({ reply }) => reply);
  const elsewhere = steps.filter((step) => !isCommand(step) && !isProgram(step));
  expect(guides.length).toBeGreaterThan(12);
  expect(steps.length - elsewhere.length).toBeGreaterThan(100);
  expect(replies.length).toBeGreaterThan(60);
  expect(Object.keys(guideSetups).filter((name) => !pages.has(name))).toEqual([]);
  const left = [...pages].flatMap(([name, { notExecuted }]) =>
    notExecuted.map(({ line, reason }) => `${name}:${line}: ${reason}`),
  );
  const executed = `${steps.length - elsewhere.length} blocks executed here, ${elsewhere.length} by another test`;
  console.log(
    `${guides.length} guides: ${executed}, ${replies.length} replies compared, ${left.length} blocks not executed:`,
  );
  for (const line of left) console.log(line);
});
