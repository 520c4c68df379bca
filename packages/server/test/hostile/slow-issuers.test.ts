import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { oidcClient } from "@perch/testkit/identity/open-id-provider.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { sendRawRequest } from "../support/raw-request.ts";

interface Issuer {
  readonly url: string;
  /** How many requests it has open, at most. */
  readonly maxOpen: () => number;
  readonly close: () => Promise<void>;
}

/** An issuer that publishes its configuration, unless `answer` answers before that. */
async function startIssuer(answer: (request: IncomingMessage, reply: ServerResponse) => boolean): Promise<Issuer> {
  let open = 0;
  let maxOpen = 0;
  const server = createServer((request, reply) => {
    maxOpen = Math.max(maxOpen, ++open);
    reply.on("close", () => open--);
    if (answer(request, reply)) return;
    reply.setHeader("content-type", "application/json");
    reply.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks`, introspection_endpoint: `${url}/introspect` }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, maxOpen: () => maxOpen, close };
}

const introspects = (claims: object) => (request: IncomingMessage, reply: ServerResponse) => {
  if (request.url !== "/introspect") return false;
  reply.setHeader("content-type", "application/json").end(JSON.stringify({ active: true, ...claims }));
  return true;
};

let perch: Awaited<ReturnType<typeof startPerch>>;
const issuers: Issuer[] = [];
beforeAll(async () => {
  perch = await startPerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] });
});
afterAll(async () => {
  await Promise.all(issuers.map((issuer) => issuer.close()));
  await perch.stop();
});

async function createOrganisationWithIssuer(answer: Parameters<typeof startIssuer>[0]) {
  const issuer = await startIssuer(answer);
  issuers.push(issuer);
  const organisation = await perch.createOrganisation("free");
  const auth = {
    type: "oauth2" as const,
    provider: issuer.url,
    ...oidcClient,
    scopes: ["read:agents", "write:agents"],
  };
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", auth: auth as never } }));
  return { organisation, issuer };
}

const getAgent = ({ adminKey }: Organisation, token: string) =>
  sendRawRequest(`${perch.url}/v1/agents/bot`, { key: adminKey, headers: { "x-user-token": token } });

const ada = { sub: "ada", client_id: oidcClient.clientId, scope: "read:agents write:agents" };

describe("an issuer that never answers", () => {
  const silences = [
    { what: "introspection", isSilent: (path = "") => path === "/introspect" },
    { what: "discovery", isSilent: () => true },
  ];

  test.each(silences)("$what of one organisation's tokens leaves others theirs", async ({ isSilent }) => {
    const slow = await createOrganisationWithIssuer(({ url }) => isSilent(url));
    const healthy = await createOrganisationWithIssuer(introspects(ada));
    const attacks = Array.from({ length: 40 }, (_, i) => getAgent(slow.organisation, `opaque-${i}`));
    await expect.poll(slow.issuer.maxOpen).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const startedAtMs = Date.now();
    expect((await getAgent(healthy.organisation, "opaque")).status).toBe(200);
    expect(Date.now() - startedAtMs).toBeLessThan(2500);

    const answers = await Promise.all(attacks);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429, 503]));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({
      error: { code: "rate_limited", message: expect.stringContaining("calls to issuers of user tokens") },
    });
    expect(refused?.headers["retry-after"]).toBe("1");
    expect(slow.issuer.maxOpen()).toBeLessThanOrEqual(8);
    // Earlier answers come from memory, whatever the issuer does.
    expect((await getAgent(healthy.organisation, "opaque")).status).toBe(200);
  });
});

test.each([
  ["half a character", "ad\ud800a"],
  ["a NUL", "ad\0a"],
])("401 for a user id with %s: it could not be recorded", async (_, sub) => {
  const { organisation } = await createOrganisationWithIssuer(introspects({ ...ada, sub }));
  expect((await getAgent(organisation, "opaque")).status).toBe(401);
  const pause = await sendRawRequest(`${perch.url}/v1/agents/bot/pause`, {
    method: "POST",
    key: organisation.adminKey,
    headers: { "x-user-token": "opaque" },
  });
  expect(pause.status).toBe(401);
});
