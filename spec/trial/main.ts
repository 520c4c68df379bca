import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadFactor } from "../builders-way/limits.ts";
import { listSlow } from "./limits.ts";
import { sizeTable, trialTable } from "./table.ts";
import { blockedBy, runTask, selectTasks, type Task, type TaskReport } from "./task.ts";
import { dev } from "./tasks/dev.ts";
import { docsPage } from "./tasks/docs-page.ts";
import { firstAgent } from "./tasks/first-agent.ts";
import { fleet } from "./tasks/fleet.ts";
import { httpTool } from "./tasks/http-tool.ts";
import { install } from "./tasks/install.ts";
import { kill } from "./tasks/kill.ts";
import { mcpTool } from "./tasks/mcp-tool.ts";
import { pythonChatbot } from "./tasks/python-chatbot.ts";
import { templates } from "./tasks/templates.ts";
import { typescriptChatbot } from "./tasks/typescript-chatbot.ts";
import { upgrade } from "./tasks/upgrade.ts";
import { Trial } from "./trial.ts";

/**
 * `node spec/trial/main.ts [TASK…] [--json]`: what new users do, with the packed packages, in empty folders outside of the checkout.
 * Prints a table of how it went; the commands are printed on standard error as they end. Needs `pnpm services up`.
 */

const tasks: readonly Task[] = [
  ...[install, dev, firstAgent, templates, typescriptChatbot, pythonChatbot],
  ...[docsPage, mcpTool, httpTool, fleet, kill, upgrade],
];

const note = (text: string) => console.error(text);

async function runTasks(chosen: readonly Task[], trial: Trial): Promise<TaskReport[]> {
  const reports: TaskReport[] = [];
  for (const task of chosen) {
    if (trial.signal.aborted) break;
    const { number, title } = task;
    note(`${number} ${title}`);
    const blocker = blockedBy(task, reports);
    const report: TaskReport =
      blocker === undefined
        ? await runTask(task, trial)
        : { number, title, outcome: "skipped", note: `task ${blocker} did not work`, seconds: 0, commands: [] };
    note(`  ${report.outcome}${report.note && `: ${report.note}`}`);
    reports.push(report);
  }
  return reports;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: "boolean" } } });
const chosen = selectTasks(tasks, positionals.map(Number));
const interrupted = new AbortController();
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
// The task under way fails then, and everything ends as after any other failure.
for (const signal of signals) process.on(signal, () => interrupted.abort(new Error(`Ended by ${signal}`)));
const root = mkdtempSync(join(tmpdir(), "perch-trial-"));
const trial = new Trial(root, interrupted.signal, note);
trial.onEnd(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
const before = loadFactor();
const reports = await runTasks(chosen, trial);
const leftovers = await trial.end();
for (const each of leftovers) console.error("could not be removed:", each);

const factor = Math.max(before, loadFactor());
const installed = trial.made.installed ?? [];
const slow = listSlow(reports, factor);
if (values.json) console.log(JSON.stringify({ tasks: reports, installed, slow, load: factor }, null, 2));
else {
  console.log(`${trialTable(reports)}\n\n${sizeTable(installed)}\n`);
  console.log(`${factor.toFixed(1)} processes waited for each core, so limits count as many times.`);
  for (const each of slow) console.log(each);
}
const hasWorked = !interrupted.signal.aborted && reports.every(({ outcome }) => outcome === "worked");
process.exit(hasWorked && leftovers.length === 0 ? 0 : 1);
