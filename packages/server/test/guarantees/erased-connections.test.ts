import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { erase, waitUntilErased } from "../support/erasure/erase-calls.ts";
import { insertLostConnection } from "../support/erasure/lost-connections.ts";
import { idOf, queryRows } from "../support/erasure/stored-rows.ts";
import { type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { insertConnection, readConnection } from "../support/stored-connections.ts";
import { fastWebhookConfig } from "../support/webhook-calls.ts";

let perch: Perch & { readonly stop: () => Promise<void> };
let provider: Server;
/** Tokens that the provider was asked to revoke, in order. */
let revoked: string[];
let isSilent = false;
let issuer: string;

beforeAll(async () => {
  provider = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      revoked.push(new URLSearchParams(Buffer.concat(chunks).toString()).get("token") ?? "");
      if (!isSilent) response.writeHead(200).end();
    });
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  perch = await startPerch(
    {
      ...fastWebhookConfig,
      // A delivery that fails once stays pending for the time of a test.
      webhookRetryDelaySeconds: [60],
      outboundAllowedPrivateRanges: ["127.0.0.1/32"],
    },
    { withWorker: true, erasurePauseMs: 200 },
  );
}, 120_000);
afterAll(async () => {
  await perch?.stop();
  provider?.close();
  provider?.closeAllConnections();
});
beforeEach(() => {
  revoked = [];
  isSilent = false;
});

async function createOrganisation(): Promise<Organisation> {
  const organisation = await perch.createOrganisation();
  for (const name of ["bot", "other-bot"])
    ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  return organisation;
}

const silentConfiguration = { revocationEndpoint: null };
const tool = (name: string) => ({ type: "http" as const, name, url: "https://mail.example" });

const listUsers = async (organisation: Organisation): Promise<string[]> =>
  (
    await queryRows<{ user_id: string }>(perch, "select user_id from connections where organisation_id = $1", [
      idOf(organisation),
    ])
  ).map(({ user_id }) => user_id);

const removedOf = (receipt: Awaited<ReturnType<typeof waitUntilErased>>, part: string) =>
  receipt.removed.find(({ data }) => data === part)?.count;

describe("the erasure of a user with connections", () => {
  test("deletes them in all agents with their links, notifies each provider, and leaves those of others", async () => {
    verifies("connections.revoke", "erasure.user");
    const [organisation, another] = [await createOrganisation(), await createOrganisation()];
    const own = [
      await insertConnection(perch, organisation, { userId: "ada", configuration: { issuer } }),
      await insertConnection(perch, organisation, { userId: "ada", agent: "other-bot", configuration: { issuer } }),
      await insertLostConnection(perch, organisation, { userId: "ada", tool: tool("mail"), configuration: { issuer } }),
      await insertConnection(perch, organisation, { userId: "ada", tool: tool("new"), status: "pending" }),
    ];
    await insertConnection(perch, organisation, { userId: "ada2", configuration: { issuer } });
    await insertConnection(perch, another, { userId: "ada", configuration: { issuer } });
    const tokens = await Promise.all(
      own.slice(0, 3).map(async (id) => (await readConnection(perch, organisation, id)).grant?.tokens.refreshToken),
    );

    const receipt = await waitUntilErased(organisation, (await erase(organisation, "ada")).id);

    expect(removedOf(receipt, "connected accounts")).toBe(4);
    expect(await listUsers(organisation)).toEqual(["ada2"]);
    expect(await listUsers(another)).toEqual(["ada"]);
    expect(revoked).toEqual(expect.arrayContaining(tokens));
    const links = await queryRows(perch, "select from connection_links where organisation_id = $1", [
      idOf(organisation),
    ]);
    expect(links).toEqual([]);
    expect(ok(await organisation.call("GET /v1/me", {})).data.usage?.connections.used).toBe(1);
    expect(receipt.not_covered.join()).toContain("Consents at providers of connected accounts that did not answer");
  });

  test("goes on if a provider does not answer, and asks it once", async () => {
    const organisation = await createOrganisation();
    await insertConnection(perch, organisation, {
      userId: "ada",
      configuration: { issuer },
      tokens: { refreshToken: null },
    });
    isSilent = true;
    const receipt = await waitUntilErased(organisation, (await erase(organisation, "ada")).id);
    expect(removedOf(receipt, "connected accounts")).toBe(1);
    expect(await listUsers(organisation)).toEqual([]);
    expect(revoked).toHaveLength(1);
  });

  test("takes the user out of events about them, and ends deliveries that are pending", async () => {
    const organisation = await createOrganisation();
    const { call } = organisation;
    // The receiver does not answer, so the deliveries stay pending.
    isSilent = true;
    const webhook = { url: `${issuer}/hook`, events: ["connection.needs_reauth" as const] };
    ok(await call("POST /v1/webhooks", { body: webhook }));
    await insertLostConnection(perch, organisation, {
      userId: "ada",
      tool: tool("mail"),
      configuration: silentConfiguration,
    });
    await insertLostConnection(perch, organisation, {
      userId: "bob",
      tool: tool("mail"),
      configuration: silentConfiguration,
    });
    const receipt = await waitUntilErased(organisation, (await erase(organisation, "ada")).id);
    expect([removedOf(receipt, "events"), removedOf(receipt, "pending webhook deliveries")]).toEqual([1, 1]);
    const events = ok(await call("GET /v1/events", { query: { type: "connection.needs_reauth" } })).data;
    expect(events.map(({ data }) => data.user_id).toSorted()).toEqual(["bob", null]);
    const deliveries = await queryRows<{ status: string; last_error: string }>(
      perch,
      "select status, last_error from deliveries where organisation_id = $1 and status = 'cancelled'",
      [idOf(organisation)],
    );
    expect(deliveries).toEqual([{ status: "cancelled", last_error: "Its user was erased." }]);
  });

  test("leaves a connection that is made after the request", async () => {
    const organisation = await createOrganisation();
    await insertConnection(perch, organisation, { userId: "ada", configuration: silentConfiguration });
    const started = await erase(organisation, "ada");
    await insertConnection(perch, organisation, {
      userId: "ada",
      tool: tool("later"),
      configuration: silentConfiguration,
    });
    const receipt = await waitUntilErased(organisation, started.id);
    expect(removedOf(receipt, "connected accounts")).toBe(1);
    expect(await listUsers(organisation)).toEqual(["ada"]);
  });

  test("takes more than a page of them", async () => {
    const organisation = await createOrganisation();
    for (let n = 0; n < 23; n++)
      await insertConnection(perch, organisation, {
        userId: "ada",
        tool: tool(`tool-${n}`),
        configuration: { issuer },
      });
    const receipt = await waitUntilErased(organisation, (await erase(organisation, "ada")).id);
    expect(removedOf(receipt, "connected accounts")).toBe(23);
    expect(await listUsers(organisation)).toEqual([]);
    expect(new Set(revoked).size).toBeGreaterThanOrEqual(23);
  });
});
