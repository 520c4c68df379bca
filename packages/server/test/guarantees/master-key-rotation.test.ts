import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, expect, test, vi } from "vitest";
import { dataKeyPurposes } from "../../src/compose/resources.ts";
import type { Config } from "../../src/config/config.ts";
import { createDataKeys, masterKeyName } from "../../src/db/data-keys.ts";
import { runRotateMasterKey } from "../../src/operator/commands/run-rotate-master-key.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { MasterKeyError } from "../../src/platform/sealing.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { openApiKey } from "../../src/resources/providers/provider-keys.ts";
import { createFindSecrets } from "../../src/resources/secrets/find-stored-secrets.ts";
import { enrolSecondFactor } from "../support/authenticator.ts";
import { ok } from "../support/contract-client.ts";
import { startApi, startPerch, testConfig } from "../support/harness.ts";
import { createSecret, secretValue } from "../support/secret-calls.ts";

const silent = createLogger("silent");
const [oldKey, newKey, thirdKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const secret = "a secret that has 32 bytes or more";
const perch = await startPerch({ masterKey: oldKey });
afterAll(() => perch.stop());

const startNode = async (change: Partial<Config>) => {
  const server = await startApi(testConfig(perch.database, change), silent);
  return { server, url: await server.app.listen({ host: "127.0.0.1", port: 0 }) };
};

const userToken = () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const body = `${part({ alg: "HS256" })}.${part({ user_id: "u", iat: now, exp: now + 60 })}`;
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
};

const masterKeysInUse = () =>
  withClient(perch.database.adminUrl, async (client) => {
    const { rows } = await client.query<{ master_key: string }>("select distinct master_key from data_keys");
    return rows.map(({ master_key }) => master_key);
  });

test("no request fails during a rotation of the master key, and every secret stays readable", async () => {
  verifies("security.master-key-rotation");
  const organisation = await perch.createOrganisation();
  const provider = { name: "acme", type: "openai" as const, api_key: "sk-rotating" };
  ok(await organisation.call("POST /v1/providers", { body: provider }));
  await createSecret(organisation);
  const auth = { type: "jwt" as const, secret };
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", auth } }));
  const factor = await enrolSecondFactor(organisation);
  const headers = { authorization: `Bearer ${organisation.adminKey}`, "content-type": "application/json" };

  let urls = [perch.url];
  const statuses: Record<string, number> = {};
  let stop = false;
  const load = async (name: string, ask: (url: string) => Promise<Response>) => {
    for (let i = 0; !stop; i += 1) {
      const answer = await ask(urls[i % urls.length] ?? "");
      await answer.arrayBuffer();
      const kind = `${name} ${answer.status}`;
      statuses[kind] = (statuses[kind] ?? 0) + 1;
    }
  };
  const body = JSON.stringify({ name: "kept", model: "perch/echo" });
  const loads = Promise.all([
    load("key", (url) => fetch(`${url}/v1/me`, { headers })),
    load("user token", (url) =>
      fetch(`${url}/v1/agents/bot`, { headers: { ...headers, "x-user-token": userToken() } }),
    ),
    load("kept answer", (url) =>
      fetch(`${url}/v1/agents`, { method: "POST", headers: { ...headers, "idempotency-key": "same" }, body }),
    ),
    load("provider", (url) =>
      fetch(`${url}/v1/providers/acme`, { method: "PATCH", headers, body: JSON.stringify({ models: ["a"] }) }),
    ),
    // Opens the value and seals it again.
    load("secret", (url) =>
      fetch(`${url}/v1/secrets/github_token`, {
        method: "PATCH",
        headers,
        body: JSON.stringify({ hosts: ["api.github.com"] }),
      }),
    ),
  ]);

  await sleep(300);
  const both = await startNode({ masterKey: newKey, previousMasterKeys: [oldKey] });
  urls = [perch.url, both.url];
  await sleep(300);
  const consoleLog = vi.spyOn(console, "log").mockImplementation(() => {});
  await Promise.all(
    [1, 2].map(() =>
      runRotateMasterKey(testConfig(perch.database, { masterKey: newKey, previousMasterKeys: [oldKey] }), silent),
    ),
  );
  consoleLog.mockRestore();
  await sleep(300);
  const last = await startNode({ masterKey: newKey });
  urls = [last.url, both.url, perch.url];
  await sleep(300);
  stop = true;
  await loads;

  console.log(`master key rotation: ${JSON.stringify(statuses)}`);
  expect(Object.keys(statuses).sort()).toEqual([
    "kept answer 201",
    "key 200",
    "provider 200",
    "secret 200",
    "user token 200",
  ]);
  expect(await masterKeysInUse()).toEqual([masterKeyName(newKey)]);
  const { core } = last.server;
  const { rows } = await withClient(perch.database.adminUrl, (client) =>
    client.query<{ organisation_id: string; sealed_api_key: Buffer }>(
      "select organisation_id, sealed_api_key from model_providers",
    ),
  );
  const sealedFor = { organisationId: rows[0]?.organisation_id ?? "", name: "acme", baseUrl: null };
  expect(openApiKey(core.keys.providerKeys, rows[0]?.sealed_api_key ?? null, sealedFor)).toBe("sk-rotating");
  const findSecrets = createFindSecrets({ ...core, sealer: core.keys.secrets, now: core.nowMs });
  const owner = { organisationId: sealedFor.organisationId, agentId: null };
  expect((await findSecrets(owner, ["github_token"])).get("github_token")?.value).toBe(secretValue);
  const stepUp = await fetch(`${last.url}/v1/mfa/step-up`, {
    method: "POST",
    headers,
    body: JSON.stringify({ code: generateTotpCode(factor.secret) }),
  });
  expect(stepUp.status).toBe(201);
  for (const node of [both, last]) await shutDown(node.server.shutdownSteps, silent);
});

test("a server with only the old key does not start, and names the key it needs", async () => {
  const start = startNode({ masterKey: oldKey });
  await expect(start).rejects.toThrow(MasterKeyError);
  await expect(start).rejects.toThrow(masterKeyName(newKey));
});

test("a killed rotation is finished by the next, and servers can start in between", async () => {
  const { db } = perch.server.core;
  let updates = 0;
  const dying = new Proxy(db.unscoped, {
    get: (target, name) => {
      if (name === "updateTable" && ++updates > 3) throw new Error("killed");
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  await expect(
    createDataKeys(dying, { current: thirdKey, previous: [newKey] }, dataKeyPurposes).rewrap(),
  ).rejects.toThrow("killed");
  expect((await masterKeysInUse()).sort()).toEqual([masterKeyName(newKey), masterKeyName(thirdKey)].sort());
  const between = createDataKeys(db.unscoped, { current: thirdKey, previous: [newKey] }, dataKeyPurposes);
  await between.load();
  expect(await between.rewrap()).toBe(dataKeyPurposes.length - 3);
  expect(await between.rewrap()).toBe(0);
  expect(await masterKeysInUse()).toEqual([masterKeyName(thirdKey)]);
});

test("no row contains a data key or a master key in plain text", async () => {
  const { rows } = await withClient(perch.database.adminUrl, (client) =>
    client.query<{ wrapped: Buffer }>("select wrapped from data_keys"),
  );
  expect(rows).toHaveLength(dataKeyPurposes.length);
  const keys = [oldKey, newKey, thirdKey, ...dataKeyPurposes.map((one) => perch.server.core.dataKeys.keyFor(one)())];
  for (const { wrapped } of rows) for (const key of keys) expect(wrapped.includes(key)).toBe(false);
});
