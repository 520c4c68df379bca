import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";
import { type Child, startChild, untilHealthy } from "./child.ts";
import type { DevFolder, Ports } from "./state.ts";

/** The platform's own package, without the one that starts it, whose dependency runs a script when it is installed. */
export function findEngine(): string | undefined {
  const { platform, arch } = process;
  try {
    return createRequire(import.meta.url).resolve(`@restatedev/restate-server-${platform}-${arch}/bin/restate-server`);
  } catch {
    return undefined;
  }
}

const pidFile = ({ root }: DevFolder) => join(root, "engine.pid");

function commandOf(pid: number): string {
  try {
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}

/** An engine that a killed `perch dev` left running locks the data. It is ours if it runs on this folder. */
export async function stopOrphan(folder: DevFolder): Promise<void> {
  const file = pidFile(folder);
  const pid = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  if (!(pid > 0) || !commandOf(pid).includes(`--base-dir ${folder.engine}`)) return;
  process.kill(pid, "SIGTERM");
  for (let waited = 0; waited < 100 && commandOf(pid) !== ""; waited++) await sleep(100);
  rmSync(file, { force: true });
}

const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

/** Why this machine has no engine, and how to get one. */
export function missingEngine(machine = `${process.platform}-${process.arch}`): Problem {
  const elsewhere = `run a server elsewhere and connect to it with \`${perchCommand("login")}\``;
  if (!platforms.includes(machine))
    return new Problem(
      `perch dev cannot run on ${machine}: there is no engine for it.`,
      `There are engines for Linux and macOS, on x64 and arm64. On Windows, use WSL. Or ${elsewhere}.`,
    );
  return new Problem(
    `The engine's package, @restatedev/restate-server-${machine}, is not installed.`,
    `It is an optional package, which npm leaves out with --omit=optional. Get it with\n  npm install --include=optional\nOr ${elsewhere}.`,
  );
}

/** The real engine, one node, with its files under `.perch/engine`. */
export async function startEngine(folder: DevFolder, ports: Ports): Promise<Child> {
  const command = findEngine();
  if (!command) throw missingEngine();
  const inherited = Object.entries(process.env).filter(([name]) => !/^(RESTATE_|RUST_LOG$)/.test(name));
  const child = startChild({
    name: "the engine",
    command,
    args: ["--base-dir", folder.engine, "--no-logo"],
    logFile: join(folder.logs, "engine.log"),
    env: {
      ...Object.fromEntries(inherited),
      DO_NOT_TRACK: "1",
      RESTATE_CLUSTER_NAME: "perch-dev",
      RESTATE_NODE_NAME: "perch-dev", // its data refuse another name, and host names change
      RESTATE_LISTEN_MODE: "tcp", // unix sockets in a deep folder exceed the length of a socket path
      RESTATE_BIND_ADDRESS: `127.0.0.1:${ports.node}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${ports.node}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
      RESTATE_DEFAULT_NUM_PARTITIONS: "1",
      RESTATE_LOG_FILTER: "warn",
      RESTATE_LOG_DISABLE_ANSI_CODES: "true",
    },
  });
  writeFileSync(pidFile(folder), String(child.pid));
  const addresses = [`http://127.0.0.1:${ports.admin}/health`, `http://127.0.0.1:${ports.ingress}/restate/health`];
  await untilHealthy(child, addresses, 60).catch(async (error: unknown) => {
    await child.stop(5);
    throw error;
  });
  return child;
}
