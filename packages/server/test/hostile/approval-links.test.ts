import { randomBytes } from "node:crypto";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { newUuid, parsePublicId } from "../../src/platform/ids.ts";
import { createApprovalLinks, linkGeneration } from "../../src/resources/approvals/approval-link.ts";
import {
  contentsOf,
  createLinkWebhook,
  createToken,
  digestIn,
  openLink,
  publicUrl,
  sendForm,
} from "../support/approval-links.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { insertWaitingRun, type StoredCall, waitingStatus } from "../support/stored-approvals.ts";

/** Attacks of docs/security/approvals.md on links; those on ids are in `approval-ids.test.ts`. */
const perch = usePerch({ publicUrl });

let organisation: Organisation;
let webhook: { readonly id: string; readonly secret: string };
let foreign: Organisation;
beforeAll(async () => {
  foreign = await perch().createOrganisation();
  ok(await foreign.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
});
beforeEach(async () => {
  organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  webhook = await createLinkWebhook(organisation);
});

/** A run that waits, and the token of the link to its approval. */
async function createLink(call: StoredCall = {}) {
  const { run, approvals } = await insertWaitingRun(perch(), organisation, { calls: [call] });
  const approval = approvals[0] ?? "";
  const token = await createToken(perch(), organisation, { approval, webhook: webhook.id });
  const digest = digestIn(await openLink(perch(), token));
  return { run, approval, token, form: { decision: "approve", digest, reason: "" } };
}

const readStatus = async (approval: string, of = organisation) =>
  ok(await of.call("GET /v1/approvals/{approval_id}", { params: { approval_id: approval } })).data.status;

const forgedToken = () => randomBytes(96).toString("base64url");
const refusal = async () => contentsOf(await openLink(perch(), forgedToken()));

/** GET and POST give the one answer of all links that are not valid, byte by byte. */
async function expectNotValid(token: string, form: Readonly<Record<string, string>> = {}): Promise<void> {
  const expected = await refusal();
  expect(expected).toMatchObject({ status: 404, body: expect.stringContaining("This link is not valid") });
  expect(contentsOf(await openLink(perch(), token))).toEqual(expected);
  const posted = await sendForm(perch(), token, { decision: "approve", digest: "0".repeat(64), ...form });
  expect(contentsOf(posted)).toEqual(expected);
}

const call = <K extends Parameters<Organisation["call"]>[0]>(...args: Parameters<typeof organisation.call<K>>) =>
  organisation.call(...args);

test("a link works for its recipient, so the refusals below have the right reason", async () => {
  const { run, approval, token, form } = await createLink();
  const page = await sendForm(perch(), token, form);
  expect(page).toMatchObject({ status: 200, body: expect.stringContaining("You have approved this.") });
  expect(await readStatus(approval)).toBe("approved");
  expect(await waitingStatus(perch(), organisation, run)).not.toBe("waiting");
  const { decided_by } = ok(await call("GET /v1/approvals/{approval_id}", { params: { approval_id: approval } })).data;
  expect(decided_by).toEqual({ type: "link", key_id: null, webhook_id: webhook.id, name: "hooks.example" });
  const [entry] = ok(await call("GET /v1/audit-log", {})).data;
  expect(entry).toMatchObject({ operation: "approveApproval", resource: approval, outcome: "changed" });
  expect(JSON.stringify(entry)).toContain(webhook.id);
});

describe("a link that is not valid gets one page, whatever is wrong with it:", () => {
  test("random bytes of the right length", async () => {
    verifies("approvals.links");
    await expectNotValid(forgedToken());
  });

  test.each([0, 20, 40, 50, 60, 80, 127])("a letter changed at %i", async (index) => {
    const { approval, token, form } = await createLink();
    await expectNotValid(token.slice(0, index) + (token[index] === "A" ? "B" : "A") + token.slice(index + 1), form);
    expect(await readStatus(approval)).toBe("open");
  });

  test.each<[string, (token: string) => string]>([
    ["cut off", (token) => token.slice(0, -1)],
    ["longer", (token) => `${token}A`],
    ["in standard base64", (token) => Buffer.from(token, "base64url").toString("base64").replaceAll("+", "%2B")],
    ["with padding", (token) => `${token}%3D`],
    ["with a path behind it", (token) => `${token}/approve`],
    ["with a null byte", (token) => `${token}%00`],
    ["empty", () => ""],
    ["in the query", (token) => `?token=${token}`],
    ["of 8,000 letters", () => "A".repeat(8000)],
    ["a path that climbs", () => "..%2Fv1%2Fapprovals"],
  ])("a token %s", async (_, change) => {
    let link = await createLink();
    // One token in sixty has no letter in which the two forms of base64 differ.
    while (change(link.token) === link.token) link = await createLink();
    await expectNotValid(change(link.token), link.form);
    expect(await readStatus(link.approval)).toBe("open");
  });

  test("signed with another key", async () => {
    const { approval, form } = await createLink();
    const otherKey = randomBytes(32);
    const forged = createApprovalLinks(() => otherKey).tokenOf({
      organisationId: parsePublicId("organisation", organisation.id) ?? "",
      approvalId: parsePublicId("approval", approval) ?? "",
      webhookId: parsePublicId("webhook", webhook.id) ?? "",
      expiresAt: new Date(Date.now() + 60_000),
      generation: randomBytes(10),
    });
    await expectNotValid(forged, form);
    expect(await readStatus(approval)).toBe("open");
  });

  test("parts of two tokens put together: another approval under the signature of one", async () => {
    const [one, other] = [await createLink(), await createLink()];
    const [a, b] = [Buffer.from(one.token, "base64url"), Buffer.from(other.token, "base64url")];
    const mixed = Buffer.concat([a.subarray(0, 16), b.subarray(16, 32), a.subarray(32)]).toString("base64url");
    await expectNotValid(mixed, other.form);
    expect([await readStatus(one.approval), await readStatus(other.approval)]).toEqual(["open", "open"]);
  });

  test.each<[string, () => Partial<Parameters<typeof createToken>[3]>]>([
    ["an approval that does not exist", () => ({ approvalId: newUuid() })],
    ["a webhook that does not exist", () => ({ webhookId: newUuid() })],
    ["an organisation that does not exist", () => ({ organisationId: newUuid() })],
    ["another organisation", () => ({ organisationId: parsePublicId("organisation", foreign.id) ?? "" })],
    ["another secret of the webhook", () => ({ generation: linkGeneration(randomBytes(60), "https://hooks.example") })],
  ])("even with a true signature, for %s", async (_, changes) => {
    const { approval, form } = await createLink();
    await expectNotValid(await createToken(perch(), organisation, { approval, webhook: webhook.id }, changes()), form);
    expect(await readStatus(approval)).toBe("open");
  });

  test("even with a true signature, for an approval of another organisation", async () => {
    const { approvals } = await insertWaitingRun(perch(), foreign);
    const { approval, form } = await createLink();
    const approvalId = parsePublicId("approval", approvals[0] ?? "") ?? "";
    await expectNotValid(
      await createToken(perch(), organisation, { approval, webhook: webhook.id }, { approvalId }),
      form,
    );
    expect(await readStatus(approvals[0] ?? "", foreign)).toBe("open");
  });

  test("even with a true signature, of a webhook that belongs to another agent", async () => {
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const { approval, form } = await createLink();
    const { id } = await createLinkWebhook(organisation, "https://hooks.example/other", "other");
    await expectNotValid(await createToken(perch(), organisation, { approval, webhook: id }), form);
    expect(await readStatus(approval)).toBe("open");
  });

  test("expired, though no sweep has seen it", async () => {
    const { approval, token } = await createLink({ expiresInSeconds: -1 });
    await expectNotValid(token);
    expect(await readStatus(approval)).toBe("open");
  });

  test("expired by its own time, though the approval lasts longer", async () => {
    const { approval, form } = await createLink();
    const changes = { expiresAt: new Date(Date.now() - 1) };
    await expectNotValid(await createToken(perch(), organisation, { approval, webhook: webhook.id }, changes), form);
  });

  test("used: the same form again, and another decision", async () => {
    const { token, form, approval } = await createLink();
    expect((await sendForm(perch(), token, form)).status).toBe(200);
    await expectNotValid(token, form);
    await expectNotValid(token, { ...form, decision: "reject" });
    expect(await readStatus(approval)).toBe("approved");
  });

  test("used at the same time: one of ten requests decides", async () => {
    const { token, form, approval } = await createLink();
    const pages = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        sendForm(perch(), token, { ...form, decision: i % 2 ? "approve" : "reject" }),
      ),
    );
    expect(pages.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(404)]);
    const decisions = ok(await call("GET /v1/audit-log", { query: { resource: approval } })).data;
    expect(decisions).toHaveLength(1);
  });

  test.each(["approve", "reject"] as const)("after another approver has decided: %s by a key", async (verdict) => {
    const { token, form, approval } = await createLink();
    const key = await organisation.createKey({ permissions: ["read", "approve"] });
    ok(await call(`POST /v1/approvals/{approval_id}/${verdict}`, { params: { approval_id: approval }, body: {} }, key));
    await expectNotValid(token, form);
  });

  const params = () => ({ webhook_id: webhook.id });
  const patch = (body: object) => call("PATCH /v1/webhooks/{webhook_id}", { params: params(), body: body as never });
  test.each<[string, () => Promise<unknown>]>([
    ["deleted", () => call("DELETE /v1/webhooks/{webhook_id}", { params: params() })],
    ["disabled", () => patch({ enabled: false })],
    ["without links", () => patch({ approval_links: false })],
    ["at another address", () => patch({ url: "https://hooks.example/elsewhere" })],
    [
      "with another secret",
      () => call("POST /v1/webhooks/{webhook_id}/rotate", { params: params(), body: { overlap_seconds: 0 } }),
    ],
  ])("its webhook is %s", async (_, change) => {
    const { token, form, approval } = await createLink();
    await change();
    await expectNotValid(token, form);
    expect(await readStatus(approval)).toBe("open");
  });

  test("its agent refuses this address, or requires tokens of users", async () => {
    const { token, form, approval } = await createLink();
    const agent = { params: { agent_id: "bot" } };
    const ipWhitelist = { enabled: true, addresses: ["192.0.2.1", "127.0.0.1"] };
    ok(await call("PATCH /v1/agents/{agent_id}", { ...agent, body: { security: { ipWhitelist } } }));
    expect((await openLink(perch(), token)).status).toBe(200);
    const expected = await refusal();
    expect(contentsOf(await openLink(perch(), token, { from: "127.0.0.2" }))).toEqual(expected);
    expect(contentsOf(await sendForm(perch(), token, form, { from: "127.0.0.2" }))).toEqual(expected);
    const auth = { type: "jwt", secret: "s".repeat(32) } as const;
    ok(await call("PATCH /v1/agents/{agent_id}", { ...agent, body: { auth } as never }));
    await expectNotValid(token, form);
    expect(
      await withClient(perch().database.adminUrl, (client) =>
        client.query("select status from approvals where id = $1", [parsePublicId("approval", approval)]),
      ),
    ).toMatchObject({ rows: [{ status: "open" }] });
  });
});

describe("nothing but the form decides:", () => {
  test.each(["GET", "HEAD"])("%s, as mail programs, chats and browsers do by themselves", async (method) => {
    const { token, approval } = await createLink();
    const query = `${token}?decision=approve`;
    for (const headers of [{}, { "sec-purpose": "prefetch" }, { "x-http-method-override": "POST" }])
      expect((await openLink(perch(), query, { method, headers })).status).toBe(200);
    expect(await readStatus(approval)).toBe("open");
  });

  test.each(["PUT", "PATCH", "DELETE", "OPTIONS"])("%s gets the page of links that are not valid", async (method) => {
    const { token, form, approval } = await createLink();
    expect(contentsOf(await sendForm(perch(), token, form, { method }))).toEqual(await refusal());
    expect(await readStatus(approval)).toBe("open");
  });

  test.each<[string, (form: Record<string, string>) => { body?: string; headers?: Record<string, string> }]>([
    ["without what it was about", ({ digest: _, ...rest }) => ({ body: new URLSearchParams(rest).toString() })],
    ["about something else", (form) => ({ body: new URLSearchParams({ ...form, digest: "0".repeat(64) }).toString() })],
    ["with two decisions", (form) => ({ body: `${new URLSearchParams(form)}&decision=reject` })],
    ["with another decision", (form) => ({ body: new URLSearchParams({ ...form, decision: "APPROVE" }).toString() })],
    [
      "with an answer to no question",
      (form) => ({ body: new URLSearchParams({ ...form, decision: "answer", answer: "x" }).toString() }),
    ],
    [
      "with a reason of 2,001 letters",
      (form) => ({ body: new URLSearchParams({ ...form, decision: "reject", reason: "x".repeat(2001) }).toString() }),
    ],
    ["as JSON", (form) => ({ body: JSON.stringify(form), headers: { "content-type": "application/json" } })],
    ["as text", () => ({ headers: { "content-type": "text/plain" } })],
    ["in parts", () => ({ headers: { "content-type": "multipart/form-data; boundary=x" } })],
    ["empty", () => ({ body: "" })],
  ])("a form %s", async (_, change) => {
    const { token, form, approval } = await createLink();
    const page = await sendForm(perch(), token, form, change(form));
    expect(page).toMatchObject({ status: 400, body: expect.stringContaining("Nothing was decided") });
    expect(await readStatus(approval)).toBe("open");
  });

  test("an oversized form is refused before it is read, for any link", async () => {
    const { token, form, approval } = await createLink();
    const reason = "x".repeat(200_000);
    const pages = [
      await sendForm(perch(), token, { ...form, reason }),
      await sendForm(perch(), forgedToken(), { reason }),
    ];
    expect(pages.map(({ status }) => status)).toEqual([413, 413]);
    expect(pages[0]?.body).toBe(pages[1]?.body);
    expect(await readStatus(approval)).toBe("open");
  });
});

describe("a link is not a voter:", () => {
  test.each<[string, StoredCall]>([
    ["four eyes", { approvers: 2 }],
    ["a second factor", { secondFactor: true }],
  ])("%s: it shows, and decides nothing, also with a code and by two links", async (_, policy) => {
    const { approval, token } = await createLink(policy);
    const other = await createLinkWebhook(organisation, "https://hooks.example/other");
    const second = await createToken(perch(), organisation, { approval, webhook: other.id });
    const { digest } = ok(await call("GET /v1/approvals/{approval_id}", { params: { approval_id: approval } })).data;
    for (const each of [token, second]) {
      const page = await openLink(perch(), each);
      expect(page.body).not.toContain("<form");
      expect(page.body).toContain("permission approve");
      for (const decision of ["approve", "reject"]) {
        const headers = { "x-mfa-code": "123456" };
        expect((await sendForm(perch(), each, { decision, digest }, { headers })).status).toBe(400);
      }
    }
    const shown = ok(await call("GET /v1/approvals/{approval_id}", { params: { approval_id: approval } })).data;
    expect(shown).toMatchObject({ status: "open", approved_by: [] });
  });

  test("a link adds nothing to the vote of a key", async () => {
    const { approval, token } = await createLink({ approvers: 2 });
    const key = await organisation.createKey({ permissions: ["read", "approve"] });
    const params = { approval_id: approval };
    const { digest } = ok(await call("GET /v1/approvals/{approval_id}", { params })).data;
    ok(await call("POST /v1/approvals/{approval_id}/approve", { params, body: { digest } }, key));
    expect((await sendForm(perch(), token, { decision: "approve", digest })).status).toBe(400);
    const shown = ok(await call("GET /v1/approvals/{approval_id}", { params })).data;
    expect({ status: shown.status, votes: shown.approved_by.length }).toEqual({ status: "open", votes: 1 });
  });
});

describe("the page", () => {
  test("runs and loads nothing, whatever the arguments contain, and shows hidden characters in them", async () => {
    const text = `</pre><script>alert(1)</script><img src=x onerror=alert(1)>\r\nSet-Cookie: a=b\u202Egnp.exe\u200B'"&`;
    const { token } = await createLink({ tool: "pay", arguments: { [text]: text } });
    const page = await openLink(perch(), token);
    expect(page.body).not.toMatch(/<script|<img|\u202E|\u200B/);
    expect(page.body).toContain("&lt;script&gt;");
    expect(page.body).toContain("⟨U+202E⟩");
    expect(page.headers).toMatchObject({
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
      ),
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-robots-tag": "noindex",
      "x-content-type-options": "nosniff",
    });
    expect(page.headers["set-cookie"]).toBeUndefined();
    expect(page.body).not.toContain(token);
  });

  test("offers no approval of arguments that it does not show whole", async () => {
    const { approval, token, form } = await createLink({ arguments: { note: "x".repeat(20_000), amount: 1_000_000 } });
    const page = await openLink(perch(), token);
    expect(page.body).not.toContain("1000000");
    expect(page.body).not.toContain('value="approve"');
    expect(page.body).toContain(`perch approvals show ${approval}`);
    expect((await sendForm(perch(), token, form)).status).toBe(400);
    expect(await readStatus(approval)).toBe("open");
    expect((await sendForm(perch(), token, { ...form, decision: "reject", reason: "Too long." })).status).toBe(200);
    expect(await readStatus(approval)).toBe("rejected");
  });

  test("takes an answer that fits the schema, and no other", async () => {
    const parameters = { type: "string", minLength: 3 };
    const { approval, token, form } = await createLink({ kind: "question", question: "Which colour?", parameters });
    expect((await openLink(perch(), token)).body).toContain("Which colour?");
    expect((await sendForm(perch(), token, { ...form, decision: "answer", answer: "no" })).status).toBe(400);
    expect((await sendForm(perch(), token, { ...form, decision: "approve" })).status).toBe(400);
    expect(await readStatus(approval)).toBe("open");
    expect((await sendForm(perch(), token, { ...form, decision: "answer", answer: "blue" })).status).toBe(200);
    expect(await readStatus(approval)).toBe("answered");
  });

  test("names who can give an answer with several parts, and offers to reject it", async () => {
    const parameters = { type: "object", properties: { colour: { type: "string" }, size: { type: "number" } } };
    const { approval, token, form } = await createLink({ kind: "question", question: "Which one?", parameters });
    const { body } = await openLink(perch(), token);
    expect(body).not.toContain('value="answer"');
    expect(body).toContain(`perch approvals answer ${approval}`);
    expect((await sendForm(perch(), token, { ...form, decision: "reject" })).status).toBe(200);
    expect(await readStatus(approval)).toBe("rejected");
  });
});

test("a forged link causes no database query, so neither its answer nor the time of it shows what exists", async () => {
  const { token, form } = await createLink();
  const forged = Buffer.from(token, "base64url");
  forged.writeUInt8(forged.readUInt8(95) ^ 1, 95);
  const asked = vi.spyOn(perch().server.core.db, "inOrganisation");
  await expectNotValid(forged.toString("base64url"), form);
  expect(asked).not.toHaveBeenCalled();
  await openLink(perch(), token);
  expect(asked).toHaveBeenCalled();
  asked.mockRestore();
});

describe("with a limit for each address", () => {
  const limited = usePerch({ publicUrl, unauthenticatedRequestsPerMinute: 5 });

  test("a client that guesses links is refused with 429", async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push((await openLink(limited(), forgedToken())).status);
    expect([statuses[0], statuses[7]]).toEqual([404, 429]);
    expect((await sendForm(limited(), forgedToken(), {})).status).toBe(429);
  });
});
