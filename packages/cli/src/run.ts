import { Perch } from "@perch/sdk";
import type { Session } from "./command.ts";
import { commands } from "./commands.ts";
import { findConnection } from "./connection.ts";
import { commandHelp, overview } from "./help.ts";
import { jsonText } from "./output/safe-text.ts";
import { parseCommand } from "./parse-command.ts";
import { Interrupted, UsageError } from "./problem.ts";
import { type ExitCode, reportError } from "./report-error.ts";
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

function createSession(options: Options, terminal: Terminal, { env, cwd, signal }: CliEnvironment): Session {
  const connectionOptions = { profile: text(options.profile), url: text(options.url), key: text(options.key) };
  const connection = () => findConnection(connectionOptions, env, cwd);
  return {
    terminal,
    env,
    cwd,
    signal,
    isJson: options.json === true,
    connectionOptions,
    connection,
    perch: () => {
      const { url, key } = connection();
      return new Perch({ baseUrl: url, apiKey: key });
    },
    show: (value, human) => (options.json === true ? terminal.line(jsonText(value, 2)) : human()),
  };
}

/** One run of the command line: 0 done, 1 failed, 2 wrong usage, 130 or 143 interrupted while a run was under way. */
export async function runCli(argv: readonly string[], environment: CliEnvironment): Promise<ExitCode> {
  const terminal = createTerminal(environment, environment.env);
  if (argv.length === 1 && ["--version", "-v", "version"].includes(argv[0] ?? "")) {
    terminal.line(version);
    return 0;
  }
  try {
    const { command, topic, args, options, isHelp } = parseCommand(commands, argv);
    if (!command) {
      const isKnown = topic === "" || topic === "help" || commands.some(({ name }) => name.startsWith(`${topic} `));
      if (!isKnown) throw new UsageError(`There is no command "perch ${topic}".`);
      terminal.line(overview(commands, topic === "help" ? "" : topic));
      return 0;
    }
    if (isHelp) terminal.line(commandHelp(command));
    else await command.run(createSession(options, terminal, environment), args, options);
    return 0;
  } catch (error) {
    // Ctrl-c is how one leaves a command that follows something. One that waits for a run says that the run goes on.
    if (environment.signal.aborted && !(error instanceof Interrupted)) return 0;
    return reportError(error, terminal, argv.includes("--json"));
  }
}
