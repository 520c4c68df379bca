import { listRunsLeft } from "@perch/testkit/installation/engine-invocations.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { toPublicId } from "../../packages/server/src/platform/ids.ts";
import { deploymentOf, readRun, type Seen, type SeenRun, until, withKey } from "./scenario.ts";
import type { Site } from "./site.ts";
import type { Found } from "./what-is-back.ts";

const openSql = `
  select (select count(*) from invocations where status = 'running')::int as runs,
         (select count(*) from deployments where status = 'pending')::int as deployments,
         (select count(*) from deliveries where status = 'pending')::int as deliveries,
         (select count(*) from memory_clears where completed_at is null)::int as clears,
         (select count(*) from memories where embedder is null)::int as memories,
         (select count(*) from engine_tasks)::int as tasks`;

export type Open = Readonly<Record<"runs" | "deployments" | "deliveries" | "clears" | "memories" | "tasks", number>>;

const countOpen = (site: Site): Promise<Open> =>
  withClient(site.postgres.adminUrl, async (client) => (await client.query<Open>(openSql)).rows[0] as Open);

/** Waits at most this long until nothing is open, and returns what still is. */
export async function waitUntilSettled(site: Site, seconds: number): Promise<{ open: Open; engine: string[] }> {
  let open = await countOpen(site);
  const isSettled = async () => {
    open = await countOpen(site);
    return Object.values(open).every((count) => count === 0);
  };
  await until("something is open", isSettled, seconds).catch(() => undefined);
  return { open, engine: await listRunsLeft(site.engine, 30) };
}

async function describeRun(site: Site, run: SeenRun): Promise<string> {
  const { status, data } = await readRun(site, run);
  if (status === 404) return "gone";
  if (data.status === "failed")
    return String(data.error).startsWith("The engine lost this run")
      ? "failed, with a reason"
      : `failed: ${data.error}`;
  if (data.status !== "completed") return String(data.status);
  if (run.response !== undefined) return data.response === run.response ? "back" : "started again";
  return "completed";
}

/** The one word for all of them, or every different one. */
async function describeRuns(site: Site, runs: readonly SeenRun[]): Promise<string> {
  const words = new Set<string>();
  for (const run of runs) words.add(await describeRun(site, run));
  return [...words].join(" and ");
}

/** No client has seen the end of these runs, so only the calls of the model show whether they started again. */
async function describeUnderWay(site: Site, runs: readonly SeenRun[]): Promise<string> {
  const word = await describeRuns(site, runs);
  if (word !== "completed") return word;
  const firstSteps = (id: string) => site.model.calls.filter(({ requestId, step }) => requestId === id && step === 1);
  return runs.slice(0, 2).every(({ id }) => firstSteps(id).length > 1) ? "started again" : "recorded at their end";
}

async function describeDeployment(site: Site, agent: string, id: string): Promise<string> {
  const { status, data } = await deploymentOf(site, agent, id);
  if (status === 404) return "gone";
  return data.status === "superseded" ? "active" : String(data.status);
}

async function describeCreated(site: Site, paths: readonly string[]): Promise<string> {
  const statuses = await Promise.all(paths.map(async (path) => (await site.call("GET", path)).status));
  if (statuses.every((status) => status === 200)) return "back";
  return statuses.every((status) => status === 404) ? "gone" : statuses.join(" ");
}

const describeKey = async (site: Site, seen: Seen, key: "before" | "after"): Promise<string> =>
  (await withKey(site, seen.loss, key)) === seen.keys[key] ? "the same run" : "a new run";

async function describeWatch(site: Site, { loss, canaryId }: Seen): Promise<string> {
  const lookedAt = async () =>
    Date.parse((await deploymentOf(site, `${loss}-canary`, canaryId)).data?.guard_report?.checked_at ?? "");
  const since = Date.now();
  const isWatched = async () => (await lookedAt()) > since;
  return until("the guard has not looked", isWatched, 60).then(
    () => "go on",
    () => "do not go on",
  );
}

async function describeDelivery(site: Site, { deliveryEvent }: Seen): Promise<string> {
  const statuses = await withClient(site.postgres.adminUrl, async (client) => {
    const { rows } = await client.query<{ event_id: string; status: string }>(
      "select event_id, status from deliveries",
    );
    return rows.filter(({ event_id }) => toPublicId("request", event_id) === deliveryEvent).map(({ status }) => status);
  });
  const received = site.receiver.received.filter(({ event }) => event.data.request_id === deliveryEvent);
  return statuses.join() === "delivered" && received.length > 0 ? "delivered, maybe twice" : `${statuses.join()}`;
}

/** The state after the restore, in the words of the manual. */
export async function observe(site: Site, seen: Seen): Promise<Found> {
  const { loss } = seen;
  const before = ["bot", "hasty", "canary", "slow"].map((name) => `/agents/${loss}-${name}`);
  return {
    "what was created before the backup": await describeCreated(site, [...before, "/webhooks", "/me"]),
    "what was created after the backup": await describeCreated(site, [`/agents/${loss}-late`]),
    "runs that ended before the backup": await describeRuns(site, seen.endedBefore),
    "runs that began and ended after the backup": await describeRuns(site, seen.endedAfter),
    "runs under way at the backup that ended before the loss": await describeRuns(site, seen.underWayAtBackup),
    "the same, if their time is over at the restore": await describeRuns(site, seen.hastyAtBackup),
    "runs under way at the loss that began after the backup": await describeUnderWay(site, seen.underWayAtLoss),
    "deployments pending at the backup": await describeDeployment(site, `${loss}-slow`, seen.pendingAtBackup),
    "deployments pending at the loss": await describeDeployment(site, `${loss}-slow`, seen.pendingAtLoss),
    "watches of canaries": await describeWatch(site, seen),
    "deliveries pending at the backup": await describeDelivery(site, seen),
    "an Idempotency-Key of before the backup": await describeKey(site, seen, "before"),
    "an Idempotency-Key of after the backup": await describeKey(site, seen, "after"),
  };
}
