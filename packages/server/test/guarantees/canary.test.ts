import { setTimeout as sleep } from "node:timers/promises";
import type { Deployment } from "@perch/contract";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { chooseArm } from "../../src/resources/deployments/deployment-rules.ts";
import { createServingDirectory } from "../../src/resources/deployments/serving-directory.ts";
import { ok } from "../support/contract-client.ts";
import { deploy, getDeployment } from "../support/deployment-calls.ts";
import { type ApiNode, type Organisation, type Perch, usePerch } from "../support/harness.ts";
import { type InvokeResponse, invokeAgent } from "../support/invoke-calls.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

/** The live version echoes; the canary calls this server, whose replies the test sets. */
let canaryReply: (call: number) => object;
const script = await startScriptServer(() => canaryReply(script.calls.length));
afterAll(() => script.close());
const replyNormally = () => ({ reply: "canary" });
const failsThreeOfTen = (call: number) =>
  call % 10 < 3 ? { fail: "permanent", reply: "No." } : { reply: "canary", tokens: 2 };

type CanaryOptions = Pick<Parameters<typeof deploy>[1], "traffic_percent" | "guards">;

async function createOrganisationWithCanary(
  node: Perch,
  options: CanaryOptions,
  beforeCanary?: (organisation: Organisation) => Promise<unknown>,
) {
  const organisation = await node.createOrganisation();
  const { call } = organisation;
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  expect(await deploy(organisation, { version: "v1" })).toMatchObject({ status: "active" });
  await beforeCanary?.(organisation);
  ok(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: { model: "perch/script" } }));
  const canary = await deploy(organisation, { version: "v2", ...options });
  expect(canary).toMatchObject({ status: "active", traffic_percent: options.traffic_percent });
  return { organisation, canary };
}

/** Sends forty invokes at once, to each node in turn. */
const invokeMany = (
  nodes: readonly { url: string }[],
  { adminKey }: Organisation,
  times = 40,
): Promise<InvokeResponse[]> =>
  Promise.all(
    Array.from({ length: times }, (_, i) =>
      invokeAgent(nodes[i % nodes.length] as ApiNode, adminKey, { message: "hello there" }),
    ),
  );

/**
 * Invokes until the canary is no longer active, then waits briefly, because its record may change just before every
 * node has noticed.
 */
async function invokeUntilEnded(nodes: readonly { url: string }[], organisation: Organisation, id: string) {
  for (;;) {
    const deployment = await getDeployment(organisation, id);
    if (deployment.status !== "active") return sleep(50, deployment);
    if (Date.now() > Date.parse(deployment.activated_at ?? "") + 40_000) return deployment;
    await invokeMany(nodes, organisation);
  }
}

const servedSeconds = ({ activated_at, ended_at }: Deployment) =>
  (Date.parse(ended_at ?? "") - Date.parse(activated_at ?? "")) / 1000;

const eventsOf = (perch: Perch, id: string): Promise<{ type: string; data: Deployment }[]> =>
  withClient(perch.database.adminUrl, async (client) => {
    const query = "select type, data from events where data->>'id' = $1 order by created_at, id";
    return (await client.query<{ type: string; data: Deployment }>(query, [id])).rows;
  });

const expectOnlyEchoes = (answers: readonly InvokeResponse[]) =>
  expect(new Set(answers.map(({ data }) => data?.response))).toEqual(new Set(["hello there"]));

const guards = { min_runs: 20, window_seconds: 20 };

describe("a canary", () => {
  const perch = usePerch(
    { valkeyUrl: serviceUrl("PERCH_VALKEY_URL"), scriptModelUrl: script.url },
    { withWorker: true },
  );
  let nodes: readonly [ApiNode, ApiNode];
  beforeAll(async () => {
    nodes = [perch(), await perch().addApiNode()];
  });

  describe("of 20 %, then 40 %, then promoted", () => {
    let organisation: Organisation;
    let canary: Deployment;
    const params = () => ({ agent_id: "bot", deployment_id: canary.id });
    const batchCount = 5;
    const batchSize = 2000;
    const sessions = Array.from({ length: batchCount * batchSize }, (_, i) => `session-${i}`);
    const invoked = sessions.slice(0, 50);
    /** The sessions that get the canary, computed from this node's directory and the rule under the current epoch. */
    const canarySessionsByRule = async ({ server: { core } }: ApiNode) => {
      const directory = createServingDirectory({
        ...core,
        draftByDefault: false,
        cacheBytes: core.shares.cacheBytes,
        now: core.nowMs,
      });
      const organisationId = parsePublicId("organisation", organisation.id) ?? "";
      const agent = { organisationId, agentId: parsePublicId("agent", canary.agent_id) ?? "" };
      const { epoch } = await core.shared.gate.pass(organisationId, []);
      const serving = await directory.find(agent, "production", epoch);
      if (!serving) throw new Error("nothing is deployed");
      return sessions.filter(
        (sessionId, i) => chooseArm(serving, { sessionId, userId: null }, i / sessions.length).version === "v2",
      );
    };
    /** The sessions whose invocations on this node were answered by the canary. */
    const canarySessionsByInvoke = async (node: ApiNode) => {
      const waiting = invoked.values();
      const onCanary = new Set<string>();
      const ask = async () => {
        for (const session_id of waiting) {
          const answer = await invokeAgent(node, organisation.adminKey, { message: "hi", context: { session_id } });
          expect(answer.status, answer.text).toBe(200);
          if (answer.data.response === "canary") onCanary.add(session_id);
        }
      };
      await Promise.all(Array.from({ length: 12 }, ask));
      return invoked.filter((session) => onCanary.has(session));
    };
    let before: string[];

    test("its share of 2,000 sessions is within 3 percentage points (median of five batches), and equal on both nodes", async () => {
      canaryReply = replyNormally;
      ({ organisation, canary } = await createOrganisationWithCanary(perch(), { traffic_percent: 20 }));
      before = await canarySessionsByRule(nodes[0]);
      expect(await canarySessionsByRule(nodes[1])).toEqual(before);
      const chosen = new Set(before);
      // By chance one batch of 2,000 in a thousand is further off; three of five practically never are.
      const shares = Array.from({ length: batchCount }, (_, i) => {
        const on = sessions.slice(i * batchSize, (i + 1) * batchSize).filter((session) => chosen.has(session));
        return (on.length / batchSize) * 100;
      }).sort((a, b) => a - b);
      expect(Math.abs((shares[2] ?? 0) - 20)).toBeLessThanOrEqual(3);
    });

    test("50 sessions that invoke the agent get the version that the rule computes, on both nodes", async () => {
      const expected = invoked.filter((session) => before.includes(session));
      expect(expected.length).toBeGreaterThan(0);
      expect(await canarySessionsByInvoke(nodes[0])).toEqual(expected);
      expect(await canarySessionsByInvoke(nodes[1])).toEqual(expected);
    }, 60_000);

    test("at 40 % every session of the first 20 % is still on the canary", async () => {
      ok(
        await organisation.call("PATCH /v1/agents/{agent_id}/deployments/{deployment_id}", {
          params: params(),
          body: { traffic_percent: 40 },
        }),
      );
      const after = new Set(await canarySessionsByRule(nodes[1]));
      expect(before.filter((session) => !after.has(session))).toEqual([]);
      expect(Math.abs(after.size / sessions.length - 0.4)).toBeLessThan(0.03);
      expect(await canarySessionsByInvoke(nodes[1])).toEqual(invoked.filter((session) => after.has(session)));
    }, 60_000);

    test("once promoted, it gets every session", async () => {
      const key = "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote";
      expect(ok(await organisation.call(key, { params: params() })).data).toMatchObject({ traffic_percent: 100 });
      expect(await canarySessionsByRule(nodes[1])).toEqual(sessions);
      expect(await canarySessionsByInvoke(nodes[1])).toEqual(invoked);
    }, 60_000);
  });

  test("whose model fails three times in ten is rolled back within its window, records why, and gets no further request", async () => {
    verifies("deployment.guards");
    canaryReply = failsThreeOfTen;
    const options = { traffic_percent: 50, guards: { ...guards, max_error_rate_increase: 0.1 } };
    const { organisation, canary } = await createOrganisationWithCanary(perch(), options);
    const ended = await invokeUntilEnded(nodes, organisation, canary.id);
    expectOnlyEchoes(await invokeMany(nodes, organisation));
    expect(ended.status).toBe("rolled_back");
    expect(servedSeconds(ended)).toBeLessThan(guards.window_seconds);
    const { canary: of, live, verdict, reason } = ended.guard_report ?? expect.fail("no report");
    expect(verdict).toBe("rolled_back");
    expect(of.runs).toBeGreaterThanOrEqual(guards.min_runs);
    expect([of.error_rate > 0.15, live.error_rate]).toEqual([true, 0]);
    const percent = Math.round(of.error_rate * 1000) / 10;
    expect(reason).toBe(
      `Error rate ${percent} % of ${of.runs} runs, against 0 % of ${live.runs} (max_error_rate_increase 0.1).`,
    );
    expect(ended.error).toBe(`Rolled back by its guards. ${reason}`);
    const events = await eventsOf(perch(), canary.id);
    expect(events.map(({ type }) => type)).toEqual(["deployment.activated", "deployment.rolled_back"]);
    expect(events[1]?.data).toEqual(ended);
    const audited = await organisation.call("GET /v1/audit-log", { query: { operation: "rollBackCanary" } as never });
    expect(ok(audited).data).toMatchObject([
      { actor: "system", key_id: null, resource_type: "deployment", resource: canary.id, outcome: "changed" },
    ]);
    const all = ok(
      await organisation.call("GET /v1/agents/{agent_id}/deployments", {
        params: { agent_id: "bot" },
        query: { status: "active" } as never,
      }),
    );
    expect(all.data).toMatchObject([{ version: "v1", traffic_percent: 100 }]);
  }, 60_000);

  test.each([
    ["slower", { max_p95_ratio: 2 }, { reply: "canary", delay_ms: 1500 }, /^95th percentile .* \(max_p95_ratio 2\)\.$/],
    [
      "dearer",
      { max_mean_tokens_ratio: 3 },
      { reply: "canary", tokens: 40 },
      /^Mean tokens 40 of \d+ runs, against 4 of \d+ \(max_mean_tokens_ratio 3\)\.$/,
    ],
  ])(
    "that is %s than its guard allows is rolled back within its window",
    async (_, rule, step, reason) => {
      canaryReply = () => step;
      const { organisation, canary } = await createOrganisationWithCanary(perch(), {
        traffic_percent: 50,
        guards: { ...guards, ...rule },
      });
      const ended = await invokeUntilEnded(nodes, organisation, canary.id);
      expect(ended).toMatchObject({ status: "rolled_back", guard_report: { verdict: "rolled_back" } });
      expect(ended.guard_report?.reason).toMatch(reason);
      expect(servedSeconds(ended)).toBeLessThan(guards.window_seconds);
      expectOnlyEchoes(await invokeMany(nodes, organisation));
    },
    60_000,
  );

  test("that is healthy stays live past its window, and its report compares its invocations with those of the live version", async () => {
    canaryReply = (call) => ({ reply: "canary", tokens: 3 + (call % 3) });
    const rules = { max_error_rate_increase: 0.1, max_p95_ratio: 100, max_mean_tokens_ratio: 2 };
    const options = { traffic_percent: 50, guards: { ...rules, min_runs: 20, window_seconds: 10 } };
    const { organisation, canary } = await createOrganisationWithCanary(perch(), options, (early) =>
      invokeMany(nodes, early),
    );
    for (let i = 0; i < 3; i++) await invokeMany(nodes, organisation);
    const lastCheckedAt = async () =>
      Date.parse((await getDeployment(organisation, canary.id)).guard_report?.checked_at ?? "");
    const windowEndsAt = Date.parse(canary.activated_at ?? "") + 10_000;
    await expect.poll(lastCheckedAt, { timeout: 20_000, interval: 200 }).toBeGreaterThanOrEqual(windowEndsAt);
    const after = await getDeployment(organisation, canary.id);
    expect(after).toMatchObject({ status: "active", traffic_percent: 50, ended_at: null, error: null });
    const list = async (offset: number) =>
      ok(
        await organisation.call("GET /v1/agents/{agent_id}/invocations", {
          params: { agent_id: "bot" },
          query: { limit: 100, offset } as never,
        }),
      ).data;
    const since = [...(await list(0)), ...(await list(100))].filter(
      ({ created_at }) => created_at >= (canary.activated_at ?? ""),
    );
    const figures = (version: string) => {
      const runs = since.filter((run) => run.version === version);
      const times = runs.map(({ duration_ms }) => duration_ms ?? 0).sort((a, b) => a - b);
      const position = 0.95 * (times.length - 1);
      const [low, high] = [times[Math.floor(position)] ?? 0, times[Math.ceil(position)] ?? 0];
      const round = (value: number) => Math.round(value * 10) / 10;
      return {
        runs: runs.length,
        error_rate: 0,
        p95_ms: round(low + (high - low) * (position % 1)),
        mean_tokens: round(runs.reduce((sum, { tokens_used }) => sum + tokens_used, 0) / runs.length),
      };
    };
    const [canaryFigures, live] = [figures("v2"), figures("v1")];
    expect(canaryFigures.runs + live.runs).toBe(120);
    expect(after.guard_report).toMatchObject({ verdict: "healthy", reason: null, canary: canaryFigures, live });
  }, 60_000);
});

describe("the monitor of a canary", () => {
  const perchWithWorkers = usePerchWithWorkerProcesses({ PERCH_SCRIPT_MODEL_URL: script.url });
  const options = { traffic_percent: 50, guards: { ...guards, max_error_rate_increase: 0.1 } };

  test("survives a worker killed between two checks: another worker rolls the bad canary back", async () => {
    const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
    canaryReply = failsThreeOfTen;
    await ensureWorkers(2);
    const { organisation, canary } = await createOrganisationWithCanary(perch, options);
    await expect
      .poll(async () => (await getDeployment(organisation, canary.id)).guard_report?.verdict, { timeout: 10_000 })
      .toBe("waiting");
    await endActiveWorker("SIGKILL");
    expect(await invokeUntilEnded([perch], organisation, canary.id)).toMatchObject({ status: "rolled_back" });
    expectOnlyEchoes(await invokeMany([perch], organisation));
  }, 90_000);

  test("survives a worker killed during a rollback: another worker completes it, once", async () => {
    const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
    canaryReply = failsThreeOfTen;
    await ensureWorkers(2);
    const { organisation, canary } = await createOrganisationWithCanary(perch, options);
    await withClient(perch.database.adminUrl, async (client) => {
      await client.query("begin");
      await client.query("select 1 from agents where id = $1 for update", [parsePublicId("agent", canary.agent_id)]);
      const isWaiting = async () => {
        const { rows } = await client.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows.length > 0;
      };
      for (let i = 0; i < 3; i++) await invokeMany([perch], organisation);
      await expect.poll(isWaiting, { timeout: 10_000 }).toBe(true);
      await endActiveWorker("SIGKILL");
      await sleep(100);
      await client.query("commit");
    });
    await expect
      .poll(async () => (await getDeployment(organisation, canary.id)).status, { timeout: 30_000 })
      .toBe("rolled_back");
    await sleep(50);
    expectOnlyEchoes(await invokeMany([perch], organisation));
    expect((await eventsOf(perch, canary.id)).map(({ type }) => type)).toEqual([
      "deployment.activated",
      "deployment.rolled_back",
    ]);
  }, 90_000);
});
