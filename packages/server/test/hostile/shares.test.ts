import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createScriptedAgent } from "../support/invoke-calls.ts";

const perch = usePerch();

const update = (organisation: Organisation, instructions: string) =>
  organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: { instructions } });

const list = (organisation: Organisation) => organisation.call("GET /v1/agents", { query: {} });

async function isReady(): Promise<boolean> {
  return (await fetch(`${perch().url}/readyz`, { signal: AbortSignal.timeout(2000) })).ok;
}

/** Calls until `until` has settled; returns the longest time and the statuses. */
async function measureMeanwhile(call: () => Promise<{ readonly status: number }>, until: Promise<unknown>) {
  let isOver = false;
  void until.finally(() => {
    isOver = true;
  });
  const statuses = new Set<number>();
  let longestMs = 0;
  while (!isOver) {
    const startedAt = performance.now();
    statuses.add((await call()).status);
    longestMs = Math.max(longestMs, performance.now() - startedAt);
    await sleep(100);
  }
  return { longestMs, statuses: [...statuses] };
}

describe("an organisation whose requests all wait in the database", () => {
  test("delays no other organisation, and the node stays ready", async () => {
    const [bad, good] = [await perch().createOrganisation("pro"), await perch().createOrganisation("free")];
    await createScriptedAgent(bad, [{ reply: "hello" }]);
    const answers = await withClient(perch().database.adminUrl, async (client) => {
      await client.query("begin");
      await client.query("select from agents where organisation_id = $1 for update", [
        parsePublicId("organisation", bad.id),
      ]);
      const changes = Promise.all(Array.from({ length: 40 }, (_, i) => update(bad, `change ${i}`)));
      const held = sleep(5500);
      const [{ longestMs, statuses }, ready] = await Promise.all([
        measureMeanwhile(() => list(good), held),
        measureMeanwhile(async () => ({ status: (await isReady()) ? 200 : 503 }), held),
      ]);
      expect(statuses).toEqual([200]);
      // Those who wait for the lock wait for 5 s.
      expect(longestMs).toBeLessThan(4000);
      expect(ready.statuses).toEqual([200]);
      await client.query("rollback");
      return changes;
    });
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(JSON.stringify(refused[0]?.body)).toContain("too many database transactions");
    const metrics = await perch().server.core.telemetry.read();
    expect(metrics.text).toMatch(/perch_share_refusals_total\{share="database_transactions"\} [1-9]/);
  }, 30_000);
});

describe("an organisation that opens as many streams as it can", () => {
  test("gets its share, learns when to come back, and gets another slot when one ends", async () => {
    const [bad, good] = [await perch().createOrganisation("free"), await perch().createOrganisation("free")];
    const open = async ({ adminKey }: Organisation) => {
      const ended = new AbortController();
      const response = await fetch(`${perch().url}/v1/agents/bot/logs`, {
        headers: { authorization: `Bearer ${adminKey}`, accept: "text/event-stream" },
        signal: ended.signal,
      });
      return { response, end: () => ended.abort() };
    };
    for (const organisation of [bad, good]) await createScriptedAgent(organisation, [{ reply: "hello" }]);
    const streams = await Promise.all(Array.from({ length: 25 }, () => open(bad)));
    const opened = streams.filter(({ response }) => response.status === 200);
    const refused = streams.filter(({ response }) => response.status === 429);
    expect([opened.length, refused.length]).toEqual([20, 5]);
    expect(await refused[0]?.response.text()).toContain(
      "too many event streams under way (20 at once are allowed here)",
    );
    const other = await open(good);
    expect(other.response.status).toBe(200);
    opened[0]?.end();
    await expect.poll(async () => (await open(bad)).response.status).toBe(200);
    for (const { end } of [...streams, other]) end();
  });
});

/** The memory of the process after a full garbage collection. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

describe("an organisation with many large agents", () => {
  test("fills only its part of the cache", async () => {
    const bad = await perch().createOrganisation("pro");
    const body = (name: string) => ({
      name,
      model: "perch/echo",
      tools: [
        {
          type: "http" as const,
          name: "large",
          description: "",
          method: "GET" as const,
          url: "http://127.0.0.1:9/",
          // Characters that need two bytes each in memory.
          parameters: { type: "object" as const, description: `${name} ${"\u0416".repeat(125_000)}` },
        },
      ],
    });
    const names = Array.from({ length: 60 }, (_, i) => `large-${i}`);
    for (const name of names) expect((await bad.call("POST /v1/agents", { body: body(name) })).status).toBe(201);
    const get = (name: string) => bad.call("GET /v1/agents/{agent_id}", { params: { agent_id: name } });
    await get("large-0");
    const before = heapBytes();
    for (const name of names) expect((await get(name)).status).toBe(200);
    const grownMegabytes = (heapBytes() - before) / 1e6;
    console.log(`60 agents of 0.25 MB: the heap grew by ${grownMegabytes.toFixed(1)} MB`);
    expect(grownMegabytes).toBeLessThan(20);
  }, 60_000);
});
