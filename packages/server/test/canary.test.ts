import { setTimeout as sleep } from "node:timers/promises";
import type { Deployment } from "@perch/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serviceUrl, withClient } from "../../../scripts/testbed/scratch-database.ts";
import { armFor } from "../src/deployments/deployment-rules.ts";
import { createServingDirectory } from "../src/deployments/serving-directory.ts";
import { parsePublicId } from "../src/platform/ids.ts";
import { ok } from "./contract-client.ts";
import { deploy, deploymentOf } from "./deploying.ts";
import { type Node, type Organisation, type Perch, usePerch } from "./harness.ts";
import { type Invoked, invokeAt } from "./invoking.ts";
import { startScriptServer } from "./script-server.ts";
import { usePerchBehindDoor } from "./worker-door.ts";

/** The live version echoes; the canary asks this server, which does as the test wants. */
let canaryDoes: (call: number) => object;
const script = await startScriptServer(() => canaryDoes(script.calls.length));
afterAll(() => script.close());
const behaves = () => ({ reply: "canary" });
const failsThreeOfTen = (call: number) =>
  call % 10 < 3 ? { fail: "for good", reply: "No." } : { reply: "canary", tokens: 2 };

type Wish = Pick<Parameters<typeof deploy>[1], "traffic_percent" | "guards">;

async function withCanary(node: Perch, wish: Wish, beforeIt?: (organisation: Organisation) => Promise<unknown>) {
  const organisation = await node.newOrganisation();
  const { call } = organisation;
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  expect(await deploy(organisation, { version: "v1" })).toMatchObject({ status: "active" });
  await beforeIt?.(organisation);
  ok(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: { model: "perch/script" } }));
  const canary = await deploy(organisation, { version: "v2", ...wish });
  expect(canary).toMatchObject({ status: "active", traffic_percent: wish.traffic_percent });
  return { organisation, canary };
}

/** Forty requests at a time, on each node in turn. */
const askMany = (nodes: readonly { url: string }[], { adminKey }: Organisation, times = 40): Promise<Invoked[]> =>
  Promise.all(
    Array.from({ length: times }, (_, i) =>
      invokeAt(nodes[i % nodes.length] as Node, adminKey, { message: "hello there" }),
    ),
  );

/** Asks until the canary is no longer active, and a moment more: the record can be read just before every node knows. */
async function askUntilEnded(nodes: readonly { url: string }[], organisation: Organisation, id: string) {
  for (;;) {
    const deployment = await deploymentOf(organisation, id);
    if (deployment.status !== "active") return sleep(50, deployment);
    if (Date.now() > Date.parse(deployment.activated_at ?? "") + 40_000) return deployment;
    await askMany(nodes, organisation);
  }
}

const secondsServed = ({ activated_at, ended_at }: Deployment) =>
  (Date.parse(ended_at ?? "") - Date.parse(activated_at ?? "")) / 1000;

const eventsOf = (perch: Perch, id: string): Promise<{ type: string; data: Deployment }[]> =>
  withClient(perch.database.adminUrl, async (client) => {
    const query = "select type, data from events where data->>'id' = $1 order by created_at, id";
    return (await client.query<{ type: string; data: Deployment }>(query, [id])).rows;
  });

const onlyEchoes = (answers: readonly Invoked[]) =>
  expect(new Set(answers.map(({ data }) => data?.response))).toEqual(new Set(["hello there"]));

const guards = { min_runs: 20, window_seconds: 20 };

describe("a canary", () => {
  const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL"), scriptUrl: script.url }, { runs: true });
  let nodes: readonly [Node, Node];
  beforeAll(async () => {
    nodes = [perch(), await perch().addNode()];
  });

  describe("of 20 %, then 40 %, then promoted", () => {
    let organisation: Organisation;
    let canary: Deployment;
    const params = () => ({ agent_id: "bot", deployment_id: canary.id });
    const lots = 5;
    const lot = 2000;
    const sessions = Array.from({ length: lots * lot }, (_, i) => `session-${i}`);
    const invoked = sessions.slice(0, 300);
    /** Which sessions get the canary, as this node's directory and the rule say under the epoch that holds now. */
    const chosenAt = async ({ server: { core } }: Node) => {
      const directory = createServingDirectory({ db: core.db, now: core.nowMs });
      const organisationId = parsePublicId("organisation", organisation.id) ?? "";
      const agent = { organisationId, agentId: parsePublicId("agent", canary.agent_id) ?? "" };
      const { epoch } = await core.gate.pass(organisationId, []);
      const serving = await directory.find(agent, "production", epoch);
      if (!serving) throw new Error("nothing is deployed");
      return sessions.filter(
        (sessionId, i) => armFor(serving, { sessionId, userId: null }, i / sessions.length).version === "v2",
      );
    };
    /** What real invokes of each session get, on one node. */
    const invokedAt = async (node: Node) => {
      const waiting = invoked.values();
      const onCanary = new Set<string>();
      const ask = async () => {
        for (const session_id of waiting) {
          const answer = await invokeAt(node, organisation.adminKey, { message: "hi", context: { session_id } });
          expect(answer.status, answer.text).toBe(200);
          if (answer.data.response === "canary") onCanary.add(session_id);
        }
      };
      await Promise.all(Array.from({ length: 12 }, ask));
      return invoked.filter((session) => onCanary.has(session));
    };
    let before: string[];

    test("by the directory and the rule, its share of 2,000 sessions is within 3 points (the middle of five lots), the same on both nodes", async () => {
      canaryDoes = behaves;
      ({ organisation, canary } = await withCanary(perch(), { traffic_percent: 20 }));
      before = await chosenAt(nodes[0]);
      expect(await chosenAt(nodes[1])).toEqual(before);
      const chosen = new Set(before);
      // Chance gives one lot of 2,000 in a thousand a share further off; three of five lots, never.
      const shares = Array.from({ length: lots }, (_, i) => {
        const on = sessions.slice(i * lot, (i + 1) * lot).filter((session) => chosen.has(session));
        return (on.length / lot) * 100;
      }).sort((a, b) => a - b);
      expect(Math.abs((shares[2] ?? 0) - 20)).toBeLessThanOrEqual(3);
    });

    test("by real invokes, 300 sessions get what the rule says, and the same on the other node", async () => {
      const said = invoked.filter((session) => before.includes(session));
      expect(said.length).toBeGreaterThan(20);
      expect(await invokedAt(nodes[0])).toEqual(said);
      expect(await invokedAt(nodes[1])).toEqual(said);
    }, 60_000);

    test("with a share of 40 % no session has left it, by the rule and by real invokes", async () => {
      ok(
        await organisation.call("PATCH /v1/agents/{agent_id}/deployments/{deployment_id}", {
          params: params(),
          body: { traffic_percent: 40 },
        }),
      );
      const after = new Set(await chosenAt(nodes[1]));
      expect(before.filter((session) => !after.has(session))).toEqual([]);
      expect(Math.abs(after.size / sessions.length - 0.4)).toBeLessThan(0.03);
      expect(await invokedAt(nodes[1])).toEqual(invoked.filter((session) => after.has(session)));
    }, 60_000);

    test("promoted, it gets every session, by the rule and by real invokes", async () => {
      const key = "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote";
      expect(ok(await organisation.call(key, { params: params() })).data).toMatchObject({ traffic_percent: 100 });
      expect(await chosenAt(nodes[1])).toEqual(sessions);
      expect(await invokedAt(nodes[1])).toEqual(invoked);
    }, 60_000);
  });

  test("whose model fails three times of ten is rolled back within its window, says why, and gets no request more", async () => {
    canaryDoes = failsThreeOfTen;
    const wish = { traffic_percent: 50, guards: { ...guards, max_error_rate_increase: 0.1 } };
    const { organisation, canary } = await withCanary(perch(), wish);
    const ended = await askUntilEnded(nodes, organisation, canary.id);
    onlyEchoes(await askMany(nodes, organisation));
    expect(ended.status).toBe("rolled_back");
    expect(secondsServed(ended)).toBeLessThan(guards.window_seconds);
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
      canaryDoes = () => step;
      const { organisation, canary } = await withCanary(perch(), {
        traffic_percent: 50,
        guards: { ...guards, ...rule },
      });
      const ended = await askUntilEnded(nodes, organisation, canary.id);
      expect(ended).toMatchObject({ status: "rolled_back", guard_report: { verdict: "rolled_back" } });
      expect(ended.guard_report?.reason).toMatch(reason);
      expect(secondsServed(ended)).toBeLessThan(guards.window_seconds);
      onlyEchoes(await askMany(nodes, organisation));
    },
    60_000,
  );

  test("that is healthy stays past its window, and its report has the figures of its invocations and the live one's since", async () => {
    canaryDoes = (call) => ({ reply: "canary", tokens: 3 + (call % 3) });
    const rules = { max_error_rate_increase: 0.1, max_p95_ratio: 100, max_mean_tokens_ratio: 2 };
    const wish = { traffic_percent: 50, guards: { ...rules, min_runs: 20, window_seconds: 10 } };
    const { organisation, canary } = await withCanary(perch(), wish, (early) => askMany(nodes, early));
    for (let i = 0; i < 3; i++) await askMany(nodes, organisation);
    const looked = async () => Date.parse((await deploymentOf(organisation, canary.id)).guard_report?.checked_at ?? "");
    const windowEndsAt = Date.parse(canary.activated_at ?? "") + 10_000;
    await expect.poll(looked, { timeout: 20_000, interval: 200 }).toBeGreaterThanOrEqual(windowEndsAt);
    const after = await deploymentOf(organisation, canary.id);
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
      const place = 0.95 * (times.length - 1);
      const [low, high] = [times[Math.floor(place)] ?? 0, times[Math.ceil(place)] ?? 0];
      const round = (value: number) => Math.round(value * 10) / 10;
      return {
        runs: runs.length,
        error_rate: 0,
        p95_ms: round(low + (high - low) * (place % 1)),
        mean_tokens: round(runs.reduce((sum, { tokens_used }) => sum + tokens_used, 0) / runs.length),
      };
    };
    const [canaryFigures, live] = [figures("v2"), figures("v1")];
    expect(canaryFigures.runs + live.runs).toBe(120);
    expect(after.guard_report).toMatchObject({ verdict: "healthy", reason: null, canary: canaryFigures, live });
  }, 60_000);
});

describe("the watch over a canary", () => {
  const behindDoor = usePerchBehindDoor({ PERCH_SCRIPT_URL: script.url });
  const wish = { traffic_percent: 50, guards: { ...guards, max_error_rate_increase: 0.1 } };

  test("outlives the worker, killed between two looks: the other one rolls the bad canary back", async () => {
    const { perch, haveWorkers, loseWorker } = behindDoor();
    canaryDoes = failsThreeOfTen;
    await haveWorkers(2);
    const { organisation, canary } = await withCanary(perch, wish);
    await expect
      .poll(async () => (await deploymentOf(organisation, canary.id)).guard_report?.verdict, { timeout: 10_000 })
      .toBe("waiting");
    await loseWorker("SIGKILL");
    expect(await askUntilEnded([perch], organisation, canary.id)).toMatchObject({ status: "rolled_back" });
    onlyEchoes(await askMany([perch], organisation));
  }, 90_000);

  test("outlives the worker, killed in the middle of a rollback: the other one does it, once", async () => {
    const { perch, haveWorkers, loseWorker } = behindDoor();
    canaryDoes = failsThreeOfTen;
    await haveWorkers(2);
    const { organisation, canary } = await withCanary(perch, wish);
    await withClient(perch.database.adminUrl, async (client) => {
      await client.query("begin");
      await client.query("select 1 from agents where id = $1 for update", [parsePublicId("agent", canary.agent_id)]);
      const isWaiting = async () => {
        const { rows } = await client.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows.length > 0;
      };
      for (let i = 0; i < 3; i++) await askMany([perch], organisation);
      await expect.poll(isWaiting, { timeout: 10_000 }).toBe(true);
      await loseWorker("SIGKILL");
      await sleep(100);
      await client.query("commit");
    });
    await expect
      .poll(async () => (await deploymentOf(organisation, canary.id)).status, { timeout: 30_000 })
      .toBe("rolled_back");
    await sleep(50);
    onlyEchoes(await askMany([perch], organisation));
    expect((await eventsOf(perch, canary.id)).map(({ type }) => type)).toEqual([
      "deployment.activated",
      "deployment.rolled_back",
    ]);
  }, 90_000);
});
