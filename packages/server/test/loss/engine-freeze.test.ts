import { setTimeout as sleep } from "node:timers/promises";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { startValkey } from "@perch/testkit/installation/valkey-process.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { invokeStreaming } from "../support/event-stream-client.ts";
import { type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";

const clients = 8;
/** How long the engine needs to move its partitions varies with the machine, so this is not part of CI. */
const frozenSeconds = Number(process.env.TEST_FREEZE_SECONDS ?? 0);

async function startPerchWithThreeEngineNodes() {
  const engine = await startRestate(3);
  onTestFinished(() => engine.stop());
  const valkey = await startValkey();
  onTestFinished(() => valkey.kill());
  const perch = await startPerch({
    ingressUrls: engine.ingressUrls,
    adminUrls: engine.adminUrls,
    valkeyUrl: valkey.url,
  });
  onTestFinished(() => perch.stop());
  await perch.addWorker();
  const organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation, [{ reply: "done", delay_ms: 200 }]);
  expect((await invokeAgent(perch, organisation.adminKey, { message: "warm up" })).status).toBe(200);
  return { engine, perch, organisation };
}

/** One run, started in one of three ways. Returns how it ended. */
async function invokeOnce(perch: Perch, organisation: Organisation, number: number): Promise<string> {
  const { adminKey } = organisation;
  const body = { message: "hello" };
  if (number % 3 === 0)
    return (await invokeAgent(perch, adminKey, body)).text.includes("done") ? "completed" : "failed";
  if (number % 3 === 1)
    return (await waitForRunRecord(organisation, await invokeInBackground(perch, adminKey, body))).status;
  const events = await (await invokeStreaming(perch, adminKey, body)).readAll();
  return events.at(-1)?.event === "done" ? "completed" : JSON.stringify(events.at(-1));
}

describe("one of three engine nodes is stopped (SIGSTOP) under load", () => {
  test.runIf(frozenSeconds > 0)(
    "no invocation fails, neither while it is stopped nor after it continues",
    async () => {
      const { engine, perch, organisation } = await startPerchWithThreeEngineNodes();
      const [first] = engine.nodes;
      const pid = first?.pid();
      if (pid === undefined) throw new Error("the first node does not run");
      onTestFinished(() => void process.kill(pid, "SIGCONT"));
      const runs: { readonly end: string; readonly ms: number; readonly startedAt: number }[] = [];
      let isOver = false;
      const loads = Array.from({ length: clients }, async (_, client) => {
        for (let number = client; !isOver; number++) {
          const startedAt = performance.now();
          const end = await invokeOnce(perch, organisation, number).catch(String);
          runs.push({ end, ms: performance.now() - startedAt, startedAt });
        }
      });
      await sleep(2000);
      const stoppedAt = performance.now();
      process.kill(pid, "SIGSTOP");
      await sleep(frozenSeconds * 1000);
      process.kill(pid, "SIGCONT");
      await sleep(4000);
      isOver = true;
      await Promise.all(loads);
      expect(runs.filter(({ end }) => end !== "completed")).toEqual([]);
      const times = runs.filter((run) => run.startedAt + run.ms >= stoppedAt).map(({ ms }) => ms);
      const p99 = times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0;
      console.log(`${times.length} runs from the stop on, ${runs.length} in all; p99 ${p99.toFixed(0)} ms`);
      expect(times.length).toBeGreaterThan(clients);
    },
    180_000,
  );
});
