import type { Permission } from "@perch/contract";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { runCreateKey } from "../../src/operator/commands/run-create-key.ts";
import { runSetOrganisation } from "../../src/operator/commands/run-set-organisation.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { publicUrl } from "../support/approval-links.ts";
import { expectError, ok, send } from "../support/contract-client.ts";
import { type ApiNode, type Organisation, usePerch } from "../support/harness.ts";

/** Attacks of docs/security/approvals.md by callers with `manage` on an organisation in which it does not give `approve`. */
const perch = usePerch({ publicUrl, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") });
let other: ApiNode;
beforeAll(async () => {
  other = await perch().addApiNode();
});

const withApprove: Permission[] = ["read", "approve"];
const deciders = { name: "decider", permissions: withApprove };
const linked = {
  url: "https://hooks.example/links",
  events: ["agent.action_required" as const],
  approval_links: true,
};

let organisation: Organisation;
/** Has `manage` and all other permissions of an admin, but not `approve`. */
let manager: string;
/** Has both. */
let approver: string;
let decider: { readonly id: string; readonly key: string };
let webhook: { readonly id: string };

const switchOff = (of: Organisation, as?: string) =>
  of.call("PATCH /v1/organisation", { body: { manage_grants_approve: false } }, as);

beforeEach(async () => {
  organisation = await perch().createOrganisation();
  const { call, adminKey, createKey } = organisation;
  manager = adminKey;
  approver = await createKey({ permissions: ["read", "write", "manage", "approve"] });
  decider = ok(await call("POST /v1/keys", { body: deciders })).data;
  webhook = ok(await call("POST /v1/webhooks", { body: linked })).data;
  expect(ok(await switchOff(organisation)).data.manage_grants_approve).toBe(false);
});

/** Every way in which `approve`, or what decides without it, is given. */
const grants = {
  "creating a key": (as: string) => organisation.call("POST /v1/keys", { body: deciders }, as),
  "adding it to a key": async (as: string) => {
    const viewer = ok(await organisation.call("POST /v1/keys", { body: { name: "viewer", role: "viewer" } })).data;
    const patch = { params: { key_id: viewer.id }, body: { permissions: withApprove } };
    return organisation.call("PATCH /v1/keys/{key_id}", patch, as);
  },
  "making a key with it last longer": (as: string) =>
    organisation.call(
      "PATCH /v1/keys/{key_id}",
      { params: { key_id: decider.id }, body: { expires_at: inADay() } },
      as,
    ),
  "rotating a key with it": (as: string) =>
    organisation.call("POST /v1/keys/{key_id}/rotate", { params: { key_id: decider.id }, body: {} }, as),
  "creating a webhook with links": (as: string) => organisation.call("POST /v1/webhooks", { body: linked }, as),
  "turning links on": async (as: string) => {
    const body = { ...linked, approval_links: false };
    const { id } = ok(await organisation.call("POST /v1/webhooks", { body })).data;
    return changeWebhook(id, { approval_links: true }, as);
  },
  "changing the address of a webhook with links": (as: string) =>
    changeWebhook(webhook.id, { url: "https://hooks.example/mine" }, as),
  "changing the headers of a webhook with links": (as: string) =>
    changeWebhook(webhook.id, { headers: { "X-Forward-To": "me" } }, as),
  "replacing the secret of a webhook with links": (as: string) =>
    organisation.call("POST /v1/webhooks/{webhook_id}/rotate", { params: { webhook_id: webhook.id }, body: {} }, as),
} as const;

const inADay = () => new Date(Date.now() + 86_400_000).toISOString();
const changeWebhook = (webhook_id: string, body: object, as?: string) =>
  organisation.call("PATCH /v1/webhooks/{webhook_id}", { params: { webhook_id }, body }, as);

const stateOf = async () => ({
  keys: ok(await organisation.call("GET /v1/keys", { query: { limit: 100 } })).data.map(
    ({ id, permissions, expires_at }) => ({ id, permissions, expires_at }),
  ),
  webhook: ok(await organisation.call("GET /v1/webhooks/{webhook_id}", { params: { webhook_id: webhook.id } })).data,
});

describe.each(Object.entries(grants))("%s", (name, grant) => {
  test("403 for a key with manage that names both ways on, and 2xx for a key with manage and approve", async () => {
    verifies("approvals.grants");
    const refused = expectError((await grant(manager)) as never, "forbidden");
    expect(refused.message).toContain("Use a key that has `manage` and `approve`");
    expect(refused.message).toContain("`perch-server create-key --approve`");
    const { keys } = await stateOf();
    expect(keys.filter(({ permissions }) => permissions.includes("approve")).map(({ id }) => id)).toHaveLength(2);
    expect(keys.find(({ id }) => id === decider.id)?.expires_at).toBeNull();
    expect((await stateOf()).webhook).toMatchObject({ url: linked.url, headers: {} });
    expect([200, 201], name).toContain((await grant(approver)).status);
  });

  test("2xx for a key with manage in an organisation that has not forbidden it", async () => {
    verifies("approvals.grants");
    const forbidding = organisation;
    organisation = await perch().createOrganisation();
    decider = ok(await organisation.call("POST /v1/keys", { body: deciders })).data;
    webhook = ok(await organisation.call("POST /v1/webhooks", { body: linked })).data;
    expect(ok(await forbidding.call("GET /v1/organisation", {})).data.manage_grants_approve).toBe(false);
    expect([200, 201]).toContain((await grant(organisation.adminKey)).status);
  });
});

test("a key with manage still takes approve away, and turns links off", async () => {
  verifies("approvals.grants");
  const { call } = organisation;
  const narrowed = { params: { key_id: decider.id }, body: { permissions: ["read" as const] } };
  expect(ok(await call("PATCH /v1/keys/{key_id}", narrowed)).data.permissions).toEqual(["read"]);
  expect(ok(await changeWebhook(webhook.id, { approval_links: false })).data.approval_links).toBe(false);
});

describe("the switch", () => {
  test.each([
    ["with manage", () => manager],
    ["with manage and approve", () => approver],
  ])("403 for a key %s that switches it on again, naming the operator's command", async (_, key) => {
    verifies("approvals.grants-switch");
    const body = { manage_grants_approve: true };
    const refused = expectError(await organisation.call("PATCH /v1/organisation", { body }, key()), "forbidden");
    expect(refused.message).toContain(
      `perch-server set-organisation --organisation ${organisation.id} --manage-grants-approve on`,
    );
    expectError(await grants["creating a key"](manager), "forbidden");
  });

  test("403 for a key of one agent, which changes nothing", async () => {
    verifies("approvals.grants-switch");
    const { call, createKey } = await perch().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const bound = await createKey({ permissions: ["read", "manage"], agent_id: "bot" });
    const body = { manage_grants_approve: false };
    expectError(await call("PATCH /v1/organisation", { body }, bound), "forbidden");
    expect(ok(await call("GET /v1/organisation", {}, bound)).data.manage_grants_approve).toBe(true);
  });

  test("is off on another node with its answer, which waits for grants that have begun there", async () => {
    verifies("approvals.grants-switch");
    const fresh = await perch().createOrganisation();
    const grant = () => send(other.url, fresh.adminKey, "POST /v1/keys", { body: deciders });
    await withClient(perch().database.adminUrl, async (admin) => {
      const countWaiting = async (): Promise<number> =>
        (
          await admin.query(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          )
        ).rowCount ?? 0;
      // A grant takes this lock after it has read the setting.
      const quota = [`perch quota keys ${parsePublicId("organisation", fresh.id)}`];
      await admin.query("select pg_advisory_lock(hashtextextended($1, 0))", quota);
      const begun = grant();
      await expect.poll(countWaiting, { timeout: 10_000 }).toBe(1);
      const switched = switchOff(fresh);
      await expect.poll(countWaiting, { timeout: 10_000 }).toBe(2);
      await admin.query("select pg_advisory_unlock(hashtextextended($1, 0))", quota);
      ok(await begun);
      ok(await switched);
    });
    expectError(await grant(), "forbidden");
  });

  test("is switched on by the operator's command alone, which the audit log records, and makes the first key with approve", async () => {
    verifies("approvals.grants-switch");
    const { config, logger } = perch().server.core;
    const printed = vi.spyOn(console, "log").mockImplementation(() => {});
    vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    await runCreateKey(config, logger, ["--organisation", organisation.id, "--role", "viewer", "--approve"]);
    const { key } = ok(await organisation.call("GET /v1/me", {}, String(printed.mock.lastCall?.[0]))).data;
    expect(key).toMatchObject({ role: null, permissions: ["read", "approve"] });

    const options = ["--organisation", organisation.id, "--manage-grants-approve"];
    await expect(runSetOrganisation(config, logger, [...options, "yes"])).rejects.toThrow("on or off");
    expectError(await grants["creating a key"](manager), "forbidden");
    await runSetOrganisation(config, logger, [...options, "on"]);
    expect(ok(await grants["creating a key"](manager)).data.permissions).toEqual(withApprove);
    const { data } = ok(await organisation.call("GET /v1/audit-log", { query: { resource: organisation.id } }));
    expect(data.slice(0, 2)).toMatchObject([
      {
        actor: "operator",
        operation: "set-organisation",
        resource_type: "organisation",
        details: { fields: ["manage_grants_approve"], reason: "--manage-grants-approve on" },
      },
      { actor: "key", operation: "updateOrganisation", details: { fields: ["manage_grants_approve"] } },
    ]);
  });
});
