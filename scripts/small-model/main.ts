/**
 * Runs a real chat model on this machine for end-to-end runs with real tokens and delays: TinyLlama 1.1B behind an OpenAI-compatible
 * address. It is slow and often wrong. No test depends on it.
 */
import { mkdirSync } from "node:fs";
import { interruption, Problem, stopOnSignals, waitUntil } from "@perch/testkit/services/commands.ts";
import { assertPortBase } from "@perch/testkit/services/layout.ts";
import { withLock } from "@perch/testkit/services/processes.ts";
import { modelDir, modelName } from "./layout.ts";
import { ensureFolder, isFolderInstalled } from "./llama-folder.ts";
import { findModel, isHealthy, type RunningModel, startModel, stopModel } from "./llama-server.ts";
import { ensureWeights, hasWeights } from "./weights.ts";

const usage = `usage: node scripts/small-model/main.ts up|down|status
  up      get TinyLlama and llama-server (first time: root on Debian, network, 320 MB, a minute or two), start it on loopback
  down    stop what up started
  status  one line; exit code 1 unless it runs
Its files are in .services/small-model (435 MB); to remove it, run down and delete that folder.`;

async function up(): Promise<void> {
  if (findModel() === undefined) {
    mkdirSync(modelDir, { recursive: true });
    // Downloads run outside of the lock, because `pnpm services` waits for it too.
    await ensureWeights();
    await ensureFolder();
  }
  await withLock(async () => {
    if (findModel() === undefined) await startModel();
  });
  const model = findModel();
  if (model === undefined || !(await waitUntil(() => isHealthy(model), 30))) {
    throw new Problem("llama-server runs but does not answer: try down, then up");
  }
  console.log(nextSteps(model));
}

function nextSteps({ baseUrl }: RunningModel): string {
  const providers = JSON.stringify({ small: { type: "openai-compatible", base_url: baseUrl } });
  const body = JSON.stringify({ model: modelName, stream: true, messages: [{ role: "user", content: "Hello!" }] });
  return `small-model  ${baseUrl}

next, the model alone:
  curl -N ${baseUrl}/chat/completions -H 'content-type: application/json' -d '${body}'
or through Perch, as the model small/${modelName}:
  PERCH_PROVIDERS='${providers}' pnpm start
  PERCH_API_KEY=... node scripts/small-model/converse.ts`;
}

async function down(): Promise<void> {
  const stopped = await withLock(stopModel);
  console.log(`small-model  ${stopped ? "stopped" : "was not running"}`);
}

async function status(): Promise<void> {
  const model = findModel();
  const runs = model !== undefined && (await isHealthy(model));
  if (runs) return console.log(`small-model  running  ${model.baseUrl}  pid ${model.pid}`);
  const installed = isFolderInstalled() && hasWeights();
  const state = model ? `not answering  pid ${model.pid}` : `stopped  ${installed ? "installed" : "not installed"}`;
  console.log(`small-model  ${state}`);
  process.exitCode = 1;
}

const commands: Readonly<Record<string, () => Promise<void>>> = { up, down, status };

const [name = "", ...rest] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) && rest.length === 0 ? commands[name] : undefined;
if (command === undefined) {
  console.error(usage);
  process.exitCode = 2;
} else {
  stopOnSignals();
  try {
    assertPortBase();
    await command();
  } catch (error) {
    if (interruption.signal.aborted) console.error("interrupted");
    else console.error(error instanceof Problem ? error.message : error);
    process.exitCode = interruption.signal.aborted ? 130 : 1;
  }
}
