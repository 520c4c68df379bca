import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, expect, test } from "vitest";
import { createSigningKeys, rotateSigningKey, type SigningKeys } from "../../src/db/signing-keys.ts";
import { buildKeyDirectory } from "../../src/outbound/signing/key-directory.ts";
import { createSignedFetch } from "../../src/outbound/signing/signed-fetch.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { createSealer } from "../../src/platform/sealing.ts";
import { openTestDatabase } from "../support/open-database.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type Jwk, verifySignature } from "../support/verify-signature.ts";

/** Shorter than in production, which has 30 s, 300 s and at least 600 s. */
const [reloadEverySeconds, maxAgeSeconds, overlapSeconds] = [0.3, 2, 4];

const masterKey = randomBytes(32);
const sealer = createSealer(() => masterKey);
const database = await createTestDatabase();
const processes = Array.from({ length: 3 }, () => openTestDatabase(database.appUrl, 3));
const rings = processes.map(({ unscoped }) =>
  createSigningKeys({
    db: unscoped,
    sealer,
    logger: createLogger("silent"),
    now: Date.now,
    reloadEverySeconds,
  }),
) as [SigningKeys, SigningKeys, SigningKeys];
const [api, ...workers] = rings;
afterAll(async () => {
  for (const ring of rings) ring.stop();
  await Promise.all(processes.map((each) => each.close()));
  await database.drop();
});

test("a reader that fetches the directory once in its max-age knows every key in time, while two workers call and keys rotate", async () => {
  verifies("security.signing-key-rotation");
  await Promise.all(rings.map((ring) => ring.load()));
  const readDirectory = async () =>
    (JSON.parse(buildKeyDirectory(await api.list(), undefined, 0).body) as { keys: Jwk[] }).keys;

  let known: readonly Jwk[] = await readDirectory();
  const keysSeen = new Set<string>();
  const refusals: string[] = [];
  const tool = await startToolServer((call) => {
    try {
      keysSeen.add(verifySignature({ ...call, url: new URL(call.path, tool.url).href }, known).keyid);
    } catch (error) {
      refusals.push(String(error));
    }
    return undefined;
  });

  let stopped = false;
  let calls = 0;
  const reader = (async () => {
    while (!stopped) {
      await sleep(maxAgeSeconds * 1000);
      known = await readDirectory();
    }
  })();
  const load = workers.map(async (ring) => {
    const signed = createSignedFetch({ fetch, signingKey: ring.current, directoryUrl: undefined, now: Date.now });
    while (!stopped) {
      const answer = await signed(`${tool.url}/call`, { method: "POST", body: "{}" });
      await answer.arrayBuffer();
      calls += 1;
      await sleep(5);
    }
  });
  const db = processes[0]?.unscoped;
  if (!db) throw new Error("no database");
  for (let rotations = 0; rotations < 2; rotations += 1) {
    await rotateSigningKey(db, sealer, { overlapSeconds, revoke: false });
    await sleep((overlapSeconds + 1.5) * 1000);
  }
  stopped = true;
  await Promise.all([...load, reader]);
  await tool.close();
  expect(refusals).toEqual([]);
  expect(keysSeen.size).toBe(3);
  expect(calls).toBeGreaterThan(100);
});
