import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

export interface MeasuredCommand {
  /** As a builder types it. */
  readonly command: string;
  readonly output: string;
  readonly seconds: number;
  /** The longest time without a character of output, the wait for the first and after the last one included. */
  readonly silentSeconds: number;
}

export interface CommandSettings {
  /** As a builder types it; what is spawned is `program` with `args`. */
  readonly command: string;
  /** Node, unless given. */
  readonly program?: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Ends the command and all that it has started, in a process group of its own. It then counts as failed. */
  readonly signal?: AbortSignal;
}

interface Watched {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly measure: () => MeasuredCommand;
  readonly onOutput: (listener: () => void) => void;
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 10) / 100;

/** Longer than any of our processes takes to stop in order. */
const stopLimitMs = 60_000;

function endWith(child: ChildProcess, signal: AbortSignal): void {
  const end = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // It has ended in the meantime.
    }
  };
  let late: NodeJS.Timeout | undefined;
  const begin = () => {
    end("SIGTERM");
    late = setTimeout(() => end("SIGKILL"), stopLimitMs);
  };
  signal.addEventListener("abort", begin);
  child.once("close", () => {
    signal.removeEventListener("abort", begin);
    clearTimeout(late);
  });
}

function watch({ command, program = process.execPath, args, cwd, env, signal }: CommandSettings): Watched {
  signal?.throwIfAborted();
  const startedAt = performance.now();
  const detached = signal !== undefined;
  const child = spawn(program, args, { cwd, env, detached, stdio: ["ignore", "pipe", "pipe"] });
  if (signal) endWith(child, signal);
  let output = "";
  let lastAt = startedAt;
  let silentMs = 0;
  let listener = () => {};
  const noteSound = () => {
    const now = performance.now();
    silentMs = Math.max(silentMs, now - lastAt);
    lastAt = now;
  };
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      noteSound();
      output += chunk.toString();
      listener();
    });
  return {
    child,
    output: () => output,
    measure: () => {
      noteSound();
      return { command, output, seconds: seconds(performance.now() - startedAt), silentSeconds: seconds(silentMs) };
    },
    onOutput: (next) => {
      listener = next;
    },
  };
}

/** Runs a command to its end. Any exit code but 0 is an error. */
export async function runMeasured(settings: CommandSettings): Promise<MeasuredCommand> {
  const { child, measure } = watch(settings);
  const [code] = (await once(child, "close")) as [number | null];
  const measured = measure();
  if (code !== 0) throw new Error(`${settings.command} ended with ${code}:\n${measured.output}`);
  return measured;
}

/** A command that stays: measured until it is ready. */
export interface RunningCommand {
  readonly measured: MeasuredCommand;
  readonly output: () => string;
  readonly stop: () => Promise<void>;
  /** SIGKILL, as if the machine had failed. */
  readonly kill: () => Promise<void>;
}

/** A text that its output has when it is ready, or a question that is asked until the answer is yes. */
export type Ready = string | (() => Promise<boolean>);

export async function startMeasured(settings: CommandSettings, ready: Ready): Promise<RunningCommand> {
  const { child, output, measure, onOutput } = watch(settings);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded()) return;
    const ended = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), stopLimitMs);
    await ended.finally(() => clearTimeout(late));
  };
  const measured = await new Promise<MeasuredCommand>((resolve, reject) => {
    const check = async (isReady: () => Promise<boolean>) => {
      while (!hasEnded() && !(await isReady())) await sleep(100);
      resolve(measure());
    };
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${settings.command} ended with ${code}:\n${output()}`)));
    if (typeof ready === "function") void check(ready).catch(reject);
    else
      onOutput(() => {
        if (output().includes(ready)) resolve(measure());
      });
  });
  return { measured, output, stop: () => end("SIGINT"), kill: () => end("SIGKILL") };
}
