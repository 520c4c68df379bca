import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createSecret, secretValue } from "../../../test/support/secret-calls.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { createLogger } from "../../platform/logger.ts";
import { createFindSecrets } from "./find-stored-secrets.ts";

const perch = usePerch();
const update = "PATCH /v1/secrets/{secret_name}";
const params = { secret_name: "github_token" };
const hosts = ["api.github.com", "uploads.github.com"];

async function createOrganisationWithSecret() {
  const organisation = await perch().createOrganisation();
  const before = await createSecret(organisation, { hosts });
  return { ...organisation, before };
}

/** As a worker sees it: undefined if its value does not open. */
async function findSecret({ id }: Organisation, agentId: string | null = null) {
  const { core } = perch().server;
  const find = createFindSecrets({
    db: core.db,
    sealer: core.keys.secrets,
    logger: createLogger("silent"),
    now: core.nowMs,
  });
  const owner = { organisationId: parsePublicId("organisation", id) ?? "", agentId };
  return (await find(owner, ["github_token"])).get("github_token");
}

describe(update, () => {
  test("200 replaces the value and keeps the hosts, and names the key that did it", async () => {
    verifies("secrets.rotation");
    const organisation = await createOrganisationWithSecret();
    const { call, createKey, before } = organisation;
    const second = await createKey({ role: "admin" });
    const { id: updated_by } = ok(await call("GET /v1/me", {}, second)).data.key;
    const { data } = ok(await call(update, { params, body: { value: "the next value" } }, second));
    expect(data).toEqual({ ...before, updated_by, updated_at: data.updated_at });
    expect(data.updated_at > before.updated_at).toBe(true);
    expect((await findSecret(organisation))?.value).toBe("the next value");
  });

  test("200 removes hosts without the value, and replaces them with it", async () => {
    verifies("secrets.hosts");
    const organisation = await createOrganisationWithSecret();
    const { call } = organisation;
    const removed = ok(await call(update, { params, body: { hosts: ["uploads.github.com"] } }));
    expect(removed.data.hosts).toEqual(["uploads.github.com"]);
    expect(await findSecret(organisation)).toEqual({ value: secretValue, origins: ["https://uploads.github.com"] });
    const body = { hosts: ["gitlab.com"], value: "the next value" };
    expect(ok(await call(update, { params, body })).data.hosts).toEqual(["gitlab.com"]);
    expect(await findSecret(organisation)).toEqual({ value: "the next value", origins: ["https://gitlab.com"] });
  });

  test("200 keeps the approval with a new value and new hosts, and changes it without the value", async () => {
    verifies("approvals.floor");
    const organisation = await createOrganisationWithSecret();
    const { call } = organisation;
    const change = async (body: object) => ok(await call(update, { params, body })).data.approval;
    expect(await change({ approval: "required" })).toBe("required");
    const found = { value: secretValue, origins: hosts.map((host) => `https://${host}`), needsApproval: true };
    expect(await findSecret(organisation)).toEqual(found);
    expect(await change({ value: "the next value" })).toBe("required");
    expect(await change({ hosts: ["api.github.com"] })).toBe("required");
    expect(await findSecret(organisation)).toMatchObject({ value: "the next value", needsApproval: true });
    expect(await change({ approval: null })).toBeNull();
    expect(await findSecret(organisation)).toEqual({ value: "the next value", origins: ["https://api.github.com"] });
  });

  test("200 for the same hosts in another order or spelling", async () => {
    const organisation = await createOrganisationWithSecret();
    const body = { hosts: ["https://uploads.github.com", "api.github.com:443"] };
    expect(ok(await organisation.call(update, { params, body })).data.hosts).toEqual(hosts.toReversed());
    expect((await findSecret(organisation))?.value).toBe(secretValue);
  });

  test("200 without a change for a body that changes nothing", async () => {
    const { call, before } = await createOrganisationWithSecret();
    expect(ok(await call(update, { params, body: {} })).data).toEqual(before);
  });

  test("400 names an invalid value, 404 for a missing secret, 403 for a developer", async () => {
    const { call, createKey } = await createOrganisationWithSecret();
    const wrong = await call(update, { params, body: { value: "seven77" } });
    expect(expectError(wrong, "invalid_request").details?.map(({ field }) => field)).toEqual(["value"]);
    const absent = { secret_name: "absent" };
    expectError(await call(update, { params: absent, body: { value: "the next value" } }), "not_found");
    const developer = await createKey({ role: "developer" });
    expectError(await call(update, { params, body: { value: "the next value" } }, developer), "forbidden");
  });
});

describe("PATCH /v1/agents/{agent_id}/secrets/{secret_name}", () => {
  test("200 changes the agent's own secret and leaves the organisation's", async () => {
    verifies("secrets.of-agents");
    const organisation = await createOrganisationWithSecret();
    const { call } = organisation;
    const { data: agent } = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const one = { agent_id: "bot", secret_name: "github_token" };
    const body = { value: "the next value" };
    expectError(await call("PATCH /v1/agents/{agent_id}/secrets/{secret_name}", { params: one, body }), "not_found");
    const before = await createSecret(organisation, { agent: "bot" });
    const { data } = ok(await call("PATCH /v1/agents/{agent_id}/secrets/{secret_name}", { params: one, body }));
    expect(data).toEqual({ ...before, updated_at: data.updated_at });
    expect((await findSecret(organisation, parsePublicId("agent", agent.id)))?.value).toBe("the next value");
    expect((await findSecret(organisation))?.value).toBe(secretValue);
  });
});
