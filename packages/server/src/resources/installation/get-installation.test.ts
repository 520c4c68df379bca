import { type Installation, type InstallationPart, roles } from "@perch/contract";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { startValkey } from "@perch/testkit/installation/valkey-process.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, startPerch, usePerch } from "../../../test/support/harness.ts";
import { openTestDatabase } from "../../../test/support/open-database.ts";
import { currentSchema } from "../../db/migrate.ts";
import { runCreateKey } from "../../operator/commands/run-create-key.ts";
import { version } from "../../platform/version.ts";
import { createReadInstallation } from "./read-installation.ts";

const perch = usePerch({}, { withWorker: true });

const operator = ["read", "operate"];
const read = async (organisation: Organisation, key: string): Promise<Installation> =>
  ok(await organisation.call("GET /v1/installation", {}, key)).data;
const statusOf = ({ parts }: Installation, name: InstallationPart["name"]) =>
  parts.filter((part) => part.name === name).map(({ status }) => status);

describe("GET /v1/installation", () => {
  test("shows the version, every part, the connections, and the release that takes new runs", async () => {
    verifies("installation.parts", "installation.releases");
    const organisation = await perch().createOrganisation();
    const found = await read(organisation, await organisation.createKey({ permissions: operator }));
    expect(found.version).toBe(version);
    expect(found.parts.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "database ok",
      "engine ok",
      "engine_admin ok",
      "workers ok",
      "valkey not_configured",
    ]);
    expect(found.database).toMatchObject({ pending_migrations: [], requests_waiting: 0 });
    expect(found.database?.size_bytes).toBeGreaterThan(1_000_000);
    expect(found.database?.connections_open).toBeLessThanOrEqual(found.database?.connections_max ?? 0);
    expect(found.engine).toMatchObject({ invocations: { running: expect.any(Number) }, tasks_waiting: 0 });
    expect(found.valkey).toEqual({ memory_bytes: null, limits: "per_node" });
    expect(found.releases).toMatchObject([{ release: version, state: "takes_new_runs", runs: expect.any(Number) }]);
  });

  test("names no organisation, no agent, and no password of an address", async () => {
    verifies("installation.no-tenants");
    const organisation = await perch().createOrganisation();
    ok(await organisation.call("POST /v1/agents", { body: { name: "agent-of-a-tenant", model: "perch/echo" } }));
    const text = JSON.stringify(await read(organisation, await organisation.createKey({ permissions: operator })));
    const { password } = new URL(perch().database.appUrl);
    expect(password.length).toBeGreaterThan(3);
    for (const secret of [organisation.id, "agent-of-a-tenant", password]) expect(text).not.toContain(secret);
  });

  test("asks the parts once for all callers within two seconds", async () => {
    const organisation = await perch().createOrganisation();
    const key = await organisation.createKey({ permissions: operator });
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => read(organisation, key)));
    for (const other of others) expect(other.checked_at).toBe(first?.checked_at);
  });
});

describe("the permission operate", () => {
  test("is in no role: an admin is refused, and cannot give it", async () => {
    verifies("installation.operate-in-no-role");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    expectError(await call("GET /v1/installation", {}), "forbidden");
    const body = { name: "operator", permissions: ["operate" as const] };
    expectError(await call("POST /v1/keys", { body }), "forbidden");
    const { id: key_id } = ok(await call("GET /v1/me", {})).data.key;
    const permissions = ["manage" as const, "operate" as const];
    expectError(await call("PATCH /v1/keys/{key_id}", { params: { key_id }, body: { permissions } }), "forbidden");
  });

  test("an admin cannot get it by rotating an operator's key, and may revoke it", async () => {
    verifies("installation.operate-in-no-role");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const key = await organisation.createKey({ permissions: operator });
    const params = { key_id: ok(await call("GET /v1/me", {}, key)).data.key.id };
    expectError(await call("POST /v1/keys/{key_id}/rotate", { params, body: {} }), "forbidden");
    expectError(await call("PATCH /v1/keys/{key_id}", { params, body: { expires_at: null } }), "forbidden");
    ok(await call("DELETE /v1/keys/{key_id}", { params }));
    expectError(await call("GET /v1/installation", {}, key), "unauthorized");
  });

  test("a key that has it and manage grants it to others, and never to a key of one agent", async () => {
    verifies("installation.operate-in-no-role");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const holder = await organisation.createKey({ permissions: ["read", "write", "manage", "operate"] });
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const body = { name: "on call", permissions: ["operate" as const] };
    const given = ok(await call("POST /v1/keys", { body }, holder)).data.key;
    expect((await read(organisation, given)).version).toBe(version);
    const bound = { ...body, agent_id: "bot" };
    expectError(await call("POST /v1/keys", { body: bound }, holder), "invalid_request");
    const ofAgent = { name: "bound", permissions: ["read" as const], agent_id: "bot" };
    const { id: key_id } = ok(await call("POST /v1/keys", { body: ofAgent }, holder)).data;
    const patch = { params: { key_id }, body: { permissions: ["operate" as const] } };
    expectError(await call("PATCH /v1/keys/{key_id}", patch, holder), "invalid_request");
  });

  test("`create-key --operate` gives it beside a role, viewer unless another is named, and the key has no role then", async () => {
    verifies("installation.operate-in-no-role");
    const organisation = await perch().createOrganisation();
    const { config, logger } = perch().server.core;
    const printed = vi.spyOn(console, "log").mockImplementation(() => {});
    vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    const create = async (...options: string[]) => {
      await runCreateKey(config, logger, ["--organisation", organisation.id, ...options]);
      const key = String(printed.mock.lastCall?.[0]);
      return { key, ...ok(await organisation.call("GET /v1/me", {}, key)).data.key };
    };
    const least = await create("--operate");
    expect(least).toMatchObject({ role: null, permissions: ["read", "operate"] });
    expect((await read(organisation, least.key)).version).toBe(version);
    const more = await create("--role", "developer", "--operate");
    expect(more).toMatchObject({ role: null, permissions: [...roles.developer, "operate"] });
    expect(await create()).toMatchObject({ role: "admin", permissions: roles.admin });
  });
});

describe("parts that are silent", () => {
  test("Valkey that stands still or is gone is silent, and ok again when it is back; limits are per node in the meantime", async () => {
    verifies("installation.silent-parts");
    const valkey = await startValkey();
    const alone = await startPerch({ valkeyUrl: valkey.url, valkeyTimeoutMs: 100 });
    onTestFinished(async () => {
      await alone.stop();
      await valkey.kill();
    });
    const organisation = await alone.createOrganisation();
    const key = await organisation.createKey({ permissions: operator });
    const look = async () => {
      const found = await read(organisation, key);
      return [...statusOf(found, "valkey"), found.valkey.limits];
    };
    await expect.poll(look, { timeout: 10_000 }).toEqual(["ok", "shared"]);
    valkey.freeze();
    await expect.poll(look, { timeout: 10_000 }).toEqual(["silent", "per_node"]);
    valkey.thaw();
    await expect.poll(look, { timeout: 10_000 }).toEqual(["ok", "shared"]);
    await valkey.kill();
    await expect.poll(look, { timeout: 10_000 }).toEqual(["silent", "per_node"]);
  });

  const nowhere = async () => `127.0.0.1:${await freePort()}`;
  const places = { placeOf: (address: string) => new URL(address).host, now: Date.now, maxConnections: 4 };

  test("with every part dead or standing still the answer takes less than 2.5 s, with the reason", async () => {
    verifies("installation.silent-parts", "installation.bounded");
    const schema = await currentSchema();
    const db = openTestDatabase(`postgres://nobody:x@${await nowhere()}/perch`, 2);
    onTestFinished(() => db.close());
    const readInstallation = createReadInstallation({
      ...{ ...places, db, schema, databaseAddress: "gone" },
      ingressUrls: [`http://${await nowhere()}`, "http://192.0.2.1:8080"],
      adminUrls: ["http://192.0.2.1:9070", `http://${await nowhere()}`],
      valkey: { address: "gone", readMemory: () => new Promise(() => undefined) },
    });
    const startedMs = performance.now();
    const found = await readInstallation();
    expect(performance.now() - startedMs).toBeLessThan(2500);
    expect(found).toMatchObject({ database: null, releases: null, engine: { invocations: null, tasks_waiting: null } });
    expect(statusOf(found, "database")).toEqual(["silent"]);
    expect(statusOf(found, "engine")).toEqual(["silent", "silent"]);
    expect(statusOf(found, "engine_admin")).toEqual(["silent", "silent"]);
    expect(statusOf(found, "valkey")).toEqual(["silent"]);
    for (const { status, message } of found.parts) if (status === "silent") expect(message).toMatch(/\w{3}/);
  });

  test("a node without the engine's admin address says so, and one dead node of the engine hides nothing", async () => {
    verifies("installation.silent-parts");
    const { config, db } = perch().server.core;
    const common = { ...places, db, schema: await currentSchema(), databaseAddress: "db", valkey: undefined };
    const { ingressUrls, adminUrls } = config;
    const without = await createReadInstallation({ ...common, ingressUrls, adminUrls: [] })();
    expect(statusOf(without, "engine_admin")).toEqual(["not_configured"]);
    expect(statusOf(without, "workers")).toEqual(["not_configured"]);
    expect(without.releases).toBeNull();
    const dead = `http://${await nowhere()}`;
    const half = await createReadInstallation({
      ...{ ...common, ingressUrls: [dead, ...ingressUrls], adminUrls: [dead, ...adminUrls] },
    })();
    expect(statusOf(half, "engine")).toEqual(["silent", "ok"]);
    expect(statusOf(half, "engine_admin")).toEqual(["silent", "ok"]);
    expect(half.releases).toHaveLength(1);
  });
});
