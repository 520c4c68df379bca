import { parseArgs } from "node:util";
import { invoke } from "./invoke.ts";
import { listAgents } from "./list-agents.ts";
import { memory } from "./memory.ts";
import { overhead } from "./overhead.ts";
import { streams } from "./streams.ts";
import { telemetry } from "./telemetry.ts";
import { versions } from "./versions.ts";
import { webhooks } from "./webhooks.ts";

/** Each benchmark returns ratios measured side by side in one run: machines are noisy, ratios less so. */
const benchmarks: Record<string, () => Promise<Record<string, number>>> = {
  "list-agents": listAgents,
  overhead,
  invoke,
  streams,
  versions,
  telemetry,
  memory,
  webhooks,
};

const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false } },
  allowPositionals: true,
});
const [name = ""] = positionals;
const benchmark = benchmarks[name];
if (!benchmark) {
  console.error(`Usage: pnpm bench <name> [--json]\n\n  ${Object.keys(benchmarks).join("\n  ")}`);
  process.exit(2);
}
const result = await benchmark();
if (values.json) console.log(JSON.stringify(result));
else console.table(result);
