import { setTimeout as sleep } from "node:timers/promises";
import { accountClients, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { startOAuthMcpServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { interruption } from "@perch/testkit/services/commands.ts";
import { type Api, createApi } from "../api-client.ts";
import { logProgress } from "../log-progress.ts";
import { type Installation, startInstallation } from "./installation.ts";
import type { Release } from "./release.ts";
import { addApiNode, removeApiNode, type Serving, startFirst, startWorkers } from "./serving.ts";

const requests = 500;
const concurrency = 20;
const endSeconds = 120;

/** The servers that runs of the two agents call. */
async function startOutside(stops: (() => unknown)[]) {
  const provider = await startAccountProvider({ perch: [] });
  stops.push(provider.stop);
  const mail = await startOAuthMcpServer(provider);
  stops.push(mail.close);
  const refund = await startToolServer(() => ({ body: { paid: true } }));
  stops.push(refund.close);
  return { provider, mail, refund };
}

type Outside = Awaited<ReturnType<typeof startOutside>>;

const agents = ["approved", "connected"] as const;
const callOnce = (name: string) =>
  JSON.stringify({ steps: [{ tool_calls: [{ name, arguments: {} }] }, { reply: "done" }] });

async function createAgents(api: Api, token: string, { provider, mail, refund }: Outside): Promise<void> {
  const { clientId, clientSecret } = accountClients.machine;
  const create = (name: (typeof agents)[number], call: string, tool: object) =>
    api.post("/v1/agents", token, { name, model: "perch/script", instructions: callOnce(call), tools: [tool] });
  await api.post("/v1/secrets", token, { name: "machine", value: clientSecret, hosts: [provider.issuer] });
  await create("approved", "refund", {
    ...{ type: "http", name: "refund", description: "Pays money back.", method: "POST", url: refund.url },
    ...{ parameters: { type: "object" }, approval: "always" },
  });
  await create("connected", "mail_whoami", {
    ...{ type: "mcp", name: "mail", url: mail.url },
    connection: {
      ...{ account: "agent", issuer: provider.issuer, client_id: clientId, client_secret: "{{secret.machine}}" },
      ...{ scopes: ["mail.read"], resource: mail.url },
    },
  });
}

async function createKey(api: Api, token: string, name: string, permission: string): Promise<string> {
  const { body } = await api.post("/v1/keys", token, { name, permissions: ["read", permission] });
  return (body as { data: { key: string } }).data.key;
}

interface Sent {
  readonly accepted: readonly string[];
  /** How many answers had each other status. */
  readonly refused: Readonly<Record<string, number>>;
}

async function sendRequests(url: string, token: string): Promise<Sent> {
  const accepted: string[] = [];
  const refused: Record<string, number> = {};
  const numbers = Array.from({ length: requests }, (_, i) => i).values();
  const invoke = async (number: number): Promise<void> => {
    const response = await fetch(`${url}/v1/agents/${agents[number % agents.length]}/invoke`, {
      method: "POST",
      headers: {
        ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
        prefer: "respond-async",
      },
      body: JSON.stringify({ message: `request ${number}` }),
    });
    const body = (await response.json()) as { data?: { request_id: string } };
    if (response.status === 429) {
      // As many runs as the agent may have are under way.
      await sleep(200, undefined, { signal: interruption.signal });
      await invoke(number);
    } else if (response.ok && body.data) accepted.push(body.data.request_id);
    else refused[response.status] = (refused[response.status] ?? 0) + 1;
  };
  const send = async () => {
    for (const number of numbers) await invoke(number);
  };
  await Promise.all(Array.from({ length: concurrency }, send));
  return { accepted, refused };
}

interface Approval {
  readonly id: string;
  readonly digest: string;
}

/** Approves what waits until all runs have completed. Returns how many did not, and how many approvals were given. */
async function approveAll(api: Api, token: string, ids: readonly string[]) {
  const open = new Set(ids);
  const deadline = performance.now() + endSeconds * 1000;
  let approvals = 0;
  while (open.size > 0 && performance.now() < deadline) {
    const { data } = (await api.get("/v1/approvals?status=open&limit=100", token)).body as { data: Approval[] };
    for (const { id, digest } of data) await api.post(`/v1/approvals/${id}/approve`, token, { digest });
    approvals += data.length;
    const ended = (await api.get("/v1/invocations?status=completed&limit=100", token)).body as RunPage;
    for (let page = ended; ; ) {
      for (const { request_id } of page.data) open.delete(request_id);
      const { next_cursor } = page.pagination;
      if (next_cursor === null) break;
      page = (await api.get(`/v1/invocations?status=completed&limit=100&cursor=${next_cursor}`, token)).body as RunPage;
    }
  }
  return { approvals, lost: open.size };
}

interface RunPage {
  readonly data: readonly { readonly request_id: string }[];
  readonly pagination: { readonly next_cursor: string | null };
}

/** All API nodes become those of the new release. The workers and the active release stay the old ones. */
async function replaceNodes(installation: Installation, old: Serving, to: Release): Promise<void> {
  await to.run(installation.settings, ["migrate"]);
  const newer: Serving = { release: to, workerUrl: "", workers: [], apis: [] };
  while (old.apis.length > 0) {
    await addApiNode(installation, newer);
    await removeApiNode(installation, old);
  }
}

/**
 * What new API nodes do with runs that need approvals and accounts while a release is active that does not say that it
 * understands them, and after their own release was activated. All figures but the first two must be zero.
 */
export async function checkFeatures([from, to]: readonly [Release, Release], stops: (() => unknown)[]) {
  const { settings, ...others } = await startInstallation(stops);
  const { PERCH_SCRIPT_MODEL_URL: _, ...withScripts } = settings;
  const installation = {
    ...others,
    settings: { ...withScripts, PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8" },
  };
  const outside = await startOutside(stops);
  const serving = await startFirst(installation, from);
  const create = ["create-organisation", "--name", "Features", "--tier", "enterprise"];
  const admin = await from.run(installation.settings, create);
  await replaceNodes(installation, serving, to);
  const { url } = installation.haproxy;
  const api = createApi([url]);
  await createAgents(api, admin, outside);
  logProgress(`${from.name} is active, with API nodes of ${to.name}`);
  // A key that started a run may not leave the decision to a key that it made.
  const app = await createKey(api, admin, "app", "invoke");
  const before = await sendRequests(url, app);
  const callsBefore = outside.refund.calls.length + outside.mail.calls.length;
  await to.run(installation.settings, ["activate-release"]);
  await startWorkers(installation, to);
  logProgress(`${to.name} is active`);
  const after = await sendRequests(url, app);
  const unasked = outside.refund.calls.length;
  const token = await createKey(api, admin, "person", "approve");
  const { approvals, lost } = await approveAll(api, token, [...before.accepted, ...after.accepted]);
  return {
    refused_before: before.refused[503] ?? 0,
    accepted_after: after.accepted.length,
    not_refused_before: requests - (before.refused[503] ?? 0) + callsBefore,
    not_accepted_after: requests - after.accepted.length,
    calls_without_approval: unasked + Math.max(0, outside.refund.calls.length - approvals),
    calls_without_token: outside.mail.requests.filter(({ rpc, token: sent }) => rpc === "tools/call" && !sent).length,
    lost,
  };
}
