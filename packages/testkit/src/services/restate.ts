import { createRequire } from "node:module";
import { join } from "node:path";
import { Problem, run } from "./commands.ts";
import { addresses, isExternal, logDir, loopback, ports, runDir, servicesDir } from "./layout.ts";
import { answersHttp, type BackgroundProcess, findRunning, type Service, startDetached, stop } from "./processes.ts";

const dataDir = join(servicesDir, "restate");

/** The npm package's launcher runs the binary below a separate Node process, so we look up the binary as it does. */
function findRestateBinary(): string | undefined {
  try {
    const launcher = createRequire(import.meta.url).resolve("@restatedev/restate-server/package.json");
    const { platform, arch } = process;
    return createRequire(launcher).resolve(`@restatedev/restate-server-${platform}-${arch}/bin/restate-server`);
  } catch {
    return undefined;
  }
}

export function restateBinary(): string {
  const found = findRestateBinary();
  if (found) return found;
  throw new Problem(
    `restate: no server binary for ${process.platform}-${process.arch} in node_modules. Run \`pnpm install\`, ` +
      "or set PERCH_RESTATE_INGRESS_URL and PERCH_RESTATE_ADMIN_URL to a running one.",
  );
}

const background: BackgroundProcess = {
  name: "restate",
  pidFile: join(runDir, "restate.pid"),
  commandLineParts: ["restate-server", `--base-dir ${dataDir} `],
  stopSignal: "SIGTERM",
};

async function answers(): Promise<boolean> {
  const checks = [`${addresses.restateAdmin}/health`, `${addresses.restateIngress}/restate/health`].map(answersHttp);
  return (await Promise.all(checks)).every(Boolean);
}

async function start(): Promise<void> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(RESTATE_|RUST_LOG$)/.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    DO_NOT_TRACK: "1",
    RESTATE_CLUSTER_NAME: "perch-development",
    RESTATE_NODE_NAME: "perch-development", // Restate refuses its data under another name, and host names change
    RESTATE_LISTEN_MODE: "tcp", // unix sockets in a deep checkout exceed the length of a socket path
    RESTATE_BIND_ADDRESS: `${loopback}:${ports.restateNode}`,
    RESTATE_ADVERTISED_ADDRESS: `http://${loopback}:${ports.restateNode}`,
    RESTATE_INGRESS__BIND_ADDRESS: `${loopback}:${ports.restateIngress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `${loopback}:${ports.restateAdmin}`,
    RESTATE_DEFAULT_NUM_PARTITIONS: "2",
    RESTATE_LOG_FILTER: "warn",
    RESTATE_LOG_DISABLE_ANSI_CODES: "true",
  };
  const args = ["--base-dir", dataDir, "--no-logo"];
  await startDetached(
    background,
    { command: restateBinary(), args, env, logFile: join(logDir, "restate.log") },
    answers,
  );
}

export const restate: Service = {
  name: "restate",
  isExternal: isExternal.restate,
  address: `${addresses.restateIngress} (ingress), ${addresses.restateAdmin} (admin)`,
  ports: [ports.restateIngress, ports.restateAdmin, ports.restateNode],
  dataDir,
  missingPackages: () => {
    restateBinary();
    return [];
  },
  pid: () => findRunning(background),
  answers,
  start,
  prepare: async () => {},
  stop: () => stop(background),
  version: async () => {
    const found = findRestateBinary();
    return found ? (await run(found, ["--version"])).trim().replace(/^\S+\s+/, "") : "not installed";
  },
};
