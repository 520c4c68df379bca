import type { UsableSettings } from "../../config/config.ts";
import { adminProbes, ingressProbes } from "../../engine/engine-health.ts";
import { probeWorker } from "../../engine/probe-worker.ts";
import { reasonOfFailedCall } from "../../platform/reason-of-failed-call.ts";
import {
  beginCheck,
  beginCheckWith,
  type Check,
  type Explain,
  failed,
  limitMs,
  ok,
  type Result,
  skipped,
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
function judgeNodes(nodes: readonly Node[], variable: string): Result[] {
  const someAnswer = nodes.some(({ reason }) => reason === undefined);
  return nodes.map(({ url, reason }) => {
    if (reason === undefined) return ok(`${url} answers`);
    const silent = `${url} does not answer (${reason}). Start that node, or correct ${variable}.`;
    return someAnswer ? warning(`${silent} Others answer, so nothing fails for now.`) : failed(silent);
  });
}

async function judgeWorker(adminUrl: string): Promise<Result> {
  const found = await probeWorker(adminUrl, limitMs - 500);
  if (found.outcome === "none registered")
    return warning("No worker is registered with the engine, so no agent can run. Start one: perch-server work");
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
export function checkEngine({ ingressUrls, adminUrls }: UsableSettings): readonly Check[] {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const ingress = beginCheck("engine ingress", async () => {
    const variable = "PERCH_RESTATE_INGRESS_URL";
    if (ingressUrls === undefined) return skipped(`${variable} cannot be read: see settings`);
    return judgeNodes(await probeNodes(ingressUrls, ingressProbes(ingressUrls)), variable);
  });
  const admin = beginCheck("engine admin", async () => {
    const variable = "PERCH_RESTATE_ADMIN_URL";
    if (adminUrls === undefined) return skipped(`${variable} cannot be read: see settings`);
    const nodes = await probeNodes(adminUrls, adminProbes(adminUrls));
    resolve(nodes.find(({ reason }) => reason === undefined)?.url);
    return judgeNodes(nodes, variable);
  });
  // Without effect if it has been resolved before.
  void admin.findings.then(() => resolve(undefined));
  const opened = { value: promise, otherwise: "the engine's admin port was not reached" };
  return [ingress, admin, beginCheckWith("workers", opened, judgeWorker, explainWorker)];
}
