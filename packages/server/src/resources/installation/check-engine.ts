import type { Installation, InstallationPart } from "@perch/contract";
import { createEngineAdmin, type EngineAdmin } from "../../engine/engine-admin.ts";
import { adminProbes, ingressProbes } from "../../engine/engine-health.ts";
import { probeWorker, type WorkerProbe } from "../../engine/probe-worker.ts";
import { type KnownDeployment, listKnownDeployments } from "../../engine/retire-release.ts";
import { withinLimit } from "../../platform/within-limit.ts";
import { createPartCheck, notConfigured } from "./part-check.ts";
import { seldom } from "./seldom.ts";

export interface EngineAddresses {
  readonly ingressUrls: readonly string[];
  /** None: this node does not know where workers register. */
  readonly adminUrls: readonly string[];
  /** Host and port of an address, without a user or a password. */
  readonly placeOf: (address: string) => string;
}

/** What was found out about the engine and the workers. Undefined: no admin address answers. */
export interface CheckedEngine {
  readonly parts: readonly InstallationPart[];
  readonly deployments: readonly KnownDeployment[] | undefined;
  readonly invocations: Installation["engine"]["invocations"];
}

/** The nodes are asked first, for a second at most: only those that answer are asked for more. */
const detailsLimitMs = 1300;

const groups = {
  running: ["running"],
  queued: ["pending", "ready"],
  retrying: ["backing-off"],
  suspended: ["suspended", "paused", "scheduled"],
} as const;

async function countInvocations(admin: EngineAdmin): Promise<Installation["engine"]["invocations"]> {
  const counted = await admin.countByStatus();
  const sum = (statuses: readonly string[]) => statuses.reduce((all, each) => all + (counted.get(each) ?? 0), 0);
  return {
    running: sum(groups.running),
    queued: sum(groups.queued),
    retrying: sum(groups.retrying),
    suspended: sum(groups.suspended),
  };
}

function toWorkers(probe: WorkerProbe | undefined, latencyMs: number): InstallationPart {
  const name = "workers";
  const silent = (address: string | null, message: string): InstallationPart => ({
    ...{ name, address, status: "silent", latency_ms: null, message },
  });
  if (probe === undefined) return silent(null, "the engine did not say in time whether it reaches them");
  if (probe.outcome === "none registered") return silent(null, "no worker has registered with the engine");
  if (probe.outcome === "not reached") return silent(probe.uri, probe.reason);
  return { name, address: probe.uri, status: "ok", latency_ms: Math.round(latencyMs), message: null };
}

const orUndefined = <T>(work: () => Promise<T | undefined>): Promise<T | undefined> =>
  withinLimit(detailsLimitMs, work).catch(() => undefined);

/** The engine counts its invocations one by one, and calls a worker, to answer these: where that is slow, it is asked seldom. */
function createAskAdmin(adminUrl: string): () => Promise<CheckedEngine> {
  const admin = createEngineAdmin([adminUrl], detailsLimitMs);
  const findDeployments = seldom(() => listKnownDeployments(admin));
  const findInvocations = seldom(() => countInvocations(admin));
  const findWorkers = seldom(async () => {
    const startedMs = performance.now();
    return toWorkers(await probeWorker(adminUrl, detailsLimitMs), performance.now() - startedMs);
  });
  return async () => {
    const [deployments, invocations, workers] = await Promise.all([
      orUndefined(findDeployments),
      orUndefined(findInvocations),
      orUndefined(findWorkers),
    ]);
    return { parts: [workers ?? toWorkers(undefined, 0)], deployments, invocations: invocations ?? null };
  };
}

const noAdmin = "the engine's admin address is needed to know; set PERCH_RESTATE_ADMIN_URL on this node";

/** Each node of the engine on both of its ports, and through the admin port the workers, releases and invocations. */
export function createEngineCheck({ ingressUrls, adminUrls, placeOf }: EngineAddresses): () => Promise<CheckedEngine> {
  const toCheck = (
    name: "engine" | "engine_admin",
    urls: readonly string[],
    probes: readonly (() => Promise<void>)[],
  ) =>
    urls.map((url, i) => {
      const ask = probes[i] ?? (async () => undefined);
      return createPartCheck({ name, address: placeOf(url), ask });
    });
  const ingress = toCheck("engine", ingressUrls, ingressProbes(ingressUrls));
  const admins = toCheck("engine_admin", adminUrls, adminProbes(adminUrls));

  const askAdmin = adminUrls.map(createAskAdmin);

  const checkAdmin = async (): Promise<CheckedEngine> => {
    const nodes = (await Promise.all(admins.map((check) => check()))).map(({ part }) => part);
    const ask = askAdmin[nodes.findIndex(({ status }) => status === "ok")];
    if (ask === undefined) {
      const unknown = notConfigured("workers", nodes.length === 0 ? noAdmin : "the engine's admin address is silent");
      const listed = nodes.length === 0 ? [notConfigured("engine_admin", noAdmin)] : nodes;
      return { parts: [...listed, unknown], deployments: undefined, invocations: null };
    }
    const { parts, ...details } = await ask();
    return { parts: [...nodes, ...parts], ...details };
  };

  return async () => {
    const [nodes, { parts, ...details }] = await Promise.all([
      Promise.all(ingress.map((check) => check())),
      checkAdmin(),
    ]);
    return { parts: [...nodes.map(({ part }) => part), ...parts], ...details };
  };
}
