import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Problem } from "@perch/testkit/services/commands.ts";
import { environment, logFile } from "../perch-process.ts";

export interface ReleaseProcess {
  /** The name of the release, for messages. */
  readonly title: string;
  readonly hasEnded: () => boolean;
  /** SIGTERM, as an operator stops it. Resolves to its exit code. */
  readonly stop: () => Promise<number | null>;
  readonly kill: () => Promise<void>;
}

export type Role = "serve" | "work";

/** A release of the server that can be started: an image in podman's storage, or a checkout. */
export interface Release {
  readonly version: string;
  /** Under which its workers register. */
  readonly name: string;
  /** Whether it knows which release is active. Release 0.1.0 does not. */
  readonly hasTurns: boolean;
  /** Runs one command and returns its output. */
  readonly run: (settings: NodeJS.ProcessEnv, args: readonly string[]) => Promise<string>;
  readonly start: (role: Role, settings: NodeJS.ProcessEnv) => ReleaseProcess;
}

/** How a release's commands are executed. */
interface Launcher {
  readonly toCommand: (settings: NodeJS.ProcessEnv, args: readonly string[], container: string) => Command;
  /** Ends the processes that a signal to the command itself may leave running. */
  readonly kill: (child: ChildProcess, container: string) => Promise<void>;
}

interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

const execute = promisify(execFile);

const checkoutLauncher = (folder: string): Launcher => ({
  toCommand: (settings, args) => ({
    file: process.execPath,
    args: [join(folder, "packages/server/src/main.ts"), ...args],
    env: environment(settings),
  }),
  kill: async (child) => void child.kill("SIGKILL"),
});

/** In the network of the machine, so that databases, balancers and clients are the same for processes and containers. */
const imageLauncher = (image: string): Launcher => ({
  toCommand: (settings, args, container) => ({
    file: "podman",
    args: [
      ...["run", "--rm", "--pull=never", "--network=host", "--read-only", "--cap-drop=all", `--name=${container}`],
      // Passes only names, because the values come from the environment of the command.
      ...Object.keys(settings).flatMap((name) => ["--env", name]),
      image,
      ...args,
    ],
    env: environment(settings),
  }),
  kill: async (_, container) => void (await execute("podman", ["rm", "--force", "--time=0", container])),
});

let containers = 0;
const newContainerName = () => `perch-upgrade-${process.pid}-${++containers}`;

function startProcess(launcher: Launcher, title: string, role: Role, settings: NodeJS.ProcessEnv): ReleaseProcess {
  const container = newContainerName();
  const { file, args, env } = launcher.toCommand(settings, [role], container);
  const log = openSync(logFile, "a");
  const child = spawn(file, args, { env, stdio: ["ignore", log, log] });
  closeSync(log);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const ended = once(child, "exit");
  ended.catch(() => undefined);
  return {
    title,
    hasEnded,
    stop: async () => {
      child.kill("SIGTERM"); // podman passes it on
      await ended;
      return child.exitCode;
    },
    kill: async () => {
      if (hasEnded()) return;
      await launcher.kill(child, container);
      await ended;
    },
  };
}

async function refuseUnknownImage(image: string): Promise<void> {
  const isKnown = await execute("podman", ["image", "exists", image]).then(
    () => true,
    () => false,
  );
  if (!isKnown)
    throw new Problem(
      `${image} is neither a folder nor an image that podman has here. Build it with deploy/image/build.ts, or name a checkout.`,
    );
}

/**
 * `source` is a folder with a checkout, or the name of an image. `name` is needed if two releases have the same
 * version.
 */
export async function openRelease(source: string, name?: string): Promise<Release> {
  const isCheckout = existsSync(source);
  if (!isCheckout) await refuseUnknownImage(source);
  const launcher = isCheckout ? checkoutLauncher(source) : imageLauncher(source);
  const run = async (settings: NodeJS.ProcessEnv, args: readonly string[]): Promise<string> => {
    const command = launcher.toCommand(settings, args, newContainerName());
    const { stdout } = await execute(command.file, command.args, { env: command.env });
    return stdout.trim();
  };
  const version = await run({}, ["--version"]);
  const hasTurns = await run({}, ["help", "activate-release"]).then(
    () => true,
    () => false,
  );
  const releaseName = hasTurns ? (name ?? version) : version;
  const own = hasTurns ? { PERCH_RELEASE: releaseName } : {};
  return {
    version,
    name: releaseName,
    hasTurns,
    run: (settings, args) => run({ ...own, ...settings }, args),
    start: (role, settings) => startProcess(launcher, `${role} of ${releaseName}`, role, { ...own, ...settings }),
  };
}
