import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { defaultFile, listSources } from "../agent-file/agent-sources.ts";
import { requireWatchable, watchAgents } from "../agent-file/watch-agents.ts";
import { command, fileOption, type Session, yesOption } from "../command.ts";
import { findProviderKeys, howToAddKey, type ProviderKeys } from "../dev/provider-keys.ts";
import type { Dev } from "../dev/start-dev.ts";
import { noOpenOption, openBrowser } from "../open-browser.ts";
import { perchCommand } from "../perch-command.ts";
import { Problem, UsageError } from "../problem.ts";
import { createRemembered } from "../remembered.ts";
import { errorText } from "../report-error.ts";

/** A `.env` that cannot be read is reported, and does not prevent the start. */
function readProviderKeys({ cwd, env }: Session): ProviderKeys {
  try {
    return findProviderKeys(cwd, env);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { settings: {}, providers: [], lines: [errorText(error)] };
  }
}

/** An address of the console that signs in the first browser that opens it. */
async function createConsoleUrl({ perchAt, signal }: Session, { url, key }: Dev["state"]): Promise<string> {
  const link = await perchAt({ url, key, source: "perch dev", reason: "" }).consoleSessions.createLink({ signal });
  // On this machine, even if PERCH_PUBLIC_URL names a tunnel.
  return url + link.url.slice(new URL(link.url).origin.length);
}

function printNextSteps(
  { terminal, show }: Session,
  { state, isFirst, consoleUrl }: Dev & { readonly consoleUrl: string },
  { providers, lines }: ProviderKeys,
  hasFiles: boolean,
  seconds: string,
): void {
  const { url, key } = state;
  show({ url, key, console: consoleUrl, providers, ready_after_seconds: Number(seconds) }, () => {
    // An address ends its line, so that nothing else is copied with it.
    terminal.line(`Perch is ready after ${seconds} s at ${url}`);
    terminal.line(`Its documentation is at ${url}/docs`);
    terminal.line(`Its console is, once and for 5 minutes, at ${consoleUrl}`);
    terminal.line("Everything is in .perch/.");
    for (const line of lines) terminal.line(terminal.wrap(line));
    if (isFirst && lines.length === 0) terminal.line(terminal.wrap(howToAddKey));
    terminal.line(
      isFirst ? "Try, in another terminal in this folder:" : "Your data of last time are there. In another terminal:",
    );
    const first = hasFiles ? perchCommand("agents") : `${perchCommand("init")} && ${perchCommand("apply")}`;
    for (const line of [first, perchCommand('invoke my-agent "Hello"'), perchCommand("logs my-agent --follow")])
      terminal.line(`  ${terminal.style("cyan", line)}`);
    const draft = "The draft of an agent answers: what you save counts at once. --environment runs what is deployed.";
    terminal.line(terminal.wrap(draft));
    terminal.line("Ctrl-c stops it.");
  });
}

export const dev = command({
  name: "dev",
  summary: "Run Perch on this machine: database, engine and server, all from npm packages.",
  details:
    "Data, keys and logs are stored in .perch/ in this folder; --reset removes them. agent.yaml, or the files and folders that -f names, are applied at the start and whenever they or .env beside them change; the values of their secrets come from the environment, or else from .env.\nA key of OpenAI, Anthropic or Google in the environment or in .env of this folder (OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY) makes its models available, as long as perch dev runs. It is not stored.\nThe draft of an agent answers unless a request names an environment or a version, and everything that models and tools were asked and said is kept unless the agent's `logs` is off.\nOther commands in this folder and its subfolders use this server automatically.\nThe console opens in your browser if there is a desktop. Later, `perch console` opens it.",
  options: {
    file: fileOption,
    port: { type: "string", value: "PORT", help: "Port of the API. Default: 7400, or another if that is in use." },
    reset: { type: "boolean", help: "Remove all data in .perch/ first." },
    "no-open": noOpenOption,
    yes: yesOption,
  },
  run: async (session, _, { file: paths, port, reset, yes, "no-open": noOpen }) => {
    const { terminal, cwd, signal } = session;
    requireWatchable(cwd, paths);
    if (port !== undefined && !/^[1-9]\d{0,4}$/.test(port)) throw new UsageError("perch dev: --port is a number.");
    // Imported here because it loads the database, which no other command needs.
    const { startDev, resetDev } = await import("../dev/start-dev.ts");
    const { folderOf, requireUnlocked } = await import("../dev/state.ts");
    const { createProgress } = await import("../dev/progress.ts");
    if (reset && existsSync(join(cwd, ".perch"))) {
      requireUnlocked(folderOf(cwd));
      if (!(await terminal.confirm("Remove all agents, runs and memories of .perch/ in this folder?", yes === true)))
        return;
      await resetDev(cwd);
    }
    const keys = readProviderKeys(session);
    const startedAt = performance.now();
    const progress = createProgress((text) => terminal.note(terminal.style("dim", `… ${text}`)));
    const running = await startDev({
      cwd,
      remembered: createRemembered(session.env),
      apiPort: port === undefined ? undefined : Number(port),
      settings: keys.settings,
      onProgress: progress.show,
    }).finally(() => void progress.end());
    const applying = new AbortController();
    const watching = watchAgents(session, running.state, paths, applying.signal);
    try {
      const hasFiles = listSources(cwd, paths ?? [defaultFile]).some(({ file }) => existsSync(file));
      const consoleUrl = await createConsoleUrl(session, running.state);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      printNextSteps(session, { ...running, consoleUrl }, keys, hasFiles, seconds);
      if (noOpen !== true) openBrowser(consoleUrl, session);
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
