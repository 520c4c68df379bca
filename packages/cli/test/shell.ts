import { PassThrough, Readable, Writable } from "node:stream";
import { runCli } from "../src/run.ts";

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as JSON. */
  readonly json: <T = Record<string, unknown>>() => T;
}

interface ShellOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

interface Collected extends Writable {
  readonly text: () => string;
}

/** With `columns`, it claims to be a terminal of that width. */
function collect(onText: (all: string) => void = () => {}, columns?: number): Collected {
  let all = "";
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      all += chunk.toString();
      onText(all);
      done();
    },
  });
  return Object.assign(stream, { text: () => all }, columns !== undefined && { isTTY: true, columns });
}

interface RunOptions {
  readonly input?: string;
  /** Sends ctrl-c, as soon as standard output has this text. */
  readonly until?: (stdout: string) => boolean;
  readonly env?: NodeJS.ProcessEnv;
  /** The output goes to a terminal of this width. There is no input. */
  readonly columns?: number;
}

/**
 * The command line in this process, with the same code as the binary and streams of the test's own. Not a terminal,
 * unless it has `columns`.
 */
export const createShell =
  ({ cwd, env = {} }: ShellOptions) =>
  async (
    args: readonly string[],
    { input = "", until, env: extra = {}, columns }: RunOptions = {},
  ): Promise<Outcome> => {
    const interrupt = new AbortController();
    const stdout = collect((text) => {
      if (until?.(text)) interrupt.abort();
    }, columns);
    const stderr = collect(undefined, columns);
    const stdin = input === "" ? new PassThrough().end() : Readable.from([input]);
    const surroundings = { stdin, stdout, stderr, cwd, env: { ...env, ...extra }, signal: interrupt.signal };
    const code = await runCli(args, surroundings);
    const json = <T>(): T => JSON.parse(stdout.text()) as T;
    return { code, stdout: stdout.text(), stderr: stderr.text(), json };
  };

/** Ids, times, keys and durations differ from run to run; everything else is compared word for word. */
export const withoutAccidents = (text: string): string =>
  text
    // The reason of a wait, which only a slow machine prints.
    .replaceAll(/^waiting for .*\n/gm, "")
    .replaceAll(/\b(agent|dep|req|corr|key|wh|evt|dlv|mem|org|clr)_[0-9a-z]{26}\b/g, "$1_…")
    .replaceAll(/perch_00\w{40,}/g, "perch_…")
    .replaceAll(/perch_00\w{2,12}…/g, "perch_……")
    .replaceAll(/whsec_[A-Za-z0-9+/]{32}/g, "whsec_…")
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [A-Z]{3,5}([+-][\d:]+)?)?/g, "<time>")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:<port>")
    .replaceAll(/\b\d+ ms\b/g, "<n> ms")
    .replaceAll(/ms=\d+/g, "ms=<n>")
    .replaceAll(/"duration_ms": \d+/g, '"duration_ms": "<n>"')
    .replaceAll(/ {2,}/g, "  ");
