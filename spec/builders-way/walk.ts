import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type MeasuredCommand, type RunningCommand, runMeasured, startMeasured } from "./measured-command.ts";

export interface Walk {
  readonly steps: readonly MeasuredCommand[];
  readonly seconds: number;
  /** What `perch dev` has said by the end. */
  readonly devOutput: string;
  readonly answer: string;
}

const main = join(import.meta.dirname, "../../packages/cli/src/main.ts");
const token = "docs-token-of-the-builder";
/** The one that the model server of the tests accepts. */
const modelKey = "sk-test-K3yQ7vXz91LmNpRtWb42";

const urlIn = ({ measured }: RunningCommand): string => / at (\S+)/.exec(measured.output)?.[1] ?? "";

/** What the builder does in an editor: takes the tool out of its comments, with the address of this server. */
export function switchToolOn(folder: string, url: string, token: string): void {
  const file = join(folder, "agent.yaml");
  const lines = readFileSync(file, "utf8").split("\n");
  const from = lines.indexOf("# tools:");
  const to = lines.indexOf("", from);
  if (from < 0 || to < 0) throw new Error("The template has no tools in its comments any more.");
  const uncommented = lines.slice(from, to).map((line) => line.replace(/^# ?/, ""));
  const text = [...lines.slice(0, from), ...uncommented, ...lines.slice(to)].join("\n");
  writeFileSync(join(folder, ".env"), `DOCS_TOKEN=${token}\n`);
  writeFileSync(file, text.replaceAll("http://127.0.0.1:3001", new URL(url).origin));
}

/** From an empty folder to an answer of an agent with a model of its own and a tool that demands a key. */
export async function walkBuildersWay(onStep: (step: MeasuredCommand) => void = () => {}): Promise<Walk> {
  const cwd = mkdtempSync(join(tmpdir(), "builders-way-"));
  const folder = join(cwd, "support");
  const own = Object.entries(process.env).filter(([name]) => !/^(PERCH|VITEST|NODE)_?/.test(name));
  const env = { ...Object.fromEntries(own), XDG_CONFIG_HOME: cwd, LLM_API_KEY: modelKey };
  const steps: MeasuredCommand[] = [];
  const running: RunningCommand[] = [];
  const startedAt = performance.now();
  const add = (step: MeasuredCommand): MeasuredCommand => {
    steps.push(step);
    onStep(step);
    return step;
  };
  const perch = async (command: string, args: readonly string[], at = folder) =>
    add(await runMeasured({ command, args: [main, ...args], cwd: at, env }));
  const start = async (command: string, args: readonly string[], ready: string, at: string, extra = {}) => {
    const started = await startMeasured({ command, args, cwd: at, env: { ...env, ...extra } }, ready);
    running.push(started);
    add(started.measured);
    return started;
  };
  const serve = (name: string, extra = {}) =>
    start(`node ${name}.ts`, [join(import.meta.dirname, `${name}.ts`)], " at ", cwd, extra);
  try {
    const modelUrl = urlIn(await serve("model-server"));
    const mcpUrl = urlIn(await serve("mcp-server", { DOCS_TOKEN: token }));
    await perch("perch init support --template openai", ["init", "support", "--template", "openai"], cwd);
    const dev = await start("perch dev", [main, "dev"], "Ctrl-c stops it.", folder);
    // It applies the file by itself, and says what the agent lacks.
    for (let waited = 0; !dev.output().includes("warning:") && waited < 600; waited++) await sleep(100);
    await perch("perch providers add local --base-url …", [
      ...["providers", "add", "local", "--base-url", modelUrl, "--api-key-env", "LLM_API_KEY"],
    ]);
    switchToolOn(folder, mcpUrl, token);
    await perch("perch apply --yes", ["apply", "--yes"]);
    const asked = await perch('perch invoke support "Where is order 42?"', ["invoke", "support", "Where is order 42?"]);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { steps, seconds, devOutput: dev.output(), answer: asked.output };
  } finally {
    for (const { stop } of running.reverse()) await stop();
    rmSync(cwd, { recursive: true, force: true, maxRetries: 5 });
  }
}
