import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { userEnvironment } from "@perch/testkit/packaging/install-packages.ts";
import {
  type MeasuredCommand,
  type Ready,
  type RunningCommand,
  runMeasured,
  startMeasured,
} from "../builders-way/measured-command.ts";
import type { Fleet } from "./fleet.ts";
import type { InstalledPart } from "./installed-size.ts";
import type { OrderModel } from "./order-model.ts";

/** What a task leaves for those that come after it, as a user has it on the disk and in terminals. */
export interface Made {
  /** By the folder of the package. */
  readonly tarballs: ReadonlyMap<string, string>;
  /** The Python client. */
  readonly wheel: string;
  readonly installed: readonly InstalledPart[];
  /** Where `perch` is installed, and where `perch dev` runs. */
  readonly dev: RunningCommand;
  readonly url: string;
  readonly model: OrderModel;
  readonly apiKey: string;
  readonly fleet: Fleet;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

type Undo = () => Promise<unknown> | unknown;

/** A command that takes longer hangs. */
const commandLimitMs = 300_000;
const readyLimitMs = 180_000;

/** As it is typed: the temporary folder, whose name nobody types, is left out. */
const typed = (words: readonly string[], root: string): string =>
  words
    .map((word) => word.replaceAll(`${root}/`, ""))
    .map((word) => (/[\s"]/.test(word) ? JSON.stringify(word) : word))
    .join(" ");

/** One new user: a folder, the commands that they type, and everything that must be gone when they leave. */
export class Trial {
  readonly root: string;
  /** The folder in which `perch` is installed. */
  readonly home: string;
  readonly made: Partial<Made> = {};
  readonly signal: AbortSignal;
  /** Of the task that is under way. */
  commands: MeasuredCommand[] = [];
  readonly #undo: Undo[] = [];
  readonly #note: (text: string) => void;

  constructor(root: string, signal: AbortSignal, note: (text: string) => void) {
    this.root = root;
    this.home = join(root, "app");
    this.signal = signal;
    this.#note = note;
  }

  make(made: Partial<Made>): void {
    Object.assign(this.made, made);
  }

  /** What an earlier task made. */
  the<K extends keyof Made>(name: K): Made[K] {
    const value = this.made[name];
    if (value === undefined) throw new Error(`No task before this one has made: ${name}`);
    return value as Made[K];
  }

  /** Done at the end, the last one first. */
  onEnd(undo: Undo): void {
    this.#undo.push(undo);
  }

  /** Returns what could not be undone. */
  async end(): Promise<unknown[]> {
    const failures: unknown[] = [];
    for (const undo of this.#undo.splice(0).reverse())
      try {
        await undo();
      } catch (error) {
        failures.push(error);
      }
    return failures;
  }

  async run([program = "", ...args]: readonly string[], options: CommandOptions = {}): Promise<string> {
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(commandLimitMs)]);
    const measured = await runMeasured({ ...this.#settings(program, args, options), signal });
    this.#add(measured);
    return measured.output;
  }

  /** Starts a command that stays until the end of the trial, unless it is stopped before. */
  async start(
    [program = "", ...args]: readonly string[],
    ready: Ready,
    options: CommandOptions = {},
  ): Promise<RunningCommand> {
    const late = new AbortController();
    const limit = setTimeout(() => late.abort(), readyLimitMs);
    const signal = AbortSignal.any([this.signal, late.signal]);
    const settings = { ...this.#settings(program, args, options), signal };
    const running = await startMeasured(settings, ready).finally(() => clearTimeout(limit));
    this.onEnd(running.stop);
    this.#add(running.measured);
    return running;
  }

  /** Waits until there is a value. */
  async until<T>(what: string, find: () => Promise<T | undefined> | T | undefined, limitSeconds = 120): Promise<T> {
    const deadline = performance.now() + limitSeconds * 1000;
    while (performance.now() < deadline) {
      this.signal.throwIfAborted();
      const found = await find();
      if (found !== undefined) return found;
      await sleep(100);
    }
    throw new Error(`Not within ${limitSeconds} s: ${what}`);
  }

  #settings(program: string, args: readonly string[], { cwd = this.home, env = {} }: CommandOptions) {
    const bins = [cwd, this.home].map((folder) => join(folder, "node_modules/.bin"));
    const path = [...bins, userEnvironment.PATH].join(delimiter);
    // No profile of whoever runs this.
    const own = { ...userEnvironment, PATH: path, XDG_CONFIG_HOME: this.root, ...env };
    return { command: typed([program, ...args], this.root), program, args, cwd, env: own };
  }

  #add(measured: MeasuredCommand): void {
    this.commands.push(measured);
    this.#note(`  $ ${measured.command}   ${measured.seconds.toFixed(1)} s`);
  }
}
