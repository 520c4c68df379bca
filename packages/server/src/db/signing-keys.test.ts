import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startWithholdingProxy } from "@perch/testkit/installation/withholding-proxy.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import type { Kysely } from "kysely";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { openTestDatabase } from "../../test/support/open-database.ts";
import { createTestDatabase } from "../../test/support/test-database.ts";
import { createLogger } from "../platform/logger.ts";
import { createSealer } from "../platform/sealing.ts";
import type { DB } from "./generated-rows.ts";
import { ConcurrentRotationError, createSigningKeys, rotateSigningKey, type SigningKeys } from "./signing-keys.ts";

const database = await createTestDatabase();
afterAll(() => database.drop());
const masterKey = randomBytes(32);
const sealer = createSealer(() => masterKey);
const logger = createLogger("silent");

/** A process with connections of its own. */
function openProcess({ url = database.appUrl, nowMs = Date.now, reloadEverySeconds = 30 } = {}): {
  readonly keys: SigningKeys;
  readonly db: Kysely<DB>;
} {
  const opened = openTestDatabase(url, 3);
  const keys = createSigningKeys({ db: opened.unscoped, sealer, logger, now: nowMs, reloadEverySeconds });
  onTestFinished(async () => {
    keys.stop();
    await opened.close();
  });
  return { keys, db: opened.unscoped };
}

const admin = (query: string) =>
  withClient(database.adminUrl, async (client) => (await client.query<Record<string, unknown>>(query)).rows);
const idsOf = async (keys: SigningKeys) => (await keys.list()).map(({ keyId }) => keyId);

describe("the keys that sign calls", () => {
  test("processes that start at once end with one key", async () => {
    await admin("delete from signing_keys");
    const processes = Array.from({ length: 8 }, () => openProcess().keys);
    await Promise.all(processes.map((keys) => keys.load()));
    const ids = await Promise.all(processes.map(idsOf));
    expect(new Set(ids.flat()).size).toBe(1);
    expect(await admin("select key_id from signing_keys")).toEqual([{ key_id: processes[0]?.current().keyId }]);
  });

  test("a rotation lists the new key at once, signs with it after the overlap, and then lists the old one as long", async () => {
    verifies("security.signing-key-rotation");
    let skewMs = 0;
    const { keys, db } = openProcess({ nowMs: () => Date.now() + skewMs });
    await keys.load();
    const old = keys.current().keyId;
    const { keyId, signsFrom } = await rotateSigningKey(db, sealer, { overlapSeconds: 600, revoke: false });
    expect(Math.abs(signsFrom.getTime() - Date.now() - 600_000)).toBeLessThan(30_000);
    await sleep(1100);
    expect(await idsOf(keys)).toEqual([keyId, old]);
    expect(keys.current().keyId).toBe(old);
    skewMs = 660_000;
    expect(keys.current().keyId).toBe(keyId);
    const [newest, previous] = await keys.list();
    expect(newest?.retiresAtMs).toBeNull();
    expect((previous?.retiresAtMs ?? 0) - (newest?.signsFromMs ?? 0)).toBe(600_000);
  });

  test("a key is deleted when its time is over, also for processes that know it", async () => {
    const { keys, db } = openProcess();
    await keys.load();
    await rotateSigningKey(db, sealer, { overlapSeconds: 600, revoke: false });
    const [newest] = await admin("select key_id from signing_keys where retires_at is null");
    await admin("update signing_keys set retires_at = now(), signs_from = now() where retires_at is not null");
    await sleep(1100);
    expect(await idsOf(keys)).toEqual([newest?.key_id]);
    expect(await admin("select key_id from signing_keys")).toEqual([newest]);
  });

  test("a leaked key is replaced at once", async () => {
    const { keys, db } = openProcess();
    await keys.load();
    await rotateSigningKey(db, sealer, { overlapSeconds: 600, revoke: false });
    const { keyId } = await rotateSigningKey(db, sealer, { overlapSeconds: 600, revoke: true });
    await sleep(1100);
    expect(await idsOf(keys)).toEqual([keyId]);
    expect(keys.current().keyId).toBe(keyId);
  });

  test("each of several rotations at once either counts or reports that nothing was changed", async () => {
    const { keys, db } = openProcess();
    await keys.load();
    const [before] = await admin("select count(*)::int as n from signing_keys");
    const rotations = await Promise.allSettled(
      Array.from({ length: 6 }, () => rotateSigningKey(db, sealer, { overlapSeconds: 600, revoke: false })),
    );
    const done = rotations.filter(({ status }) => status === "fulfilled").length;
    for (const rotation of rotations)
      if (rotation.status === "rejected") expect(rotation.reason).toBeInstanceOf(ConcurrentRotationError);
    expect(done).toBeGreaterThan(0);
    expect(await admin("select count(*)::int as n from signing_keys")).toEqual([{ n: Number(before?.n) + done }]);
    expect(await admin("select 1 as n from signing_keys where retires_at is null")).toHaveLength(1);
  });

  test("a process whose database is frozen still signs and lists, and learns of new keys afterwards", async () => {
    verifies("security.signed-calls");
    await admin("delete from signing_keys");
    const port = Number(new URL(database.appUrl).port);
    const proxy = await startWithholdingProxy(() => [port]);
    onTestFinished(() => proxy.close());
    const url = new URL(database.appUrl);
    url.hostname = "127.0.0.1";
    url.port = String(proxy.port);
    const { keys } = openProcess({ url: url.href, reloadEverySeconds: 0.1 });
    await keys.load();
    const known = keys.current().keyId;
    proxy.withhold("server");
    const { keyId } = await rotateSigningKey(openProcess().db, sealer, { overlapSeconds: 600, revoke: true });
    await sleep(1500);
    expect(keys.ageSeconds()).toBeGreaterThan(1);
    expect(keys.current().keyId).toBe(known);
    const startedAt = Date.now();
    expect(await idsOf(keys)).toEqual([known]);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    proxy.cut();
    await expect.poll(() => keys.current().keyId).toBe(keyId);
    expect(keys.ageSeconds()).toBeLessThan(10);
  });
});
