import type { Installation, InstallationPart } from "@perch/contract";
import { createEngineAdmin, type EngineAdmin } from "../../engine/engine-admin.ts";
import { adminProbes, ingressProbes } from "../../engine/engine-health.ts";
import { probeWorker, type WorkerProbe } from "../../engine/probe-worker.ts";
import { type KnownDeployment, listKnownDeployments } from "../../engine/retire-release.ts";
import { healthChecks } from "../../platform/health-checks.ts";
import { reasonOfFailedCall } from "../../platform/reason-of-failed-call.ts";
import { askRarely } from "./ask-rarely.ts";
import { createPartCheck, notConfigured } from "./part-check.ts";

export interface EngineAddresses {
  readonly ingressUrls: readonly string[];
  /** Empty if this node does not know where workers register. */
  readonly adminUrls: readonly string[];
  /** Host and port of an address, without a user or a password. */
  readonly placeOf: (address: string) => string;
}

/**
 * The findings about the engine and the workers. Undefined if no admin address answers, or the engine is still
 * counting.
 */
export interface CheckedEngine {
  readonly parts: readonly InstallationPart[];
  readonly deployments: readonly KnownDeployment[] | undefined;
  readonly invocations: Installation["engine"]["invocations"];
}

/** The nodes are asked first, for a second at most: only those that answer are asked for more, and waited for this long. */
const waitMs = 1300;
/** Ends before the wait does, so that the reason is known. */
const probeLimitMs = 1200;
/** A busy engine takes long to count. The count continues after the wait, so that the next reader gets its result. */
const countLimitMs = 10_000;

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

const withoutAnswer = (
  status: "silent" | "unknown",
  message: string,
  address: string | null = null,
): InstallationPart => ({ name: "workers", address, status, latency_ms: null, message });

function toWorkers(probe: WorkerProbe, latencyMs: number): InstallationPart {
  if (probe.outcome === "none registered") return withoutAnswer("silent", "no worker has registered with the engine");
  if (probe.outcome === "not reached") return withoutAnswer("silent", probe.reason, probe.uri);
  return { name: "workers", address: probe.uri, status: "ok", latency_ms: Math.round(latencyMs), message: null };
}

async function checkWorkers(adminUrl: string): Promise<InstallationPart> {
  const startedMs = performance.now();
  try {
    return toWorkers(await probeWorker(adminUrl, probeLimitMs), performance.now() - startedMs);
  } catch (error) {
    return withoutAnswer("unknown", `the engine did not say whether it reaches them: ${reasonOfFailedCall(error)}`);
  }
}

/**
 * To answer these, the engine counts its invocations one by one, and calls a worker. If that is slow, it is asked
 * rarely.
 */
function createAskAdmin(adminUrl: string): () => Promise<CheckedEngine> {
  const admin = createEngineAdmin([adminUrl], countLimitMs);
  const findCounts = askRarely(async () => {
    // One after the other: each goes through all invocations.
    const deployments = await listKnownDeployments(admin);
    return { deployments, invocations: await countInvocations(admin) };
  }, waitMs);
  const findWorkers = askRarely(() => checkWorkers(adminUrl), waitMs);
  return async () => {
    const [counts, workers] = await Promise.all([findCounts(), findWorkers()]);
    return {
      parts: [workers ?? withoutAnswer("unknown", "the engine did not say in time whether it reaches them")],
      deployments: counts?.deployments,
      invocations: counts?.invocations ?? null,
    };
  };
}

const noAdmin = `the engine's admin address is needed to know; set ${healthChecks.engineAdmin.setting} on this node`;

/** Each node of the engine on both of its ports, and through the admin port the workers, releases and invocations. */
export function createEngineCheck({ ingressUrls, adminUrls, placeOf }: EngineAddresses): () => Promise<CheckedEngine> {
  const toCheck = (id: "engine" | "engineAdmin", urls: readonly string[], probes: readonly (() => Promise<void>)[]) =>
    urls.map((url, i) => {
      const ask = probes[i] ?? (async () => undefined);
      return createPartCheck({ id, address: placeOf(url), ask });
    });
  const ingress = toCheck("engine", ingressUrls, ingressProbes(ingressUrls));
  const admins = toCheck("engineAdmin", adminUrls, adminProbes(adminUrls));

  const askAdmin = adminUrls.map(createAskAdmin);

  const checkAdmin = async (): Promise<CheckedEngine> => {
    const nodes = (await Promise.all(admins.map((check) => check()))).map(({ part }) => part);
    const ask = askAdmin[nodes.findIndex(({ status }) => status === "ok")];
    if (ask === undefined) {
      const parts =
        nodes.length === 0
          ? [notConfigured("engineAdmin", noAdmin), notConfigured("workers", noAdmin)]
          : [...nodes, withoutAnswer("unknown", "only the engine's admin port knows, and it is silent")];
      return { parts, deployments: undefined, invocations: null };
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
