import { z } from "zod";
import { agentRuns } from "./services.ts";

export type WorkerProbe =
  | { readonly outcome: "none registered" }
  | { readonly outcome: "reached"; readonly uri: string }
  | { readonly outcome: "not reached"; readonly uri: string; readonly reason: string };

const Service = z.object({ deployment_id: z.string() });
const Deployment = z.object({ uri: z.string() });
const Refusal = z.object({ message: z.string() });

/** Without the engine's codes, the address, which the caller has, and the rest of a worker's answer. */
const reasonIn = (text: string): string =>
  text
    .replaceAll(/\[\w+\]\s*/g, "")
    .replace(/^error when calling '[^']*': /, "")
    .replace(/\. Response headers: .*$/s, "");

async function refusalOf(response: Response): Promise<string> {
  const { message } = Refusal.catch({ message: `it answers ${response.status}` }).parse(
    await response.json().catch(() => undefined),
  );
  return reasonIn(message);
}

/**
 * Whether the engine reaches the workers that new runs go to. A registration that is only tried (`dry_run`) makes the
 * engine call the address that it knows already, and changes nothing; without `force` it would answer from its own
 * data.
 */
export async function probeWorker(adminUrl: string, limitMs: number): Promise<WorkerProbe> {
  const signal = AbortSignal.timeout(limitMs);
  const ask = (path: string, init: RequestInit = {}) => fetch(`${adminUrl}${path}`, { signal, ...init });
  const service = await ask(`/services/${agentRuns}`);
  if (service.status === 404) return { outcome: "none registered" };
  if (!service.ok) throw new Error(await refusalOf(service));
  const { deployment_id } = Service.parse(await service.json());
  const deployment = await ask(`/deployments/${deployment_id}`);
  if (!deployment.ok) throw new Error(await refusalOf(deployment));
  const { uri } = Deployment.parse(await deployment.json());
  try {
    const tried = await ask("/deployments", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri, force: true, dry_run: true }),
    });
    if (!tried.ok) return { outcome: "not reached", uri, reason: await refusalOf(tried) };
    await tried.arrayBuffer();
    return { outcome: "reached", uri };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { outcome: "not reached", uri, reason: `no answer within ${limitMs / 1000} s` };
  }
}
