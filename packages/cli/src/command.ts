import type { Perch } from "@perch/sdk";
import type { Connection } from "./connection.ts";
import type { FormatTime } from "./output/time.ts";
import type { Terminal } from "./terminal.ts";

export interface OptionSpec {
  readonly type: "string" | "boolean";
  readonly help: string;
  readonly short?: string;
  /** Placeholder for the value in the help. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly multiple?: true;
}
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** `agent` is required, `message?` is not, `words...` takes the rest. */
export type ArgumentName = string;

type ValueOf<O extends OptionSpec> = O["type"] extends "boolean"
  ? boolean
  : O extends { readonly multiple: true }
    ? string[]
    : O extends { readonly choices: readonly (infer Choice)[] }
      ? Choice
      : string;
export type OptionValues<O extends OptionSpecs> = { readonly [K in keyof O]?: ValueOf<O[K]> };

type NameOf<A extends string> = A extends `${infer Name}?` ? Name : A extends `${infer Name}...` ? Name : A;
export type ArgumentValues<A extends readonly ArgumentName[]> = {
  readonly [K in A[number] as NameOf<K>]: K extends `${string}?`
    ? string | undefined
    : K extends `${string}...`
      ? readonly string[]
      : string;
};

/** The context of a command. */
export interface Session {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly isJson: boolean;
  /** The connection options of the command line, without environment and profiles. */
  readonly connectionOptions: {
    readonly profile?: string | undefined;
    readonly url?: string | undefined;
    readonly key?: string | undefined;
  };
  /** The address and its key, both from the options, the environment, a profile or `perch dev`. */
  readonly connection: () => Connection;
  readonly perch: () => Perch;
  /** A client of this server. Errors from here on name its address. */
  readonly perchAt: (connection: Connection) => Perch;
  /** A time in the zone of this machine, or in UTC with `--utc`. */
  readonly time: FormatTime;
  /** Aborted by ctrl-c. */
  readonly signal: AbortSignal;
  /** Prints one value as JSON if `--json` was given, else runs `human`. */
  readonly show: (value: unknown, human: () => void) => void;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly details?: string;
  readonly args: readonly ArgumentName[];
  readonly options: OptionSpecs;
  /** The message about one argument too many, which does not repeat the argument. */
  readonly extraArgument?: string;
  readonly examples?: readonly string[];
  readonly run: (
    session: Session,
    args: Readonly<Record<string, unknown>>,
    options: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
}

/** Commands under one title of the help. */
export interface CommandGroup {
  readonly title: string;
  /** The topics of commands with several words, by their first word. */
  readonly subjects?: Readonly<Record<string, string>>;
  readonly commands: readonly Command[];
}

interface TypedCommand<A extends readonly ArgumentName[], O extends OptionSpecs> {
  readonly name: string;
  readonly summary: string;
  readonly details?: string;
  readonly args?: A;
  readonly options?: O;
  readonly extraArgument?: string;
  readonly examples?: readonly string[];
  readonly run: (session: Session, args: ArgumentValues<A>, options: OptionValues<O>) => Promise<void>;
}

/** One command as data: help, completion and parsing come from it. */
export function command<
  const A extends readonly ArgumentName[] = [],
  const O extends OptionSpecs = Record<never, never>,
>(typed: TypedCommand<A, O>): Command {
  return { args: [], options: {}, ...typed } as unknown as Command;
}

/** Options that every command takes. */
export const sharedOptions = {
  json: { type: "boolean", help: "Print JSON, for scripts." },
  utc: { type: "boolean", help: "Print times in UTC, not in local time." },
  profile: { type: "string", value: "NAME", help: "The profile to use; see `login`." },
  url: { type: "string", value: "URL", help: "URL of the API (PERCH_URL)." },
  key: { type: "string", value: "KEY", help: "API key (PERCH_API_KEY)." },
  help: { type: "boolean", short: "h", help: "Show this help." },
} as const satisfies OptionSpecs;

export const yesOption = {
  type: "boolean",
  short: "y",
  help: "Do not ask for confirmation.",
} as const satisfies OptionSpec;

export const fileOption = {
  type: "string",
  short: "f",
  value: "FILE|DIR",
  multiple: true,
  help: "A file, or a folder of files. Can be repeated. Default: agent.yaml.",
} as const satisfies OptionSpec;
