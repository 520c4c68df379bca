import { Perch } from "@perch/sdk";
import type { Session } from "./command.ts";
import { commandGroups, commands } from "./commands.ts";
import { type Connection, findConnection } from "./connection.ts";
import { commandHelp, helpColumns, overview, topicHelp } from "./help.ts";
import { jsonText } from "./output/safe-text.ts";
import { createTimeFormat } from "./output/time.ts";
import { helpTopicOf, parseCommand } from "./parse-command.ts";
import { Interrupted } from "./problem.ts";
import { type ErrorContext, type ExitCode, reportError, reportErrorAsJson } from "./report-error.ts";
import { suggestAgent } from "./suggest-agent.ts";
import { createTerminal, type Streams, type Terminal } from "./terminal.ts";
import { version } from "./version.ts";

export interface CliEnvironment extends Streams {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborted by ctrl-c. */
  readonly signal: AbortSignal;
}

type Options = Readonly<Record<string, unknown>>;
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** What an error has to say beside itself. */
interface Started {
  readonly session: Session;
  /** The server that was called last. */
  readonly called: () => Connection | undefined;
  readonly named: ErrorContext["named"];
}

function startSession(
  { args, options }: { readonly args: Options; readonly options: Options },
  terminal: Terminal,
  { env, cwd, signal }: CliEnvironment,
): Started {
  const connectionOptions = { profile: text(options.profile), url: text(options.url), key: text(options.key) };
  const connection = () => findConnection(connectionOptions, env, cwd);
  let called: Connection | undefined;
  const perchAt = (chosen: Connection): Perch => {
    called = chosen;
    return new Perch({ baseUrl: chosen.url, apiKey: chosen.key });
  };
  const session: Session = {
    terminal,
    env,
    cwd,
    signal,
    isJson: options.json === true,
    connectionOptions,
    connection,
    perch: () => perchAt(connection()),
    perchAt,
    time: createTimeFormat(options.utc === true ? "UTC" : undefined),
    show: (value, human) => (options.json === true ? terminal.line(jsonText(value, 2)) : human()),
  };
  return { session, called: () => called, named: { agent: text(args.agent), webhook: text(args.webhook) } };
}

/** One run of the command line: 0 done, 1 failed, 2 wrong usage, 3 a run waits for a person, 130 or 143 interrupted while a run was under way. */
export async function runCli(argv: readonly string[], environment: CliEnvironment): Promise<ExitCode> {
  const terminal = createTerminal(environment, environment.env);
  if (argv.length === 1 && ["--version", "-v", "version"].includes(argv[0] ?? "")) {
    terminal.line(version);
    return 0;
  }
  let started: Started | undefined;
  try {
    const width = helpColumns(terminal.columns);
    const parsed = parseCommand(commands, argv);
    if (parsed.kind === "overview") terminal.line(overview(commandGroups, width));
    else if (parsed.kind === "topic") terminal.line(topicHelp(commands, parsed.topic, width));
    else if (parsed.kind === "help") terminal.line(commandHelp(parsed.command, width));
    else {
      started = startSession(parsed, terminal, environment);
      await parsed.command.run(started.session, parsed.args, parsed.options);
    }
    return 0;
  } catch (error) {
    // Ctrl-c is how one leaves a command that follows something. One that waits for a run says that the run goes on.
    if (environment.signal.aborted && !(error instanceof Interrupted)) return 0;
    if (argv.includes("--json")) return reportErrorAsJson(error, terminal);
    const server = started?.called();
    const suggestion = server && (await suggestAgent(error, server));
    return reportError(error, terminal, {
      server,
      suggestion,
      helpTopic: helpTopicOf(commands, argv),
      named: started?.named,
    });
  }
}
