import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findOnPath, Problem, run } from "./commands.ts";
import { installableDebian } from "./debian.ts";
import {
  addresses,
  isExternal,
  logDir,
  loopback,
  parseUrl,
  ports,
  runDir,
  servicesDir,
  withoutPassword,
} from "./layout.ts";
import { type BackgroundProcess, exchange, findRunning, type Service, startDetached, stop } from "./processes.ts";

const dataDir = join(servicesDir, "valkey");

const background: BackgroundProcess = {
  name: "valkey",
  pidFile: join(runDir, "valkey.pid"),
  commandLineParts: ["valkey-server", `--dir ${dataDir} `],
  stopSignal: "SIGTERM",
};

function missingPackages(): readonly string[] {
  if (findOnPath("valkey-server")) return [];
  const debian = installableDebian();
  if (debian && debian.version >= 13) return ["valkey-server"];
  if (debian?.version === 12) return ["valkey-server/bookworm-backports", "valkey-tools/bookworm-backports"];
  throw new Problem(
    "valkey: no `valkey-server` on PATH, and packages are only installed by root on Debian 12 or newer. " +
      "Install Valkey 8, or set PERCH_VALKEY_URL to a running one (redis://host:port).",
  );
}

async function answers(): Promise<boolean> {
  const url = parseUrl(addresses.valkey);
  const reply = await exchange({ url, defaultPort: 6379, tls: url.protocol === "rediss:" }, "PING\r\n");
  return reply.startsWith("+PONG") || reply.startsWith("-NOAUTH");
}

async function start(): Promise<void> {
  mkdirSync(dataDir, { recursive: true });
  const listen = ["--port", String(ports.valkey), "--bind", loopback];
  // Without its own process title the command line stays as we wrote it, which `commandLineParts` relies on.
  const rest = ["--dir", dataDir, "--save", "", "--appendonly", "no", "--daemonize", "no", "--set-proc-title", "no"];
  const launch = {
    command: "valkey-server",
    args: [...listen, ...rest],
    env: process.env,
    logFile: join(logDir, "valkey.log"),
  };
  await startDetached(background, launch, answers);
}

export const valkey: Service = {
  name: "valkey",
  isExternal: isExternal.valkey,
  address: withoutPassword(addresses.valkey),
  ports: [ports.valkey],
  dataDir,
  missingPackages,
  pid: () => findRunning(background),
  answers,
  start,
  prepare: async () => {},
  stop: () => stop(background),
  version: async () => {
    if (!findOnPath("valkey-server")) return "not installed";
    return /v=(\S+)/.exec(await run("valkey-server", ["--version"]))?.[1] ?? "unknown";
  },
};
