import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createAdmission } from "../../src/api/admission.ts";
import { createKeyDirectory } from "../../src/auth/authenticate.ts";
import { unauthenticatedBucket } from "../../src/limits/rates.ts";
import { createAgentDirectory } from "../../src/resources/agents/agent-directory.ts";
import { ok } from "../support/contract-client.ts";
import { followRunStream, invokeStreaming, type OpenStream } from "../support/event-stream-client.ts";
import { type ApiNode, type Organisation, usePerch } from "../support/harness.ts";
import { createScriptedAgent } from "../support/invoke-calls.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true, heartbeatMs: 500 });
let other: ApiNode;
beforeAll(async () => {
  other = await perch().addApiNode();
});

/** Takes half a minute, a word every tenth of a second. */
const slowReply = { reply: Array.from({ length: 300 }, (_, i) => `word-${i}`).join(" "), word_delay_ms: 100 };

async function createOrganisationWithKey(grant: Parameters<Organisation["createKey"]>[0] = { role: "developer" }) {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, [slowReply]);
  return { organisation, key: await organisation.createKey(grant) };
}

async function openStreams(key: string): Promise<OpenStream[]> {
  const streams = await Promise.all([
    invokeStreaming(other, key, { message: "hello" }),
    followRunStream(other, key, "/v1/agents/bot/logs"),
  ]);
  for (const { status, abort } of streams) {
    expect(status).toBe(200);
    onTestFinished(abort);
  }
  return streams;
}

const readToEnd = async (stream: OpenStream) => (await stream.readAll()).at(-1);

const endedBy = (message: string) => ({
  event: "error",
  data: { code: "unauthorized", message: expect.stringContaining(message) },
});

async function revokeKey({ call }: Organisation, key: string): Promise<void> {
  const { id } = ok(await call("GET /v1/me", {}, key)).data.key;
  ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }));
}

describe("a key that ends", () => {
  test("loses its streams of runs and logs at the next heartbeat when it is revoked on another node, and no other key does", async () => {
    const { organisation, key } = await createOrganisationWithKey();
    const streams = await openStreams(key);
    const kept = await followRunStream(other, organisation.adminKey, "/v1/agents/bot/logs");
    let isKeptOpen = true;
    void kept.readAll().then(() => {
      isKeptOpen = false;
    });
    await revokeKey(organisation, key);
    for (const last of await Promise.all(streams.map(readToEnd))) expect(last).toMatchObject(endedBy("revoked"));
    expect(isKeptOpen).toBe(true);
    kept.abort();
  }, 60_000);

  test("loses its streams at the next heartbeat when it expires", async () => {
    const lifeMs = 3000;
    const expires_at = new Date(Date.now() + lifeMs).toISOString();
    const { key } = await createOrganisationWithKey({ role: "developer", expires_at });
    const streams = await openStreams(key);
    for (const last of await Promise.all(streams.map(readToEnd))) expect(last).toMatchObject(endedBy("expired"));
  }, 60_000);

  test("is looked up again for a stream only if its organisation has changed", async () => {
    const { organisation, key } = await createOrganisationWithKey();
    const { core } = perch().server;
    let reads = 0;
    const {
      db,
      nowMs,
      shares,
      config,
      shared: { gate },
      keys: { keyDigest, sessionDigest },
    } = core;
    const admission = createAdmission({
      gate,
      keys: createKeyDirectory({ db, keyDigest, sessionDigest, rememberTier: () => void reads++, now: nowMs }),
      agents: createAgentDirectory({ db, cacheBytes: shares.cacheBytes, now: nowMs }),
      keyUsage: { record: () => undefined, flush: async () => undefined, stop: async () => undefined },
      recheckPerson: () => undefined,
      unauthenticatedLimit: unauthenticatedBucket(config.unauthenticatedRequestsPerMinute),
      now: () => new Date(nowMs()),
    });
    const admitted = await admission.admit({
      authorization: `Bearer ${key}`,
      readSessionToken: () => undefined,
      address: "127.0.0.1",
      agentRef: undefined,
      isRead: true,
      setHeaders: () => undefined,
      onRefused: () => undefined,
    });
    const readsToAdmit = reads;
    for (let i = 0; i < 5; i += 1) await admission.readmit(admitted);
    expect(reads).toBe(readsToAdmit);
    await revokeKey(organisation, await organisation.createKey({ role: "viewer" }));
    await Promise.all(Array.from({ length: 5 }, () => admission.readmit(admitted)));
    expect(reads).toBe(readsToAdmit + 1);
    await revokeKey(organisation, key);
    await expect(admission.readmit(admitted)).rejects.toMatchObject({ code: "unauthorized" });
  });
});
