import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { partOf } from "../../src/fairness/shares.ts";
import { usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent, waitForRunRecord } from "../support/invoke-calls.ts";

const script = await startScriptServer((call) => ({
  reply: "done",
  delay_ms: lastUserMessage(call) === "hold" ? 60_000 : 0,
}));
const perch = usePerch({ scriptModelUrl: script.url }, { withWorker: true });
afterAll(() => script.close());

/** More than the connections that a process opens to wait for runs. */
const waitingRuns = 1060;
const waitSeconds = 12;

describe("one organisation waits for more runs than there are connections for waiting", () => {
  test("another organisation's run takes no longer, and those beyond its share are answered with 202 at once", async () => {
    const neighbour = await perch().createOrganisation("enterprise");
    const organisation = await perch().createOrganisation("free");
    await createScriptedAgent(neighbour, [], { max_concurrent_runs: 10_000 });
    await createScriptedAgent(organisation);
    expect((await invokeAgent(perch(), organisation.adminKey, { message: "hello" })).status).toBe(200);

    // Turns of one session run one after the other, so all but the first one wait in the engine.
    const body = { message: "hold", context: { session_id: "one" } };
    const headers = { prefer: `wait=${waitSeconds}` };
    const waiting = Array.from({ length: waitingRuns }, () =>
      invokeAgent(perch(), neighbour.adminKey, body, { headers }),
    );
    const part = partOf("waitingRuns", "enterprise");
    const share = perch().server.core.shares.of.waitingRuns;
    await expect.poll(share.held).toBe(part);
    // The first of those who do not wait.
    expect((await Promise.race(waiting)).status).toBe(202);
    expect(share.held()).toBe(part);

    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const before = performance.now();
      expect((await invokeAgent(perch(), organisation.adminKey, { message: "hello" })).status).toBe(200);
      times.push(performance.now() - before);
    }
    console.log(`slowest of 20 runs beside ${part} waiting ones: ${Math.max(...times).toFixed(0)} ms`);
    expect(Math.max(...times)).toBeLessThan(2000);

    const answers = await Promise.all(waiting);
    expect(answers.filter(({ status }) => status !== 202).map(({ text }) => text)).toEqual([]);
    // All of them can be read, also those whose turn comes much later.
    const unread = answers.values();
    const readAll = async () => {
      for (const { data } of unread)
        await waitForRunRecord(neighbour, data.request_id, (status) => status === "running");
    };
    await Promise.all([readAll(), readAll(), readAll(), readAll()]);
  }, 120_000);
});
