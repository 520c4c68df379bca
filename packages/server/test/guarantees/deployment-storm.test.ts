import { setTimeout as sleep } from "node:timers/promises";
import type { Deployment } from "@perch/contract";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { send } from "../support/contract-client.ts";
import { deploy, setDraftReply } from "../support/deployment-calls.ts";
import { type ApiNode, type Organisation, usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../support/invoke-calls.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
let nodes: readonly ApiNode[];
beforeAll(async () => {
  nodes = [perch(), await perch().addApiNode()];
});

const labels = ["v1", "v2", "v3", "v4", "v5"];
const newLabel = "v6";
/** The full form: `TEST_STORM_OPERATIONS=200`. */
const operations = Number(process.env.TEST_STORM_OPERATIONS ?? 80);
const half = operations / 2;
const loops = 8;

interface Row {
  readonly id: string;
  readonly asked: number;
  readonly live: number | null;
  readonly version: string;
  readonly status: Deployment["status"];
  readonly origin: string;
  readonly rollback_of: string | null;
  readonly activated_at: Date | null;
  readonly ended_at: Date | null;
  readonly error: string | null;
}

interface SentInvocation {
  readonly startedAtMs: number;
  readonly status: number;
  readonly text: string;
  readonly requestId: string | undefined;
  readonly response: string | undefined;
}

/** The first half is sent concurrently; the other half one by one while the first is processed, so that its last ones become live. */
const isRollback = (i: number): boolean => (i < half ? i % 4 === 0 : i % 20 === 0 && i <= 0.7 * operations);

const nodeAt = (i: number): ApiNode => nodes[i % nodes.length] ?? perch();

/** Samples how many deployments are live, on a separate connection. */
async function sampleWhile(work: () => Promise<void>): Promise<number[]> {
  const client = new pg.Client({ connectionString: perch().database.adminUrl });
  await client.connect();
  const samples: number[] = [];
  let isDone = false;
  const sampling = (async () => {
    while (!isDone) {
      const { rows } = await client.query<{ live: number }>(
        "select count(*)::int as live from deployments where environment = 'production' and status = 'active' and traffic_percent = 100",
      );
      samples.push(rows[0]?.live ?? -1);
      await sleep(3);
    }
  })();
  try {
    await work();
  } finally {
    isDone = true;
    await sampling;
    await client.end();
  }
  return samples;
}

/** Invokes continuously on both nodes; half of the loops use a session each. */
async function invokeWhile(key: string, work: () => Promise<void>): Promise<SentInvocation[]> {
  const asked: SentInvocation[] = [];
  let isDone = false;
  const asking = Array.from({ length: loops }, async (_, loop) => {
    const context = loop % 2 === 0 ? {} : { context: { session_id: `session ${loop}` } };
    for (let i = 0; !isDone; i++) {
      const startedAtMs = performance.now();
      const { status, text, data } = await invokeAgent(nodeAt(loop + i), key, { message: "hello", ...context });
      asked.push({ startedAtMs, status, text, requestId: data?.request_id, response: data?.response });
      await sleep(10);
    }
  });
  try {
    await work();
  } finally {
    isDone = true;
    await Promise.all(asking);
  }
  return asked;
}

interface Accepted {
  readonly deployment: Deployment;
  readonly returnedAtMs: number;
}

/** Deploys or rolls back; undefined if a rollback was refused because there was nothing to roll back to. */
async function deployOrRollBack(key: string, i: number, first: Deployment): Promise<Accepted | undefined> {
  if (i >= half) await sleep((i - half) * 20);
  const { url } = nodeAt(i >> 1);
  const params = { agent_id: "bot" };
  if (!isRollback(i)) {
    const label = i % 7 === 0 ? newLabel : labels[i % labels.length];
    const body = { environment: "production", version: label, redeploy: label !== newLabel } as never;
    const answer = await send(url, key, "POST /v1/agents/{agent_id}/deployments", { params, body });
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
    return { deployment: (answer.body as { data: Deployment }).data, returnedAtMs: performance.now() };
  }
  const query = { environment: "production", status: "active" } as never;
  const listed = await send(url, key, "GET /v1/agents/{agent_id}/deployments", { params, query });
  const live = (listed.body as { data: Deployment[] }).data[0] ?? first;
  const deployment_id = i % 8 === 0 ? first.id : live.id;
  const answer = await send(url, key, "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", {
    params: { ...params, deployment_id },
  });
  if (answer.status === 409) return undefined;
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
  return { deployment: (answer.body as { data: Deployment }).data, returnedAtMs: performance.now() };
}

const history = (): Promise<Row[]> =>
  withClient(perch().database.adminUrl, async (client) => {
    const { rows } = await client.query<Row>(
      "select *, creation_order::int as asked, live_order::int as live from deployments where environment = 'production' order by creation_order",
    );
    return rows;
  });

/**
 * Creates the versions in staging, which is not invoked. The storm redeploys them, and leaves the last label in the
 * draft.
 */
async function createVersions(organisation: Organisation): Promise<void> {
  for (const version of labels) {
    await setDraftReply(organisation, version);
    expect(await deploy(organisation, { environment: "staging", version })).toMatchObject({ status: "active" });
  }
  await setDraftReply(organisation, newLabel);
}

interface StormResult {
  readonly samples: readonly number[];
  readonly asked: readonly SentInvocation[];
  readonly accepted: readonly Accepted[];
  readonly rows: readonly Row[];
  readonly firstLiveAtMs: number;
}

async function runStorm(): Promise<StormResult> {
  const organisation = await perch().createOrganisation();
  const { adminKey } = organisation;
  await createScriptedAgent(organisation, [{ reply: "draft" }]);
  await createVersions(organisation);
  const accepted: Accepted[] = [];
  let firstLiveAtMs = Number.POSITIVE_INFINITY;
  let asked: SentInvocation[] = [];
  const samples = await sampleWhile(async () => {
    asked = await invokeWhile(adminKey, async () => {
      const first = await deploy(organisation, { version: "v1", redeploy: true });
      firstLiveAtMs = performance.now();
      accepted.push({ deployment: first, returnedAtMs: firstLiveAtMs });
      for (const from of [0, half]) {
        const results = await Promise.all(
          Array.from({ length: half }, (_, i) => deployOrRollBack(adminKey, from + i, first)),
        );
        accepted.push(...results.filter((one) => one !== undefined));
      }
      const pending = async () => (await history()).filter(({ status }) => status === "pending").length;
      await expect.poll(pending, { timeout: 60_000, interval: 100 }).toBe(0);
    });
  });
  return { samples, asked, accepted, rows: await history(), firstLiveAtMs };
}

describe(`${operations} concurrent deployments and rollbacks of one environment, with invocations on two nodes`, () => {
  let storm: StormResult;
  const wereLive = () => storm.rows.filter(({ live }) => live !== null).sort((a, b) => Number(a.live) - Number(b.live));
  const rowOf = (publicId: string) => storm.rows.find(({ id }) => id === parsePublicId("deployment", publicId));

  test("from the first on, exactly one is live at every moment, and none is pending at the end", async () => {
    storm = await runStorm();
    const { samples, rows } = storm;
    const fromFirst = samples.slice(samples.findIndex((live) => live > 0));
    expect(fromFirst.length).toBeGreaterThan(operations);
    expect(new Set(fromFirst)).toEqual(new Set([1]));
    const count = (wanted: Row["status"]) => rows.filter(({ status }) => status === wanted).length;
    expect([count("active"), count("pending")]).toEqual([1, 0]);
  }, 120_000);

  test("the history has every accepted operation, and no other", () => {
    const { accepted, rows } = storm;
    expect(accepted.length).toBeGreaterThan(operations * 0.85);
    expect(accepted.map(({ deployment }) => parsePublicId("deployment", deployment.id)).sort()).toEqual(
      rows.map(({ id }) => id).sort(),
    );
    for (const { deployment } of accepted) expect(rowOf(deployment.id)).toMatchObject({ version: deployment.version });
  });

  test("deployments became live in the order of the requests, each ended by the next, and the reason is recorded", () => {
    const order = wereLive();
    const rollbacks = order.filter(({ rollback_of }) => rollback_of !== null);
    expect(rollbacks.length).toBeGreaterThan(operations / 20);
    expect(order.length - rollbacks.length).toBeGreaterThan(operations / 20);
    for (const [i, row] of order.entries()) {
      const next = order[i + 1];
      if (!next) {
        expect(row).toMatchObject({ status: "active", ended_at: null });
        continue;
      }
      expect(next.live).toBeGreaterThan(row.live ?? Number.NaN);
      expect(next.asked).toBeGreaterThan(row.asked);
      expect(row.status).toBe(next.rollback_of === null ? "superseded" : "rolled_back");
      if (next.rollback_of !== null) expect(next.rollback_of).toBe(row.id);
      expect(row.ended_at?.getTime()).toBeLessThanOrEqual(next.activated_at?.getTime() ?? Number.NaN);
      expect(row.ended_at?.getTime()).toBeGreaterThanOrEqual(row.activated_at?.getTime() ?? Number.NaN);
    }
  });

  test("the last one requested is live; one that never became live records the rollback that superseded it", () => {
    const { rows } = storm;
    const order = wereLive();
    expect(rows.at(-1)).toEqual(order.at(-1));
    const failed = rows.filter(({ live }) => live === null);
    for (const row of failed) {
      expect(row).toMatchObject({ status: "failed", activated_at: null, ended_at: expect.any(Date) });
      expect(row.error).toMatch(/^The environment was rolled back after this deployment was created/);
      const overtakenBy = rows.find(({ asked, rollback_of }) => rollback_of !== null && asked > row.asked);
      expect(overtakenBy).toBeDefined();
    }
  });

  test("a rollback restores the version of a deployment that was live before", () => {
    const order = wereLive();
    const rollbacks = order.filter(({ rollback_of }) => rollback_of !== null);
    for (const row of rollbacks) {
      const origin = order.find(({ id }) => id === row.origin);
      expect(origin).toMatchObject({ version: row.version, rollback_of: null });
      expect(origin?.live).toBeLessThan(row.live ?? Number.NaN);
    }
  });

  test("each deployment published one event when it became live or failed, and one if it was rolled back", async () => {
    const events = await withClient(perch().database.adminUrl, async (client) => {
      const { rows } = await client.query<{ type: string; id: string }>(
        "select type, data->>'id' as id from events where type like 'deployment.%' and data->>'environment' = 'production'",
      );
      return rows;
    });
    const published = events.map(({ type, id }) => `${parsePublicId("deployment", id)} ${type}`).sort();
    const kindsOf = ({ live, status }: Row) => [
      live === null ? "deployment.failed" : "deployment.activated",
      ...(status === "rolled_back" ? ["deployment.rolled_back"] : []),
    ];
    expect(published).toEqual(storm.rows.flatMap((row) => kindsOf(row).map((kind) => `${row.id} ${kind}`)).sort());
  });

  test("no invocation failed; each response matches its record, and none ran a version that a rollback had ended before it was sent", async () => {
    const { asked, accepted, rows, firstLiveAtMs } = storm;
    expect(asked.length).toBeGreaterThan(operations);
    expect(asked.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
    const records = await withClient(perch().database.adminUrl, async (client) => {
      const found = await client.query<{ id: string; version: string | null; deployment_id: string | null }>(
        "select id, version, deployment_id from invocations",
      );
      return new Map(found.rows.map((row) => [row.id, row]));
    });
    const byId = new Map(rows.map((row) => [row.id, row]));
    const rollbacks = accepted.flatMap(({ deployment, returnedAtMs }) => {
      const row = rowOf(deployment.id);
      return row?.rollback_of ? [{ live: Number(row.live), returnedAtMs }] : [];
    });
    for (const { requestId = "", response, startedAtMs } of asked) {
      const record = records.get(parsePublicId("request", requestId) ?? "");
      // The draft, which replies with the new label and has no version, runs only until the first deployment.
      if (record?.deployment_id === null) {
        expect([record.version, response, startedAtMs < firstLiveAtMs]).toEqual([null, newLabel, true]);
        continue;
      }
      const ran = byId.get(record?.deployment_id ?? "");
      expect([record?.version, ran?.version]).toEqual([response, response]);
      const since = rollbacks.filter(({ returnedAtMs }) => returnedAtMs < startedAtMs);
      expect(ran?.live).toBeGreaterThanOrEqual(Math.max(0, ...since.map(({ live }) => live)));
    }
  });
});
