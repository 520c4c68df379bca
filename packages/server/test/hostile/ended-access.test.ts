import type { AgentAuth, SecuritySettings } from "@perch/contract";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { type ApiNode, type Organisation, usePerch } from "../support/harness.ts";
import { invokeInBackground } from "../support/invoke-calls.ts";
import { signUserToken, userTokenSecret } from "../support/user-tokens.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true, heartbeatMs: 500 });
let other: ApiNode;
beforeAll(async () => {
  other = await perch().addApiNode();
});

/** Takes half a minute, a word every tenth of a second. */
const slowReply = { reply: Array.from({ length: 300 }, (_, i) => `word-${i}`).join(" "), word_delay_ms: 100 };
const auth = { type: "jwt" as const, secret: userTokenSecret };

interface Settings {
  readonly security?: SecuritySettings;
  readonly auth?: AgentAuth | null;
}

async function createAgent(organisation: Organisation, name: string, settings: Settings = {}): Promise<void> {
  const instructions = JSON.stringify({ steps: [slowReply] });
  const body = { name, model: "perch/script", instructions, ...(settings as { auth?: AgentAuth }) };
  ok(await organisation.call("POST /v1/agents", { body }));
}

/** Returns a function that waits for the end of the stream and returns its last event. */
async function follow(key: string, path: string, token?: string): Promise<() => Promise<string>> {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const response = await fetch(`${other.url}/v1/agents/${path}`, {
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${key}`,
      ...(token !== undefined && { "x-user-token": token }),
    },
    signal: controller.signal,
  });
  expect(response.status).toBe(200);
  return async () => (await response.text()).trim().split("\n\n").at(-1) ?? "";
}

const update = async ({ call }: Organisation, settings: Settings): Promise<void> => {
  const params = { agent_id: "bot" };
  ok(await call("PATCH /v1/agents/{agent_id}", { params, query: { force: true }, body: settings as never }));
};

/** The streams of a run and of the log, with a key that has no grace period. */
async function openStreams(organisation: Organisation, token?: string, permissions = ["read", "write"]) {
  const key = await organisation.createKey({ permissions });
  const headers = token === undefined ? {} : { "x-user-token": token };
  const run = await invokeInBackground(perch(), key, { message: "hello" }, { headers });
  return Promise.all([
    follow(key, `bot/invocations/${run}`, token),
    follow(key, `bot/logs${token === undefined ? "" : `?request_id=${run}`}`, token),
  ]);
}

const changes: readonly (readonly [string, Settings, string])[] = [
  [
    "`ipWhitelist` leaves out its client",
    { security: { ipWhitelist: { enabled: true, addresses: ["203.0.113.0/24"] } } },
    "forbidden",
  ],
  [
    "`mtls` asks for a certificate",
    { security: { mtls: { enabled: true, clientCert: "c", clientKey: "k", caCert: "ca" } } },
    "unauthorized",
  ],
  ["`auth` asks for a user's token", { auth }, "unauthorized"],
];

describe("an open stream ends at the next heartbeat", () => {
  test.each(changes)(
    "when %s, and the streams of other agents stay open",
    async (_, settings, code) => {
      const organisation = await perch().createOrganisation();
      await createAgent(organisation, "bot");
      await createAgent(organisation, "neighbour");
      const kept = await follow(organisation.adminKey, "neighbour/logs");
      let isKeptOpen = true;
      void kept()
        .catch(() => "")
        .then(() => {
          isKeptOpen = false;
        });
      const streams = await openStreams(organisation);
      await update(organisation, settings);
      for (const ended of streams) expect(await ended()).toContain(`"code":"${code}"`);
      expect(isKeptOpen).toBe(true);
    },
    20_000,
  );

  test("when `auth` takes no token of its issuer any more", async () => {
    const organisation = await perch().createOrganisation();
    await createAgent(organisation, "bot", { auth });
    const streams = await openStreams(organisation, signUserToken("ada"));
    await update(organisation, { auth: { type: "jwt", secret: "another secret that has 32 bytes or more" } });
    for (const ended of streams) expect(await ended()).toContain('"code":"unauthorized"');
  }, 20_000);

  test("when the user's token expires", async () => {
    const organisation = await perch().createOrganisation();
    await createAgent(organisation, "bot", { auth });
    const streams = await openStreams(organisation, signUserToken("ada", 3));
    for (const ended of streams) expect(await ended()).toContain('"code":"unauthorized"');
  }, 20_000);

  test("when its key loses the permission that showed what belongs to other users", async () => {
    const organisation = await perch().createOrganisation();
    await createAgent(organisation, "bot", { auth });
    const key = await organisation.createKey({ permissions: ["read", "manage"] });
    const token = signUserToken("ada");
    const ended = await follow(key, "bot/logs", token);
    const { id: key_id } = ok(await organisation.call("GET /v1/me", {}, key)).data.key;
    const body = { permissions: ["read" as const] };
    ok(await organisation.call("PATCH /v1/keys/{key_id}", { params: { key_id }, body }));
    expect(await ended()).toContain("What this stream may show has changed");
  }, 20_000);
});
