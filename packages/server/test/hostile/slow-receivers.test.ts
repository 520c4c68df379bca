import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { afterAll, describe, expect, test } from "vitest";
import { newUuid, parsePublicId } from "../../src/platform/ids.ts";
import { claimDueDeliveries } from "../../src/resources/webhooks/delivery-queries.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createWebhook } from "../support/webhook-calls.ts";

/** Far longer than the victim's run may take, on a slow machine too. */
const webhookTimeoutSeconds = 60;
const perch = usePerch({ webhookAllowLoopback: true, webhookTimeoutSeconds }, { withWorker: true });
/** Nothing sweeps its deliveries. */
const withoutWorker = usePerch();
const receivers: WebhookReceiver[] = [];
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())));

async function startReceiver(answer?: Parameters<typeof startWebhookReceiver>[0]): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver(answer);
  receivers.push(receiver);
  return receiver;
}

/** A receiver that stops answering, and counts how many deliveries wait for its answers at once. */
async function startHangingReceiver() {
  let isHanging = false;
  let open = 0;
  let maxOpen = 0;
  const slow = await startReceiver((_, reply: ServerResponse) => {
    if (!isHanging) return void reply.end();
    maxOpen = Math.max(maxOpen, ++open);
    reply.on("close", () => open--);
  });
  return {
    slow,
    maxOpen: () => maxOpen,
    hang: () => {
      isHanging = true;
    },
  };
}

const invoke = async ({ call }: Organisation) =>
  ok(await call("POST /v1/agents/{agent_id}/invoke", { params: { agent_id: "bot" }, body: { message: "hi" } }));

async function createOrganisationWithAgent(webhooks: number, url: string): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  for (let made = 0; made < webhooks; made += 4)
    await Promise.all(Array.from({ length: Math.min(4, webhooks - made) }, () => createWebhook(organisation, url)));
  return organisation;
}

/** More deliveries than the engine runs invocations at once, which are 1,000. */
const floods = [
  { webhooks: 300, runs: 10 },
  { webhooks: 32, runs: 40 },
];

describe("a receiver that never answers", () => {
  test.each(floods)(
    "delays no other receiver: $webhooks webhooks, $runs runs",
    { timeout: 180_000 },
    async ({ webhooks, runs }) => {
      const { slow, maxOpen, hang } = await startHangingReceiver();
      const quick = await startReceiver();
      const attacker = await createOrganisationWithAgent(webhooks, slow.url);
      const victim = await createOrganisationWithAgent(1, quick.url);
      await invoke(victim);
      await expect.poll(() => quick.received.length, { timeout: 30_000 }).toBe(1);
      // Once it has answered, its host gets more than one delivery at a time.
      await invoke(attacker);
      await expect.poll(() => slow.received.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(1);
      hang();
      for (let made = 0; made < runs; made += 10) await Promise.all(Array.from({ length: 10 }, () => invoke(attacker)));
      await expect.poll(maxOpen, { timeout: 30_000 }).toBe(16);

      const startedAtMs = Date.now();
      await invoke(victim);
      const runMs = Date.now() - startedAtMs;
      await expect.poll(() => quick.received.length, { timeout: 60_000, interval: 20 }).toBe(2);
      const deliveryMs = Date.now() - startedAtMs;
      expect(runMs).toBeLessThan(20_000);
      expect(deliveryMs).toBeLessThan(25_000);
      expect(maxOpen()).toBe(16);
    },
  );

  test("gets one delivery at a time if it never answered, of however many webhooks", { timeout: 60_000 }, async () => {
    const { slow, maxOpen, hang } = await startHangingReceiver();
    hang();
    const attacker = await createOrganisationWithAgent(16, slow.url);
    await Promise.all(Array.from({ length: 5 }, () => invoke(attacker)));
    await expect.poll(() => slow.received.length, { timeout: 30_000 }).toBe(1);
    await sleep(3000);
    expect([slow.received.length, maxOpen()]).toEqual([1, 1]);
  });
});

test("an organisation with many due deliveries does not delay the claim of another's", async () => {
  const { createOrganisation, database, server } = withoutWorker();
  const [attacker, victim] = [await createOrganisation(), await createOrganisation()];
  const insertDue = (organisation: Organisation, count: number, secondsAgo: number) =>
    withClient(database.adminUrl, (client) =>
      client.query(
        `insert into deliveries (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, next_attempt_at, sweep_after)
         select $1::uuid, uuid_at(at), at, $2::uuid, $2::uuid, at, 'agent.completed', at, now() - make_interval(secs => $4)
           from (select date_trunc('milliseconds', now()) as at from generate_series(1, $3)) due`,
        [parsePublicId("organisation", organisation.id), newUuid(), count, secondsAgo],
      ),
    );
  await insertDue(attacker, 100, 60);
  await insertDue(victim, 2, 1);
  const limits = { total: 10, perOrganisation: 9 };
  const claimed = await claimDueDeliveries(server.core.db.unscoped, limits, { minSeconds: 30, maxSeconds: 900 });
  expect(claimed).toHaveLength(10);
  expect(
    claimed.filter(({ organisation_id }) => organisation_id === parsePublicId("organisation", victim.id)),
  ).toHaveLength(2);
});
