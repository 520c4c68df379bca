import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import type pg from "pg";
import { tierLimits } from "../packages/contract/src/index.ts";
import type { NeighbourCluster, Tenant } from "./neighbour-cluster.ts";
import { searchedSecret } from "./neighbour-servers.ts";

/**
 * The data of the bad neighbours before they begin. The API would take minutes for most of it, so it is written to the
 * database.
 */

export const largeAgents = 240;
const logEntries = 20_000;
const archivedMemories = 20_000;
const wideRuns = 100;
const wideRunKilobytes = 500;
const webhooks = { free: tierLimits.free.webhooks, pro: tierLimits.pro.webhooks } as const;

export type Post = (path: string, body: object) => Promise<{ readonly data: Readonly<Record<string, unknown>> }>;

export const postAs = ({ apiUrls, tokens }: NeighbourCluster, tenant: Tenant): Post =>
  async function post(path, body) {
    const response = await fetch(`${apiUrls[0]}/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${tokens[tenant]}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status === 429) {
      await sleep(1000);
      return post(path, body);
    }
    if (!response.ok) throw new Error(`POST /v1/${path} failed: ${response.status} ${text.slice(0, 500)}`);
    return JSON.parse(text);
  };

/** Sends several at a time, because one after another would take too long. */
async function repeat(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  const indexes = Array.from({ length: count }, (_, i) => i).values();
  const next = async () => {
    for (const i of indexes) await work(i);
  };
  await Promise.all(Array.from({ length: 10 }, next));
}

/** As large as a definition may be, in bytes and in values: lists take more memory than text does. */
const largeTool = {
  type: "http",
  name: "large",
  description: "",
  method: "GET",
  url: "https://tools.example/large",
  parameters: {
    type: "object",
    description: "x".repeat(190_000),
    examples: Array.from({ length: 9_000 }, () => []),
  },
};

const toolAt = (url: string, name: string) => ({
  type: "http",
  name,
  description: name,
  method: "GET",
  url: `${url}/${name}`,
  parameters: { type: "object" },
});

const badTools = ["silent", "trickle", "flood"];
const script = (...steps: object[]) => ({ model: "perch/script", instructions: JSON.stringify({ steps }) });
const limits = { timeout_seconds: 20, max_concurrent_runs: 1000 };
const echo = { model: "perch/echo" };

/** Different in every line, and as long as may be. */
const manyLines = (word: string) => Array.from({ length: 5000 }, (_, i) => `${word} ${i}`).join("\n");

const badAgents = (url: string): readonly object[] => [
  ...["log", "hooked", "archive", "notes", "deployed", "wide"].map((name) => ({ name, ...echo })),
  { name: "large-1", ...echo, tools: [largeTool] },
  {
    name: "slow",
    ...script({ delay_ms: 90_000, reply: "late" }),
    limits: { timeout_seconds: 100, max_concurrent_runs: 1000 },
  },
  ...[...badTools, "hostile"].map((name) => ({ name: `${name}-model`, model: `${name}/model`, limits })),
  {
    name: "bad-tools",
    ...script({ tool_calls: badTools.map((name) => ({ name, arguments: {} })) }, { reply: "done" }),
    tools: badTools.map((name) => toolAt(url, name)),
    limits,
  },
  {
    name: "searched",
    ...script({ tool_calls: Array(4).fill({ name: "escapes", arguments: {} }) }, { reply: "done" }),
    tools: [{ ...toolAt(url, "escapes"), headers: { "x-key": "{{secret.searched}}" } }],
    limits,
  },
  {
    name: "hostile-memory",
    ...echo,
    memory: { recall: true, remember: true, embedder: { model: "hostile/model", dimensions: 384 } },
    limits,
  },
  {
    name: "guarded",
    ...echo,
    auth: {
      type: "oauth2",
      provider: `${url}/issuer`,
      clientId: "perch",
      clientSecret: "secret",
      scopes: ["read:agents"],
    },
  },
  { name: "versions", ...echo, instructions: manyLines("one") },
];

async function createVersions(cluster: NeighbourCluster, tenant: Tenant, post: Post): Promise<void> {
  await post("agents/versions/deployments", { environment: "production", version: "one" });
  const response = await fetch(`${cluster.apiUrls[0]}/v1/agents/versions`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${cluster.tokens[tenant]}`, "content-type": "application/json" },
    body: JSON.stringify({ instructions: manyLines("two") }),
  });
  if (!response.ok) throw new Error(`PATCH failed: ${response.status} ${await response.text()}`);
  await post("agents/versions/deployments", { environment: "staging", version: "two" });
}

const ofAgent = (name: string) =>
  `(select organisation_id, id as agent_id from agents where name = '${name}' and organisation_id <> $1) a`;

/** For both bad organisations at once: those other than the victim's. */
const insertions: readonly string[] = [
  `insert into agents (id, organisation_id, name, status, definition, security)
   select gen_random_uuid(), organisation_id, 'large-' || i, status, definition, security
     from agents, generate_series(2, ${largeAgents}) i where name = 'large-1' and organisation_id <> $1`,
  `insert into log_entries (organisation_id, agent_id, at, level, message, metadata)
   select organisation_id, agent_id, now() - i * interval '1 millisecond', 1, repeat(md5(i::text) || ' ', 240), '{}'
     from ${ofAgent("log")}, generate_series(1, ${logEntries}) i`,
  `insert into memories (organisation_id, agent_id, id, owner, content, metadata)
   select organisation_id, agent_id, gen_random_uuid(), '', 'note ' || i || ' about ' || md5(i::text), '{}'
     from ${ofAgent("archive")}, generate_series(1, case when $2::uuid = organisation_id then 5000 else ${archivedMemories} end) i`,
  `insert into invocations (organisation_id, agent_id, id, accepted_at, status, environment, message, response)
   select organisation_id, agent_id, gen_random_uuid(), now(), 'completed', 'production', text, text
     from ${ofAgent("wide")}, generate_series(1, ${wideRuns}) i,
          lateral (select string_agg(md5((i * j)::text), '') as text from generate_series(1, ${wideRunKilobytes * 16}) j) t`,
];

const organisationOf = async (client: pg.Client, name: string): Promise<string> => {
  const { rows } = await client.query<{ id: string }>("select id from organisations where name = $1", [name]);
  return rows[0]?.id ?? "";
};

const insertData = (adminUrl: string): Promise<void> =>
  withClient(adminUrl, async (client) => {
    const [victim, free] = [await organisationOf(client, "Victim"), await organisationOf(client, "Bad and free")];
    await client.query("set synchronous_commit = off");
    for (const sql of insertions) await client.query(sql, sql.includes("$2") ? [victim, free] : [victim]);
    await client.query("vacuum analyze agents, log_entries, memories, invocations");
    await client.query("checkpoint");
  });

/** Creates the resources that the attacks use, in both bad organisations. */
export async function createBadTenants(
  cluster: NeighbourCluster,
  servers: { readonly url: string; readonly hookUrls: readonly string[] },
): Promise<void> {
  for (const tenant of ["free", "pro"] as const) {
    const post = postAs(cluster, tenant);
    for (const name of [...badTools, "hostile"])
      await post("providers", {
        name,
        type: "openai-compatible",
        base_url: `${servers.url}/${name}/v1`,
        api_key: "key",
      });
    await post("secrets", { name: "searched", value: searchedSecret, hosts: [servers.url] });
    for (const agent of badAgents(servers.url)) await post("agents", agent);
    await repeat(webhooks[tenant], (i) => {
      const url = `${servers.hookUrls[i % servers.hookUrls.length]}/${i}`;
      return post("webhooks", { url, events: ["agent.completed"], agent_id: "hooked" });
    });
    await createVersions(cluster, tenant, post);
  }
  await insertData(cluster.postgres.adminUrl);
}

/** The few resources of the victim. */
export async function createVictim(cluster: NeighbourCluster, hookUrl: string, issuer: string): Promise<void> {
  const post = postAs(cluster, "victim");
  await repeat(20, (i) => post("agents", { name: `agent-${i + 1}`, ...echo }));
  await post("agents", { name: "hooked", ...echo });
  await post("webhooks", { url: hookUrl, events: ["agent.completed"], agent_id: "hooked" });
  const auth = { type: "oauth2", provider: issuer, clientId: "perch", clientSecret: "secret", scopes: ["read:agents"] };
  await post("agents", { name: "guarded", ...echo, auth });
  for (let i = 0; i < 2; i++)
    await post("agents/agent-1/logs", {
      entries: Array.from({ length: 100 }, (_, n) => ({ message: `line ${i} ${n}` })),
    });
  await repeat(200, (i) =>
    post("agents/agent-1/memory", { content: `The customer with number ${i} likes colour ${i % 7}.` }),
  );
  await waitUntilEmbedded(cluster);
}

async function waitUntilEmbedded({ apiUrls, tokens }: NeighbourCluster): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const headers = { authorization: `Bearer ${tokens.victim}` };
    const response = await fetch(`${apiUrls[0]}/v1/agents/agent-1/memory/status`, { headers });
    const { data } = (await response.json()) as { data: { pending_embeddings: number } };
    if (data.pending_embeddings === 0) return;
    await sleep(200);
  }
  throw new Error("The victim's memories are not embedded after 60 s");
}
