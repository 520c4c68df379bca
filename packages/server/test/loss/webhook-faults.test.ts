import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import {
  type ReceivedDelivery,
  startWebhookReceiver,
  type WebhookReceiver,
} from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, expect, test } from "vitest";
import { createScriptedAgent, invokeAgent } from "../support/invoke-calls.ts";
import { createWebhook } from "../support/webhook-calls.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

/** A few hundred by default; set TEST_FAULT_INVOCATIONS=5000 for a long run. */
const invocations = Number(process.env.TEST_FAULT_INVOCATIONS ?? 250);
/** Allows for the circuit breaker, which such a receiver opens repeatedly. */
const deliveredWithinMs = 120_000 + invocations * 400;
const concurrency = 16;
const kills = Math.max(2, Math.floor(invocations / 500));

const perchWithWorkers = usePerchWithWorkerProcesses(
  {
    PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
    PERCH_WEBHOOK_RETRY_DELAY_SECONDS: Array(40).fill("0.5").join(","),
    PERCH_WEBHOOK_TIMEOUT_SECONDS: "1",
  },
  { webhookAllowLoopback: true },
);

/** Deliveries that were answered with 200, by event id. */
const accepted = new Map<string, ReceivedDelivery[]>();
const seen = new Set<string>();

function answerUnreliably(
  received: ReceivedDelivery,
  reply: Parameters<NonNullable<Parameters<typeof startWebhookReceiver>[0]>>[1],
): void {
  seen.add(received.event.id);
  const chance = Math.random();
  if (chance < 0.1) return;
  if (chance < 0.1 + 1 / 3) return void reply.writeHead(500).end("not now");
  accepted.set(received.event.id, [...(accepted.get(received.event.id) ?? []), received]);
  reply.end("thanks");
}

let receiver: WebhookReceiver = await startWebhookReceiver(answerUnreliably);
afterAll(() => receiver.close());

test(
  "every event arrives at least once, under one id, and no other arrives, while workers are killed and the receiver fails, hangs and restarts",
  async () => {
    verifies("events.retries", "events.cause");
    const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
    await ensureWorkers(2);
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "done" }]);
    await createWebhook(organisation, receiver.url);
    const startedAt = performance.now();
    const runIds: string[] = [];
    let next = 0;
    const client = async () => {
      while (next < invocations) {
        const key = `fault-${next++}`;
        // A repeated call with the same key is the same run, whatever happened to the first call.
        for (;;) {
          const { status, data } = await invokeAgent(
            perch,
            organisation.adminKey,
            { message: key },
            { headers: { "idempotency-key": key } },
          );
          if (status === 200) {
            runIds.push(data.request_id);
            break;
          }
          if (status === 429) await sleep(1000);
        }
      }
    };
    const clients = Promise.all(Array.from({ length: concurrency }, client));
    const injectFaults = async () => {
      for (let kill = 1; kill <= kills; kill++) {
        while (runIds.length < (invocations * kill) / (kills + 1)) await sleep(20);
        await endActiveWorker("SIGKILL");
        await ensureWorkers(2);
        if (kill === 1) {
          await receiver.close();
          await sleep(1000);
          receiver = await startWebhookReceiver(answerUnreliably, receiver.port);
        }
      }
    };
    await Promise.all([clients, injectFaults()]);
    const ranAfter = performance.now() - startedAt;
    const expected = new Set(runIds.map((id) => id.replace("req_", "evt_")));
    await expect
      .poll(() => accepted.size, { timeout: deliveredWithinMs, interval: 250 })
      .toBeGreaterThanOrEqual(invocations);
    const tookMs = performance.now() - startedAt;
    const repeated = [...accepted.values()].filter((deliveries) => deliveries.length > 1).length;
    console.log(
      `webhook faults: ${invocations} invocations in ${Math.round(ranAfter / 1000)} s, ${kills} workers killed, all delivered after ${Math.round(tookMs / 1000)} s, ${repeated} events arrived more than once`,
    );
    expect(expected.size).toBe(invocations);
    expect(new Set(accepted.keys())).toEqual(expected);
    expect([...seen].filter((id) => !expected.has(id))).toEqual([]);
    const bodies = [...accepted.values()].filter((all) => new Set(all.map(({ body }) => body)).size > 1);
    expect(bodies).toEqual([]);
    // Each run has one terminal event, which names the run.
    const { rows } = await withClient(perch.database.adminUrl, (client) =>
      client.query<{ events: string; runs: string }>(
        "select count(*) as events, count(distinct data ->> 'request_id') as runs from events",
      ),
    );
    expect(rows[0]).toEqual({ events: String(invocations), runs: String(invocations) });
  },
  deliveredWithinMs + invocations * 200 + 60_000,
);
