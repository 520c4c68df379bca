import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface MeasuredCommand {
  /** As a builder types it. */
  readonly command: string;
  readonly output: string;
  readonly seconds: number;
  /** The longest time without a character of output, the wait for the first and after the last one included. */
  readonly silentSeconds: number;
}

export interface CommandSettings {
  /** As a builder types it; what is spawned is Node with `args`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Watched {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly measure: () => MeasuredCommand;
  readonly onOutput: (listener: () => void) => void;
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 10) / 100;

function watch({ command, args, cwd, env }: CommandSettings): Watched {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
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

/** A command that stays: measured until its output has `ready`. */
export interface RunningCommand {
  readonly measured: MeasuredCommand;
  readonly output: () => string;
  readonly stop: () => Promise<void>;
}

export async function startMeasured(settings: CommandSettings, ready: string): Promise<RunningCommand> {
  const { child, output, measure, onOutput } = watch(settings);
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGINT");
    await ended;
  };
  const measured = await new Promise<MeasuredCommand>((resolve, reject) => {
    onOutput(() => {
      if (output().includes(ready)) resolve(measure());
    });
    child.once("exit", (code) => reject(new Error(`${settings.command} ended with ${code}:\n${output()}`)));
  });
  return { measured, output, stop };
}
