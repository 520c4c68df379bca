import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, expect, test } from "vitest";
import { createSigningKeys, rotateSigningKey } from "../../src/db/signing-keys.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { createKeyPair } from "../../src/platform/signing-key.ts";
import { collectLogs } from "../support/collected-logs.ts";
import { expectError } from "../support/contract-client.ts";
import { startPerch } from "../support/harness.ts";
import { openTestDatabase } from "../support/open-database.ts";
import { sendRawRequest } from "../support/raw-request.ts";

const path = "/.well-known/http-message-signatures-directory";
const { logger, logged } = collectLogs();
const perch = await startPerch({ publicUrl: "https://perch.example" }, { logger });
afterAll(() => perch.stop());
const { core } = perch.server;
const sealer = core.keys.signingKeySealer;
const db = core.db.unscoped;

const admin = (query: string, values: unknown[] = []) =>
  withClient(
    perch.database.adminUrl,
    async (client) => (await client.query<Record<string, unknown>>(query, values)).rows,
  );
const listed = async () => {
  await sleep(1100);
  const { keys } = (await (await fetch(perch.url + path)).json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
};

/** A process that starts now. */
async function startRing() {
  const opened = openTestDatabase(perch.database.appUrl, 2);
  const keys = createSigningKeys({ db: opened.unscoped, sealer, logger: createLogger("silent"), now: Date.now });
  try {
    await keys.load();
    return (await keys.list()).map(({ keyId }) => keyId);
  } finally {
    keys.stop();
    await opened.close();
  }
}

/** Acts as an attacker who can write to the database, but has no data key. */
async function plant(sealed: Buffer): Promise<string> {
  const { keyId, publicKey } = createKeyPair();
  await admin("update signing_keys set retires_at = now() + interval '1 day' where retires_at is null");
  await admin(
    "insert into signing_keys (key_id, public_key, sealed_private_key, signs_from) values ($1, $2, $3, now())",
    [keyId, Buffer.from(publicKey, "base64url"), sealed],
  );
  return keyId;
}

test("a key that an attacker wrote into the database is neither listed nor used, and the log names it", async () => {
  verifies("security.signing-keys-sealed");
  const before = await listed();
  const planted = await plant(generateKeyPairSync("ed25519").privateKey.export({ format: "der", type: "pkcs8" }));
  expect(await listed()).toEqual(before);
  expect(core.outbound.signingKeys.current().keyId).toBe(before[0]);
  expect(await startRing()).toEqual(before);
  expect(logged()).toContain(planted);
  await admin("delete from signing_keys where key_id = $1", [planted]);
  await admin("update signing_keys set retires_at = null");
});

test("a sealed key of another row does not open under a new id", async () => {
  const before = await listed();
  const [row] = await admin("select sealed_private_key from signing_keys");
  const planted = await plant(row?.sealed_private_key as Buffer);
  expect(await listed()).toEqual(before);
  expect(await startRing()).toEqual(before);
  await admin("delete from signing_keys where key_id = $1", [planted]);
  await admin("update signing_keys set retires_at = null");
});

test("a process that can open no key refuses to start and names the remedy, which works", async () => {
  await rotateSigningKey(db, sealer, { overlapSeconds: 600, revoke: false });
  const rows = await admin("select key_id, sealed_private_key from signing_keys order by key_id");
  const [first, second] = rows;
  for (const [to, from] of [
    [first, second],
    [second, first],
  ])
    await admin("update signing_keys set sealed_private_key = $2 where key_id = $1", [
      to?.key_id,
      from?.sealed_private_key,
    ]);
  await expect(startRing()).rejects.toThrow("rotate-signing-key --revoke");
  // Servers that run have the keys and continue to sign.
  expect(rows.map(({ key_id }) => key_id)).toContain(core.outbound.signingKeys.current().keyId);
  const { keyId } = await rotateSigningKey(db, sealer, { overlapSeconds: 600, revoke: true });
  expect(await startRing()).toEqual([keyId]);
  expect(await listed()).toEqual([keyId]);
});

test("a client that asks for the directory under another name gets no proof for that name", async () => {
  const asked = await sendRawRequest(perch.url + path, { headers: { host: "evil.example" } });
  const plain = await sendRawRequest(perch.url + path, {});
  expect(asked.headers["signature-input"]).toBe(plain.headers["signature-input"]);
  expect(asked.headers.signature).toBe(plain.headers.signature);
  expect(JSON.stringify(asked)).not.toContain("evil.example");
});

/**
 * The private key as bytes, hex, base64 and base64url, by itself and within its PKCS #8 form, and the hex that
 * PostgreSQL shows of such texts.
 */
function formsOf(privateKey: KeyObject): string[] {
  const raw = Buffer.from(privateKey.export({ format: "jwk" }).d ?? "", "base64url");
  const der = privateKey.export({ format: "der", type: "pkcs8" });
  const texts = [
    raw.toString("base64url"),
    raw.toString("base64").replace("=", ""),
    // The position of the 32 bytes in the base64 of the whole, from which on no character depends on earlier bytes.
    der.toString("base64").slice(22, 63),
    der.toString("base64url").slice(22, 63),
  ];
  return [raw.toString("hex"), ...texts, ...texts.map((text) => Buffer.from(text).toString("hex"))];
}

test("the private key is in no answer, no log at trace level and no row", async () => {
  verifies("security.signing-keys-sealed");
  const { privateKey, keyId } = core.outbound.signingKeys.current();
  const forms = formsOf(privateKey);
  const leaks = (text: string) => forms.some((form) => text.includes(form));
  const { rows } = await withClient(perch.database.adminUrl, (client) =>
    client.query<{ name: string }>("select tablename as name from pg_tables where schemaname = 'public'"),
  );
  const readRows = async () =>
    JSON.stringify(await Promise.all(rows.map(({ name }) => admin(`select t::text as row from "${name}" t`))));
  const stored = await readRows();
  const answers = await Promise.all(
    [path, "/openapi.json", "/readyz"].map(async (each) => (await fetch(perch.url + each)).text()),
  );
  // The scan works: it finds the key's id, which is public.
  for (const text of [stored, answers.join()]) expect(text).toContain(keyId);
  expect(logged()).toContain("signing key");
  expect([stored, logged(), answers.join()].map(leaks)).toEqual([false, false, false]);
  // And it would find the key in a row.
  const der = privateKey.export({ format: "der", type: "pkcs8" });
  for (const leaked of [der, Buffer.from(der.toString("base64")), Buffer.from(der.toString("base64url"))]) {
    const planted = await plant(leaked);
    expect(leaks(await readRows())).toBe(true);
    await admin("delete from signing_keys where key_id = $1", [planted]);
    await admin("update signing_keys set retires_at = null");
  }
});

test.each([
  ...["Signature", "Signature-Input", "signature-agent", "Content-Digest", "X-Request-Id", "Traceparent"],
  ...["Perch-Organisation", "perch-agent"],
])("an agent's definition cannot set %s itself", async (name) => {
  const { call } = await perch.createOrganisation();
  const tool = {
    type: "http" as const,
    name: "book",
    description: "Books.",
    method: "POST" as const,
    url: "https://tools.example/book",
    parameters: { type: "object" as const },
    headers: { [name]: "forged" },
  };
  const body = { name: `bot-${randomBytes(4).toString("hex")}`, model: "perch/echo", tools: [tool] };
  expectError(await call("POST /v1/agents", { body }), "invalid_request");
});
