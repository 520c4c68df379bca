import type { UsableSettings } from "../../config/config.ts";
import { adminProbes, ingressProbes } from "../../engine/engine-health.ts";
import { probeWorker } from "../../engine/probe-worker.ts";
import { healthChecks } from "../../platform/health-checks.ts";
import { reasonOfFailedCall } from "../../platform/reason-of-failed-call.ts";
import {
  beginCheck,
  beginCheckWith,
  type Explain,
  failed,
  limitMs,
  ok,
  type Result,
  unreadable,
  warning,
} from "./check.ts";

interface Node {
  readonly url: string;
  /** Undefined: it answers. */
  readonly reason: string | undefined;
}

const probeNodes = (urls: readonly string[], probes: readonly (() => Promise<void>)[]): Promise<Node[]> =>
  Promise.all(
    probes.map(async (probe, index) => ({
      url: urls[index] ?? "",
      reason: await probe().then(() => undefined, reasonOfFailedCall),
    })),
  );

/** One node of several may be away; without any of them, nothing goes. */
function judgeNodes(id: "engine" | "engineAdmin", nodes: readonly Node[]): Result[] {
  const someAnswer = nodes.some(({ reason }) => reason === undefined);
  return nodes.map(({ url, reason }) => {
    if (reason === undefined) return ok(`${url} answers`);
    const silent = `${url} does not answer (${reason}). ${healthChecks[id].advice}`;
    return someAnswer ? warning(`${silent} Others answer, so nothing fails for now.`) : failed(silent);
  });
}

async function judgeWorker(adminUrl: string): Promise<Result> {
  const found = await probeWorker(adminUrl, limitMs - 500);
  if (found.outcome === "none registered")
    return warning(`No worker is registered with the engine, so no agent can run. ${healthChecks.workers.advice}`);
  if (found.outcome === "reached") return ok(`the engine reaches ${found.uri}`);
  if (/\b503\b/.test(found.reason))
    return failed(
      `Workers of another release answer at ${found.uri}. Start workers of the active release, or run the activate-release of the release that runs there. To see both: perch-server releases`,
    );
  if (/\b401\b/.test(found.reason))
    return failed(
      `The workers at ${found.uri} refuse the engine (${found.reason}). Set PERCH_RESTATE_IDENTITY_KEYS of the workers to the public key of this engine, and restart them.`,
    );
  return failed(
    `The engine does not reach the workers at ${found.uri} (${found.reason}). Start a worker there, or set PERCH_WORKER_URL of the workers to an address that the engine can reach, and restart them.`,
  );
}

const explainWorker: Explain = (error) =>
  `The engine does not say which workers it has (${reasonOfFailedCall(error)}). See its log.`;

/** Every node of the ingress and of the admin port, and then the workers, as the engine sees them. */
export function checkEngine({ ingressUrls, adminUrls }: UsableSettings) {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const engine = beginCheck("engine", async () => {
    if (ingressUrls === undefined) return unreadable("engine");
    return judgeNodes("engine", await probeNodes(ingressUrls, ingressProbes(ingressUrls)));
  });
  const engineAdmin = beginCheck("engineAdmin", async () => {
    if (adminUrls === undefined) return unreadable("engineAdmin");
    const nodes = await probeNodes(adminUrls, adminProbes(adminUrls));
    resolve(nodes.find(({ reason }) => reason === undefined)?.url);
    return judgeNodes("engineAdmin", nodes);
  });
  // Without effect if it has been resolved before.
  void engineAdmin.findings.then(() => resolve(undefined));
  const opened = { value: promise, otherwise: "the engine's admin port was not reached" };
  return { engine, engineAdmin, workers: beginCheckWith("workers", opened, judgeWorker, explainWorker) };
}
