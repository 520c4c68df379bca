import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import type { Site } from "./site.ts";
import type { Loss } from "./what-is-back.ts";

/** A run that the drill remembers, with its observations. */
export interface SeenRun {
  readonly agent: string;
  readonly id: string;
  response?: string;
}

export interface Seen {
  readonly loss: Loss;
  readonly canaryId: string;
  readonly endedBefore: SeenRun[];
  readonly endedAfter: SeenRun[];
  readonly underWayAtBackup: SeenRun[];
  readonly hastyAtBackup: SeenRun[];
  readonly underWayAtLoss: SeenRun[];
  pendingAtBackup: string;
  pendingAtLoss: string;
  readonly keys: { before: string; after: string };
  deliveryEvent: string;
}

const must = (what: string, { status, data }: { status: number; data: unknown }, expected = [200, 201, 202]) => {
  if (!expected.includes(status)) throw new Error(`${what}: ${status} ${JSON.stringify(data)}`);
  // biome-ignore lint/suspicious/noExplicitAny: as in site.ts.
  return data as any;
};

export async function until(what: string, isTrue: () => Promise<boolean>, seconds = 30): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`After ${seconds} s: ${what}`);
    await sleep(200);
  }
}

export const readRun = (site: Site, { agent, id }: SeenRun) => site.call("GET", `/agents/${agent}/invocations/${id}`);

async function inBackground(site: Site, agent: string, message: string, context: object = {}): Promise<SeenRun> {
  const prefer = { prefer: "respond-async" };
  const answer = await site.call("POST", `/agents/${agent}/invoke`, { message, context }, prefer);
  return { agent, id: must(message, answer).request_id };
}

export async function withKey(site: Site, loss: Loss, key: string): Promise<string> {
  const body = { message: `${key} in 1 steps` };
  const answer = await site.call("POST", `/agents/${loss}-bot/invoke`, body, { "idempotency-key": `${loss}-${key}` });
  return must(key, answer).request_id;
}

/** Starts one run in one of four ways. */
async function invoke(site: Site, agent: string, number: number): Promise<SeenRun> {
  const message = `run ${number} in 1 steps`;
  const path = `/agents/${agent}/invoke`;
  if (number % 4 === 1) return inBackground(site, agent, message);
  if (number % 4 === 2) {
    const stream = must(message, await site.call("POST", path, { message }, { accept: "text/event-stream" }));
    return { agent, id: /req_[0-9a-z]+/.exec(stream)?.[0] ?? "" };
  }
  const context = number % 4 === 3 ? { session_id: `s${number % 8}` } : {};
  return { agent, id: must(message, await site.call("POST", path, { message, context })).request_id };
}

const clients = 8;

async function invokeMany(site: Site, agent: string, count: number): Promise<SeenRun[]> {
  const runs: SeenRun[] = [];
  let next = 0;
  const client = async () => {
    while (next < count) runs.push(await invoke(site, agent, next++));
  };
  await Promise.all(Array.from({ length: clients }, client));
  return runs;
}

/** Waits until the runs have ended, and records their answers. */
async function noteEnds(site: Site, runs: readonly SeenRun[]): Promise<void> {
  for (const run of runs)
    await until(`${run.id} has not ended`, async () => {
      const { data } = await readRun(site, run);
      run.response = data?.response;
      return data?.status === "completed";
    });
}

async function deploy(site: Site, agent: string, version: string, more: object = {}): Promise<string> {
  const body = { environment: "production", version, ...more };
  const { id } = must(`deploy ${agent}`, await site.call("POST", `/agents/${agent}/deployments`, body));
  return id;
}

export const deploymentOf = (site: Site, agent: string, id: string) =>
  site.call("GET", `/agents/${agent}/deployments/${id}`);
const untilActive = (site: Site, agent: string, id: string) =>
  until(`${agent} is not deployed`, async () => (await deploymentOf(site, agent, id)).data?.status === "active");

async function createAgents(site: Site, loss: Loss, window_seconds: number): Promise<string> {
  const create = async (name: string, more: object) =>
    must(name, await site.call("POST", "/agents", { name: `${loss}-${name}`, model: "perch/script", ...more }));
  await create("bot", { limits: { timeout_seconds: 600 } });
  await create("hasty", { limits: { timeout_seconds: 5 } });
  await create("canary", {});
  const tool = { type: "http", name: "slow", description: "Slow.", method: "GET", url: site.toolUrl };
  await create("slow", { tools: [{ ...tool, parameters: { type: "object" } }] });
  const webhook = { url: site.receiver.url, events: ["agent.completed"], agent_id: `${loss}-bot` };
  must("webhook", await site.call("POST", "/webhooks", webhook));
  must("memory", await site.call("POST", `/agents/${loss}-bot/memory`, { content: `What ${loss} remembers.` }));
  await untilActive(site, `${loss}-canary`, await deploy(site, `${loss}-canary`, "v1"));
  const guards = { window_seconds, min_runs: 10_000, max_p95_ratio: 2 };
  const canary = await deploy(site, `${loss}-canary`, "v2", { traffic_percent: 10, guards });
  await untilActive(site, `${loss}-canary`, canary);
  return canary;
}

/** A clear that its process left open, and a memory whose vector the engine has still to make. */
const leaveOpenWork = (site: Site) =>
  withClient(site.postgres.adminUrl, async (client) => {
    await client.query(`
      insert into memory_clears (organisation_id, agent_id, id, last_sequence, owner, created_at)
        select organisation_id, id, gen_random_uuid(), 0, '=nobody', now() - interval '2 minutes' from agents limit 1;
      update memories set embedder = null, dimensions = null, embedding = null, updated_at = now() - interval '1 hour'`);
  });

/** The canary is watched for so long; it is looked at 20 times in that. */
export async function prepare(site: Site, loss: Loss, before: number, canarySeconds: number): Promise<Seen> {
  const canaryId = await createAgents(site, loss, canarySeconds);
  const endedBefore = await invokeMany(site, `${loss}-bot`, before);
  const keys = { before: await withKey(site, loss, "before"), after: "" };
  await noteEnds(site, endedBefore);
  const none = { underWayAtBackup: [], hastyAtBackup: [], underWayAtLoss: [], endedAfter: [] };
  return { loss, canaryId, endedBefore, ...none, keys, pendingAtBackup: "", pendingAtLoss: "", deliveryEvent: "" };
}

/** Starts the work that is under way when the backup is taken. */
export async function beginWork(site: Site, seen: Seen): Promise<void> {
  const { loss } = seen;
  site.faults.isReceiverDown = true;
  site.faults.isToolSlow = true;
  seen.deliveryEvent = (await invoke(site, `${loss}-bot`, 0)).id;
  seen.pendingAtBackup = await deploy(site, `${loss}-slow`, "v1");
  for (let n = 0; n < 3; n++) {
    seen.underWayAtBackup.push(await inBackground(site, `${loss}-bot`, `backup ${n} slowly in 2 steps`));
    seen.hastyAtBackup.push(await inBackground(site, `${loss}-hasty`, `hasty ${n} slowly in 2 steps`));
  }
  await leaveOpenWork(site);
}

/** Ends the work that was under way, and creates everything that the backup does not contain. */
export async function goOn(site: Site, seen: Seen, count: number): Promise<void> {
  const { loss } = seen;
  site.faults.isReceiverDown = false;
  site.faults.isToolSlow = false;
  await untilActive(site, `${loss}-slow`, seen.pendingAtBackup);
  await noteEnds(site, [...seen.underWayAtBackup, ...seen.hastyAtBackup]);
  must("late", await site.call("POST", "/agents", { name: `${loss}-late`, model: "perch/script" }));
  seen.endedAfter.push(...(await invokeMany(site, `${loss}-bot`, count)));
  seen.keys.after = await withKey(site, loss, "after");
  await noteEnds(site, seen.endedAfter);
  // The time of the hasty runs, which began before the backup, is over.
  await sleep(2500);
  site.faults.isToolSlow = true;
  seen.pendingAtLoss = await deploy(site, `${loss}-slow`, "v2");
  for (let n = 0; n < 4; n++) {
    const context = n < 2 ? {} : { session_id: "at the loss" };
    seen.underWayAtLoss.push(await inBackground(site, `${loss}-bot`, `loss ${n} slowly in 3 steps`, context));
  }
  await inBackground(site, `${loss}-late`, "late slowly in 3 steps");
  // Their first step has ended, and the second is under way.
  await sleep(2200);
}
