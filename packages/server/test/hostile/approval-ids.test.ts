import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { newUuid, toPublicId } from "../../src/platform/ids.ts";
import { createLinkWebhook, createToken, publicUrl } from "../support/approval-links.ts";
import { expectError, ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { insertWaitingRun } from "../support/stored-approvals.ts";

/** Attacks of docs/security/approvals.md on ids and on who gets links; those on links are in `approval-links.test.ts`. */
const perch = usePerch({ publicUrl });

let organisation: Organisation;
let foreign: Organisation;
const keys: Record<string, string> = {};
beforeAll(async () => {
  [organisation, foreign] = [await perch().createOrganisation(), await perch().createOrganisation()];
  for (const each of [organisation, foreign])
    for (const name of ["bot", "other"])
      ok(await each.call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  keys.approve = await organisation.createKey({ permissions: ["read", "approve"] });
  keys.ofOtherAgent = await organisation.createKey({ permissions: ["read", "approve"], agent_id: "other" });
  keys.foreign = await foreign.createKey({ permissions: ["read", "approve"] });
  keys.read = await organisation.createKey({ permissions: ["read"] });
  keys.write = await organisation.createKey({ permissions: ["read", "write"] });
  keys.linker = await organisation.createKey({ permissions: ["read", "write", "manage"] });
  keys.decider = await organisation.createKey({ permissions: ["read", "write", "approve"] });
});

const createApproval = async (of = organisation) => (await insertWaitingRun(perch(), of)).approvals[0] ?? "";

const actions = [
  ["GET /v1/approvals/{approval_id}", {}],
  ["POST /v1/approvals/{approval_id}/approve", { body: {} }],
  ["POST /v1/approvals/{approval_id}/reject", { body: {} }],
  ["POST /v1/approvals/{approval_id}/answer", { body: { answer: "yes" } }],
] as const;

/** Status and error, without the id that the request itself named. */
async function refusalsOf(id: string, key: string | undefined): Promise<unknown[]> {
  const refusals: unknown[] = [];
  for (const [operation, input] of actions) {
    const answer = await organisation.call(operation, { params: { approval_id: id }, ...input } as never, key);
    refusals.push({ status: answer.status, body: JSON.parse(JSON.stringify(answer.body).replaceAll(id, "ID")) });
  }
  return refusals;
}

const readStatus = async (id: string, of = organisation) =>
  ok(await of.call("GET /v1/approvals/{approval_id}", { params: { approval_id: id } })).data.status;

describe("an id that a key cannot reach gets one answer:", () => {
  const unknownId = toPublicId("approval", newUuid());

  test.each<[string, () => Promise<string>, string]>([
    ["one of another organisation", () => createApproval(foreign), "approve"],
    ["one of ours, for a key of another organisation", () => createApproval(), "foreign"],
    ["one of another agent, for a key of one agent", () => createApproval(), "ofOtherAgent"],
    ["a run's id", async () => (await insertWaitingRun(perch(), organisation)).run, "approve"],
    ["the id of its event", async () => (await createApproval()).replace(/^[a-z]+_/, "evt_"), "approve"],
    ["a malformed one", async () => "apr_", "approve"],
    ["one in capitals", async () => (await createApproval()).toUpperCase(), "approve"],
    ["a UUID", async () => newUuid(), "approve"],
    ["SQL", async () => "' or 1=1 --", "approve"],
  ])("%s", async (_, createId, key) => {
    verifies("approvals.decisions");
    const id = await createId();
    expect(await refusalsOf(id, keys[key])).toEqual(await refusalsOf(unknownId, keys.approve));
  });

  test("and nothing was decided", async () => {
    const [ours, theirs] = [await createApproval(), await createApproval(foreign)];
    await refusalsOf(ours, keys.foreign);
    await refusalsOf(ours, keys.ofOtherAgent);
    await refusalsOf(theirs, keys.approve);
    expect([await readStatus(ours), await readStatus(theirs, foreign)]).toEqual(["open", "open"]);
  });
});

test.each(["read", "write"])("a key with %s decides nothing, and sees no arguments", async (key) => {
  const id = await createApproval();
  for (const [operation, input] of actions.slice(1))
    expectError(
      await organisation.call(operation, { params: { approval_id: id }, ...input } as never, keys[key]),
      "forbidden",
    );
  const shown = ok(
    await organisation.call("GET /v1/approvals/{approval_id}", { params: { approval_id: id } }, keys[key]),
  );
  expect(shown.data).toMatchObject({ status: "open", contents: null });
});

describe("keys that may have links sent", () => {
  const create = "POST /v1/webhooks";
  const update = "PATCH /v1/webhooks/{webhook_id}";
  const body = { url: "https://hooks.example/mine", events: ["agent.action_required" as const], approval_links: true };

  // A key that may decide is refused too, because a link would allow it to decide on its own runs.
  const refusedKeys = ["write", "decider"] as const;

  test.each(refusedKeys)("a %s key cannot create such a webhook, nor turn one of its own into one", async (key) => {
    const refused = expectError(await organisation.call(create, { body }, keys[key]), "forbidden");
    expect(refused.message).toContain("the permission `manage`");
    const plain = ok(await organisation.call(create, { body: { ...body, approval_links: false } }, keys[key])).data;
    expect(plain.approval_links).toBe(false);
    const params = { webhook_id: plain.id };
    expectError(await organisation.call(update, { params, body: { approval_links: true } }, keys[key]), "forbidden");
    const { data } = ok(await organisation.call("GET /v1/webhooks/{webhook_id}", { params }));
    expect(data.approval_links).toBe(false);
  });

  test.each([
    { url: "https://hooks.example/elsewhere" },
    { headers: { "X-Forward-To": "me" } },
    { enabled: false },
    { events: ["agent.completed" as const] },
    { approval_links: false },
  ])("a write or decider key cannot change one that has links: %j", async (change) => {
    const before = await createLinkWebhook(organisation);
    const params = { webhook_id: before.id };
    for (const key of refusedKeys)
      expectError(await organisation.call(update, { params, body: change }, keys[key]), "forbidden");
    const { secret: _, ...shown } = before;
    expect(ok(await organisation.call("GET /v1/webhooks/{webhook_id}", { params })).data).toEqual(shown);
    const changed = ok(await organisation.call(update, { params, body: change }, keys.linker)).data;
    expect(changed.updated_at > shown.updated_at).toBe(true);
  });

  test("a write or decider key cannot replace the secret of one that has links", async () => {
    const { id } = await createLinkWebhook(organisation);
    const rotate = { params: { webhook_id: id }, body: {} };
    for (const key of refusedKeys)
      expectError(await organisation.call("POST /v1/webhooks/{webhook_id}/rotate", rotate, keys[key]), "forbidden");
    ok(await organisation.call("POST /v1/webhooks/{webhook_id}/rotate", rotate, keys.linker));
  });

  test("a key with manage can", async () => {
    expect(ok(await organisation.call(create, { body }, keys.linker)).data.approval_links).toBe(true);
    expect(ok(await organisation.call(create, { body })).data.approval_links).toBe(true);
  });

  test("a key of one agent gets links of only that agent", async () => {
    const key = await organisation.createKey({ permissions: ["read", "write", "manage"], agent_id: "other" });
    expectError(await organisation.call(create, { body }, key), "forbidden");
    expectError(await organisation.call(create, { body: { ...body, agent_id: "bot" } }, key), "not_found");
    ok(await organisation.call(create, { body: { ...body, agent_id: "other" } }, key));
  });

  test("no answer of the API has a link, for any key", async () => {
    const webhook = await createLinkWebhook(organisation);
    const approval = await createApproval();
    const token = await createToken(perch(), organisation, { approval, webhook: webhook.id });
    const answers = [
      await organisation.call("GET /v1/approvals", {}),
      await organisation.call("GET /v1/approvals/{approval_id}", { params: { approval_id: approval } }, keys.approve),
      await organisation.call("GET /v1/webhooks", {}, keys.read),
      await organisation.call("GET /v1/events", {}, keys.read),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).not.toContain(token);
    }
  });
});

describe("without PERCH_PUBLIC_URL", () => {
  const unnamed = usePerch();

  test("400 names the setting", async () => {
    const { call } = await unnamed().createOrganisation();
    const body = {
      url: "https://hooks.example/mine",
      events: ["agent.action_required" as const],
      approval_links: true,
    };
    const refused = expectError(await call("POST /v1/webhooks", { body }), "invalid_request");
    expect(refused.details).toMatchObject([
      { field: "approval_links", error: expect.stringContaining("PERCH_PUBLIC_URL") },
    ]);
  });
});
