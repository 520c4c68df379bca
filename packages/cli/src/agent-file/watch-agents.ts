import { existsSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Perch } from "@perch/sdk";
import type { Session } from "../command.ts";
import { Problem } from "../problem.ts";
import { errorText } from "../report-error.ts";
import { defaultFile, isAgentFileName, isFolder, listSources } from "./agent-sources.ts";
import { createAgreeToSend } from "./agree-to-send.ts";
import { applyPlans, planAgents } from "./apply-file.ts";
import type { AgreeToSend } from "./declared-secrets.ts";
import { liveTextOfDev } from "./live-versions.ts";
import { doneLine, isPending, printWarnings, secretLines } from "./plan-text.ts";
import { joinProblems, readAgentFiles } from "./read-agent-file.ts";

/** Undefined: agent.yaml, which need not exist yet. */
type Paths = readonly string[] | undefined;

/** Folders to watch, with the names in them that matter. Not the files: editors replace files, and some may not exist yet. */
function watchedNames(cwd: string, paths: Paths): Map<string, (name: string) => boolean> {
  const names = new Map<string, (name: string) => boolean>();
  for (const path of (paths ?? [defaultFile]).map((given) => resolve(cwd, given))) {
    const isWhole = isFolder(path);
    const folder = isWhole ? path : dirname(path);
    const before = names.get(folder);
    const matters = (name: string) => (isWhole ? isAgentFileName(name) : name === basename(path));
    names.set(folder, (name) => name === ".env" || matters(name) || before?.(name) === true);
  }
  return names;
}

/** Before anything is started. */
export function requireWatchable(cwd: string, paths: Paths): void {
  const missing = paths?.find((path) => !existsSync(dirname(resolve(cwd, path))));
  if (missing !== undefined) throw new Problem(`There is no folder ${dirname(missing)}.`, "Make it, or correct -f.");
}

async function applyAll(
  { terminal, cwd, env }: Session,
  perch: Perch,
  paths: Paths,
  agreeToSend: AgreeToSend,
): Promise<void> {
  const sources = paths
    ? listSources(cwd, paths)
    : listSources(cwd, [defaultFile]).filter(({ file }) => existsSync(file));
  const { documents, problems } = readAgentFiles(sources);
  if (problems.length > 0) terminal.note(errorText(joinProblems(problems)));
  for (const { plan, error } of await applyPlans(await planAgents(perch, documents, env, agreeToSend))) {
    printWarnings(terminal, plan.warnings);
    if (error) {
      terminal.note(errorText(error));
      continue;
    }
    if (isPending(plan)) {
      const applied = `${doneLine(plan)}; ${liveTextOfDev(await plan.listLive())}`;
      terminal.note(`${plan.file}: ${[applied, ...secretLines(plan)].join("\n  ")}`);
    }
    // Nobody asked for a check, so it sends no secret: `perch deploy` and the first run do.
    if (!plan.sendsSecrets) printWarnings(terminal, (await plan.check()).warnings);
  }
}

/** Applies the files now and whenever they or `.env` change, until the signal. An invalid file is reported, and applied once it is fixed. */
export async function watchAgents(
  session: Session,
  { url, key }: { readonly url: string; readonly key: string },
  paths: Paths,
  signal: AbortSignal,
): Promise<void> {
  const perch = new Perch({ baseUrl: url, apiKey: key });
  const agreeToSend = createAgreeToSend(session);
  let changes = 1;
  let done = 0;
  let wake = () => {};
  for (const [folder, matters] of watchedNames(session.cwd, paths)) {
    const watcher = watch(folder, { signal });
    watcher.on("error", () => {});
    watcher.on("change", (_, name) => {
      if (!matters(String(name))) return;
      changes++;
      wake();
    });
  }
  signal.addEventListener("abort", () => wake());
  while (!signal.aborted) {
    if (done === changes) {
      await new Promise<void>((resolveWait) => {
        wake = resolveWait;
      });
      // One save causes several events, so this waits until the file is complete.
      await sleep(100);
      continue;
    }
    done = changes;
    try {
      await applyAll(session, perch, paths, agreeToSend);
    } catch (error) {
      if (!signal.aborted) session.terminal.note(errorText(error));
    }
  }
}
