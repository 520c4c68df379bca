import { join } from "node:path";
import { addresses, isExternal } from "./addresses.ts";
import { run } from "./commands.ts";
import { logDir, loopback, ports, runDir, servicesDir } from "./layout.ts";
import { findRunning, type OwnProcess, startDetached, stop } from "./processes.ts";
import { findRestateBinary, restateBinary } from "./restate-binary.ts";
import type { Service } from "./service.ts";
import { answersHttp } from "./sockets.ts";

const dataDir = join(servicesDir, "restate");

const own: OwnProcess = {
  name: "restate",
  pidFile: join(runDir, "restate.pid"),
  marks: ["restate-server", `--base-dir ${dataDir} `],
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
    RESTATE_NODE_NAME: "perch-development", // its data refuses another name, and host names change
    RESTATE_LISTEN_MODE: "tcp", // unix sockets in a deep checkout exceed the length of a socket path
    RESTATE_BIND_ADDRESS: `${loopback}:${ports.restateNode}`,
    RESTATE_ADVERTISED_ADDRESS: `http://${loopback}:${ports.restateNode}`,
    RESTATE_INGRESS__BIND_ADDRESS: `${loopback}:${ports.restateIngress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `${loopback}:${ports.restateAdmin}`,
    RESTATE_DEFAULT_NUM_PARTITIONS: "4",
    RESTATE_LOG_FILTER: "warn",
    RESTATE_LOG_DISABLE_ANSI_CODES: "true",
  };
  const args = ["--base-dir", dataDir, "--no-logo"];
  await startDetached(own, { command: restateBinary(), args, env, logFile: join(logDir, "restate.log") }, answers);
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
  pid: () => findRunning(own),
  answers,
  start,
  prepare: async () => {},
  stop: () => stop(own),
  version: async () => {
    const found = findRestateBinary();
    return found ? (await run(found, ["--version"])).trim().replace(/^\S+\s+/, "") : "not installed";
  },
};
