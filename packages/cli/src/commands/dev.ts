import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Perch } from "@perch/sdk";
import { applyFile } from "../agent-file/apply-file.ts";
import { liveTextOfDev } from "../agent-file/live-versions.ts";
import { doneLine, isPending, printWarnings, secretLines } from "../agent-file/plan-text.ts";
import { command, type Session, yesOption } from "../command.ts";
import type { Dev } from "../dev/start-dev.ts";
import { perchCommand } from "../perch-command.ts";
import { Problem, UsageError } from "../problem.ts";
import { errorText } from "../report-error.ts";

const agentFile = "agent.yaml";
/** The agents, and the values of their secrets. */
const watched = [agentFile, ".env"];

/** Applies the file now and whenever it or `.env` changes, until the signal. An invalid file is reported, and applied once it is fixed. */
async function watchAgentFile({ terminal, cwd, env }: Session, dev: Dev, signal: AbortSignal): Promise<void> {
  const perch = new Perch({ baseUrl: dev.state.url, apiKey: dev.state.key });
  const file = join(cwd, agentFile);
  const apply = async (): Promise<void> => {
    try {
      if (!existsSync(file)) return;
      for (const plan of await applyFile(perch, file, env)) {
        printWarnings(terminal, plan.warnings);
        if (isPending(plan)) {
          const applied = `${doneLine(plan)}; ${liveTextOfDev(await plan.listLive())}`;
          terminal.note(`${agentFile}: ${[applied, ...secretLines(plan)].join("\n  ")}`);
        }
        printWarnings(terminal, (await plan.check()).warnings);
      }
    } catch (error) {
      if (!signal.aborted) terminal.note(errorText(error));
    }
  };
  // Watches the folder, not the file: editors replace files, and it may not exist yet.
  const watcher = watch(cwd, { signal });
  watcher.on("error", () => {});
  let changes = 1;
  let done = 0;
  let wake = () => {};
  watcher.on("change", (_, name) => {
    if (!watched.includes(String(name))) return;
    changes++;
    wake();
  });
  signal.addEventListener("abort", () => wake());
  while (!signal.aborted) {
    if (done === changes) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      // One save causes several events: wait until the file is complete.
      await sleep(100);
      continue;
    }
    done = changes;
    await apply();
  }
}

function printNextSteps({ terminal, show, cwd }: Session, { state, isFirst }: Dev, seconds: string): void {
  const { url, key } = state;
  show({ url, key, ready_after_seconds: Number(seconds) }, () => {
    terminal.line(`Perch is ready after ${seconds} s at ${url} (docs at ${url}/docs). Everything is in .perch/.`);
    terminal.line(
      isFirst ? "Try, in another terminal in this folder:" : "Your data of last time are there. In another terminal:",
    );
    const first = existsSync(join(cwd, agentFile))
      ? perchCommand("agents")
      : `${perchCommand("init")} && ${perchCommand("apply")}`;
    for (const line of [first, perchCommand('invoke my-agent "Hello"'), perchCommand("logs my-agent --follow")])
      terminal.line(`  ${terminal.style("cyan", line)}`);
    terminal.line("The draft of an agent answers: what you save counts at once. --environment runs what is deployed.");
    terminal.line("Ctrl-c stops it.");
  });
}

export const dev = command({
  name: "dev",
  summary: "Run Perch on this machine: database, engine and server, all from npm packages.",
  details:
    "Data, keys and logs are stored in .perch/ in this folder; --reset removes them. agent.yaml is applied at the start and whenever it or .env changes; the values of its secrets come from the environment, or else from .env.\nThe draft of an agent answers unless a request names an environment or a version, and everything that models and tools were asked and said is kept unless the agent's `logs` is off.\nOther commands in this folder and its subfolders use this server automatically.",
  options: {
    port: { type: "string", value: "PORT", help: "Port of the API. Default: 7400, or another if that is in use." },
    reset: { type: "boolean", help: "Remove all data in .perch/ first." },
    yes: yesOption,
  },
  run: async (session, _, { port, reset, yes }) => {
    const { terminal, cwd, signal } = session;
    if (port !== undefined && !/^[1-9]\d{0,4}$/.test(port)) throw new UsageError("perch dev: --port is a number.");
    // Imported here because it loads the database, which no other command needs.
    const { startDev, resetDev } = await import("../dev/start-dev.ts");
    const { lockFolder, openFolder } = await import("../dev/state.ts");
    const { createProgress } = await import("../dev/progress.ts");
    if (reset && existsSync(join(cwd, ".perch"))) {
      lockFolder(openFolder(cwd))();
      if (!(await terminal.confirm("Remove all agents, runs and memories of .perch/ in this folder?", yes === true)))
        return;
      resetDev(cwd);
    }
    const startedAt = performance.now();
    const progress = createProgress((text) => terminal.note(terminal.style("dim", `… ${text}`)));
    const running = await startDev({
      cwd,
      apiPort: port === undefined ? undefined : Number(port),
      onProgress: progress.show,
    }).finally(() => void progress.end());
    const applying = new AbortController();
    const watching = watchAgentFile(session, running, applying.signal);
    try {
      printNextSteps(session, running, ((performance.now() - startedAt) / 1000).toFixed(1));
      const stopped = signal.aborted ? Promise.resolve(undefined) : once(signal, "abort").then(() => undefined);
      const broken = await Promise.race([stopped, running.broken]);
      if (broken) throw new Problem(`${broken.name} stopped by itself.`, broken.lastLines());
      terminal.note("stopping");
    } finally {
      applying.abort();
      await watching;
      await running.stop();
    }
    terminal.note("stopped");
  },
});
