import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import {
  createOrganisationWithApprover,
  insertWaitingRun,
  type StoredCall,
  waitingStatus,
} from "../../../test/support/stored-approvals.ts";
import { toCaller } from "../../auth/authenticate.ts";
import { identityOf } from "../../auth/caller.ts";
import { findKeyByDigest } from "../../auth/presented-key.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch();

const approve = (organisation: Organisation, approval_id: string, body: object, key: string) =>
  organisation.call("POST /v1/approvals/{approval_id}/approve", { params: { approval_id }, body }, key);
const reject = (organisation: Organisation, approval_id: string, body: object, key: string) =>
  organisation.call("POST /v1/approvals/{approval_id}/reject", { params: { approval_id }, body }, key);
const get = async (organisation: Organisation, approval_id: string, key: string) =>
  ok(await organisation.call("GET /v1/approvals/{approval_id}", { params: { approval_id } }, key)).data;
/** The key's successor. The key itself works for another day. */
const rotate = async (organisation: Organisation, key: string) => {
  const params = { key_id: ok(await organisation.call("GET /v1/me", {}, key)).data.key.id };
  return ok(await organisation.call("POST /v1/keys/{key_id}/rotate", { params, body: {} })).data.key;
};
const entriesOf = async (organisation: Organisation, resource: string) =>
  ok(await organisation.call("GET /v1/audit-log", { query: { resource, outcome: "changed" } })).data;

async function createWait(calls: readonly StoredCall[] = [{}]) {
  const made = await createOrganisationWithApprover(perch());
  const { run, approvals } = await insertWaitingRun(perch(), made.organisation, { calls });
  return { ...made, run, approvals, approval: approvals[0] ?? "" };
}

describe("POST /v1/approvals/{approval_id}/approve", () => {
  test("the last decision of a reply, and no other, makes the run ready", async () => {
    const { organisation, approver, run, approvals } = await createWait([{}, {}, {}]);
    const [first = "", second = "", third = ""] = approvals;
    const answer = ok(await approve(organisation, first, {}, approver)).data;
    expect(answer).toMatchObject({ status: "approved", edited: false, decided_by: { type: "key", name: "test" } });
    expect(answer.contents).toMatchObject({ message: "Pay the invoice.", arguments: { amount: 250, to: "ACME" } });
    ok(await reject(organisation, third, { reason: "No." }, approver));
    expect(await waitingStatus(perch(), organisation, run)).toBe("waiting");
    ok(await approve(organisation, second, {}, approver));
    expect(await waitingStatus(perch(), organisation, run)).toBe("ready");
  });

  test("of decisions that are made at the same time, each way, exactly one holds, and the run is ready once", async () => {
    const { organisation, approver, run, approval } = await createWait();
    const other = await organisation.createKey({ permissions: ["approve"] });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        i % 2 === 0 ? approve(organisation, approval, {}, approver) : reject(organisation, approval, {}, other),
      ),
    );
    const [approved, rejected] = [0, 1].map((half) =>
      answers.filter((_, i) => i % 2 === half).map((one) => one.status),
    );
    expect([approved, rejected]).toContainEqual([200, 200, 200]);
    expect([approved, rejected]).toContainEqual([409, 409, 409]);
    expect(await entriesOf(organisation, approval)).toHaveLength(1);
    expect(await waitingStatus(perch(), organisation, run)).toBe("ready");
  });

  test("the same decision again gets the first answer, without another entry in the audit log", async () => {
    const { organisation, approver, approval } = await createWait();
    const first = ok(await approve(organisation, approval, {}, approver)).data;
    const other = await organisation.createKey({ permissions: ["approve"] });
    expect(ok(await approve(organisation, approval, {}, other)).data).toEqual(first);
    expect(await entriesOf(organisation, approval)).toHaveLength(1);
  });

  test("409 names the decision and the decider", async () => {
    const { organisation, approver, approval } = await createWait();
    ok(await approve(organisation, approval, {}, approver));
    expect(expectError(await reject(organisation, approval, {}, approver), "conflict").message).toMatch(
      /^This was approved by the key test at \d{4}-.*A decision cannot be changed\.$/,
    );
    const other = { arguments: { amount: 1 } };
    expectError(await approve(organisation, approval, other, approver), "conflict");
  });

  test("409 gives advice about one that was cancelled with its run", async () => {
    const { organisation, approver, run, approval } = await createWait();
    const params = { agent_id: "bot", request_id: run };
    ok(await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params }));
    const { message } = expectError(await approve(organisation, approval, {}, approver), "conflict");
    expect(message).toContain("cancelled with its run");
    expect(message).toContain("Start a new run");
  });

  test("edited arguments replace the model's, are distinguished from them, and are repeatable", async () => {
    const { organisation, approver, approval } = await createWait();
    const before = await get(organisation, approval, approver);
    const body = { digest: before.digest, arguments: { amount: 100, to: "ACME" } };
    const answer = ok(await approve(organisation, approval, body, approver)).data;
    expect(answer).toMatchObject({
      status: "approved",
      edited: true,
      contents: { arguments: body.arguments, original_arguments: { amount: 250, to: "ACME" } },
    });
    expect(answer.digest).not.toBe(before.digest);
    expect(ok(await approve(organisation, approval, body, approver)).data).toEqual(answer);
    // In another order they are the same.
    const reordered = { arguments: { to: "ACME", amount: 100 } };
    expect(ok(await approve(organisation, approval, reordered, approver)).data).toEqual(answer);
    expectError(await approve(organisation, approval, {}, approver), "conflict");
    const [entry] = await entriesOf(organisation, approval);
    expect(entry).toMatchObject({ operation: "approveApproval", resource_type: "approval", resource: approval });
    expect(JSON.stringify(entry)).not.toMatch(/ACME|100/);
  });

  test("400 names the arguments that do not fit the tool's schema, and nothing is decided", async () => {
    const { organisation, approver, approval } = await createWait();
    const body = { arguments: { amount: 5000, extra: true } };
    expect(expectError(await approve(organisation, approval, body, approver), "invalid_request").details).toEqual([
      { field: "arguments.extra", error: "Not expected here" },
      { field: "arguments.amount", error: "must be <= 1000" },
    ]);
    expect((await get(organisation, approval, approver)).status).toBe("open");
  });

  test("409 if the digest is of other arguments", async () => {
    const { organisation, approver, approval } = await createWait();
    expectError(await approve(organisation, approval, { digest: "0".repeat(64) }, approver), "conflict");
    expectError(await approve(organisation, approval, { digest: "not hexadecimal" }, approver), "conflict");
    const { digest } = await get(organisation, approval, approver);
    ok(await approve(organisation, approval, { digest }, approver));
  });

  test("409 for what has expired, though no sweep has seen it yet", async () => {
    const { organisation, approver, run, approval } = await createWait([{ expiresInSeconds: -1 }]);
    expect(expectError(await approve(organisation, approval, {}, approver), "conflict").message).toContain("expired");
    expectError(await reject(organisation, approval, {}, approver), "conflict");
    expect(await waitingStatus(perch(), organisation, run)).toBe("waiting");
  });

  test("409 for a question", async () => {
    const { organisation, approver, approval } = await createWait([{ kind: "question", question: "Which?" }]);
    expect(expectError(await approve(organisation, approval, {}, approver), "conflict").message).toContain("/answer");
  });

  test("403 for the key that started the run, unless the policy allows it", async () => {
    const { organisation, approver } = await createOrganisationWithApprover(perch());
    const me = ok(await organisation.call("GET /v1/me", {}, approver)).data.key.id;
    const invoker = `key:${parsePublicId("key", me)}`;
    const calls = [{}, { invokerMayDecide: true }];
    const { approvals } = await insertWaitingRun(perch(), organisation, { calls, invoker });
    const [refused = "", allowed = ""] = approvals;
    const canDecide = async (id: string, key: string) => (await get(organisation, id, key)).can_decide;
    expect(await canDecide(refused, approver)).toBe(false);
    expect(await canDecide(allowed, approver)).toBe(true);
    for (const decide of [approve, reject])
      expect(expectError(await decide(organisation, refused, {}, approver), "forbidden").message).toContain(
        "You started this run",
      );
    ok(await approve(organisation, allowed, {}, approver));
    const other = await organisation.createKey({ permissions: ["read", "approve"] });
    expect(await canDecide(refused, other)).toBe(true);
    expect(await canDecide(refused, await organisation.createKey({ permissions: ["read", "write"] }))).toBe(false);
    ok(await approve(organisation, refused, {}, other));
  });
});

test("403 for a key that the one that started the run was rotated to, and for one that was rotated to it", async () => {
  const { organisation, approver } = await createOrganisationWithApprover(perch(), ["read", "write", "approve"]);
  const second = await rotate(organisation, approver);
  const third = await rotate(organisation, second);
  const { db, keys } = perch().server.core;
  const invoking = await findKeyByDigest(db.unscoped, keys.keyDigest(second));
  const invoker = invoking ? identityOf(toCaller(invoking)) : "";
  const { approvals } = await insertWaitingRun(perch(), organisation, { invoker });
  for (const key of [approver, second, third])
    expect(expectError(await approve(organisation, approvals[0] ?? "", {}, key), "forbidden").message).toContain(
      "You started this run",
    );
});

describe("the keys of one hand", () => {
  const identityOfKey = async (key: string) => {
    const { db, keys } = perch().server.core;
    const found = await findKeyByDigest(db.unscoped, keys.keyDigest(key));
    return found ? identityOf(toCaller(found)) : "";
  };
  /** Made, or rotated, by the key `by`. */
  const make = async (organisation: Organisation, by: string) => {
    const body = { name: "made", permissions: ["read", "approve"] as const };
    return ok(await organisation.call("POST /v1/keys", { body: { ...body, permissions: [...body.permissions] } }, by))
      .data.key;
  };
  const refusalOf = async (organisation: Organisation, invoking: string, deciding: string) => {
    const invoker = await identityOfKey(invoking);
    const { approvals } = await insertWaitingRun(perch(), organisation, { invoker });
    expect((await get(organisation, approvals[0] ?? "", deciding)).can_decide).toBe(false);
    return expectError(await approve(organisation, approvals[0] ?? "", {}, deciding), "forbidden").message;
  };

  test("403 for a key that the one that started the run made, also after both were rotated", async () => {
    const organisation = await perch().createOrganisation();
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const made = await make(organisation, organisation.adminKey);
    expect(await refusalOf(organisation, organisation.adminKey, made)).toContain("made, or changed, your key");
    const third = await rotate(organisation, await rotate(organisation, made));
    const admin = await rotate(organisation, organisation.adminKey);
    expect(await refusalOf(organisation, admin, third)).toContain("made, or changed, your key");
  });

  test("403 for the key that made the one that started the run, and for one that rotated it; not for its sibling", async () => {
    const { organisation, approver } = await createOrganisationWithApprover(perch());
    const maker = await organisation.createKey({ permissions: ["read", "manage", "approve"] });
    const started = await make(organisation, maker);
    expect(await refusalOf(organisation, started, maker)).toContain("made, or changed, the key that started this run");
    const sibling = await make(organisation, maker);
    const other = await organisation.createKey({ permissions: ["read", "manage", "approve"] });
    const params = { key_id: ok(await organisation.call("GET /v1/me", {}, started)).data.key.id };
    ok(await organisation.call("POST /v1/keys/{key_id}/rotate", { params, body: {} }, other));
    for (const one of [maker, other])
      expect(await refusalOf(organisation, started, one)).toContain("made, or changed, the key that started this run");
    for (const one of [approver, sibling]) {
      const { approvals } = await insertWaitingRun(perch(), organisation, { invoker: await identityOfKey(started) });
      ok(await approve(organisation, approvals[0] ?? "", {}, one));
    }
  });

  test("403 for a key that the one that started the run gave the permission", async () => {
    const { organisation, approver } = await createOrganisationWithApprover(perch(), ["read", "write", "approve"]);
    const params = { key_id: ok(await organisation.call("GET /v1/me", {}, approver)).data.key.id };
    const body = { permissions: ["read" as const, "approve" as const] };
    ok(await organisation.call("PATCH /v1/keys/{key_id}", { params, body }));
    expect(await refusalOf(organisation, organisation.adminKey, approver)).toContain("made, or changed, your key");
  });

  test("`invoker_may_decide` allows them too", async () => {
    const { organisation } = await createOrganisationWithApprover(perch());
    const made = await make(organisation, organisation.adminKey);
    const invoker = await identityOfKey(organisation.adminKey);
    const wait = { invoker, calls: [{ invokerMayDecide: true }] };
    const { approvals } = await insertWaitingRun(perch(), organisation, wait);
    ok(await approve(organisation, approvals[0] ?? "", {}, made));
  });
});

describe("several approvers", () => {
  const createFourEyes = async () => {
    const made = await createWait([{ approvers: 2 }]);
    const second = await made.organisation.createKey({ permissions: ["read", "approve"] });
    const { digest } = await get(made.organisation, made.approval, made.approver);
    return { ...made, second, digest };
  };

  test("two different keys must approve the same digest; one key counts once", async () => {
    const { organisation, approver, second, run, approval, digest } = await createFourEyes();
    expect(expectError(await approve(organisation, approval, {}, approver), "invalid_request").details).toMatchObject([
      { field: "digest" },
    ]);
    for (const _ of [1, 2]) {
      const { status, approved_by } = ok(await approve(organisation, approval, { digest }, approver)).data;
      expect([status, approved_by.length]).toEqual(["open", 1]);
    }
    expect(await entriesOf(organisation, approval)).toHaveLength(1);
    expect(await waitingStatus(perch(), organisation, run)).toBe("waiting");
    const { status, approved_by } = ok(await approve(organisation, approval, { digest }, second)).data;
    expect([status, approved_by.length]).toEqual(["approved", 2]);
    expect(await waitingStatus(perch(), organisation, run)).toBe("ready");
  });

  test("a key and those that it was rotated to are one voter", async () => {
    const { organisation, approver, second, run, approval, digest } = await createFourEyes();
    const next = await rotate(organisation, approver);
    const afterNext = await rotate(organisation, next);
    for (const key of [approver, next, afterNext]) {
      const { status, approved_by } = ok(await approve(organisation, approval, { digest }, key)).data;
      expect([status, approved_by.length]).toEqual(["open", 1]);
    }
    expect(await waitingStatus(perch(), organisation, run)).toBe("waiting");
    expect(ok(await approve(organisation, approval, { digest }, second)).data.status).toBe("approved");
  });

  const keyId = async (organisation: Organisation, key: string) =>
    ok(await organisation.call("GET /v1/me", {}, key)).data.key.id;

  test.each([
    ["was revoked", (key_id: string) => ["DELETE /v1/keys/{key_id}", { params: { key_id } }] as const],
    [
      "has expired",
      (key_id: string) =>
        ["POST /v1/keys/{key_id}/rotate", { params: { key_id }, body: { overlap_seconds: 0 } }] as const,
    ],
    [
      "lost approve",
      (key_id: string) => ["PATCH /v1/keys/{key_id}", { params: { key_id }, body: { permissions: ["read"] } }] as const,
    ],
  ])("the vote of a key that %s does not count any more, and another one is needed", async (_, end) => {
    const { organisation, approver, second, run, approval, digest } = await createFourEyes();
    ok(await approve(organisation, approval, { digest }, approver));
    const [operation, input] = end(await keyId(organisation, approver));
    ok(await organisation.call(operation, input as never));
    const voted = ok(await approve(organisation, approval, { digest }, second)).data;
    expect(voted).toMatchObject({
      status: "open",
      approved_by: [{ by: { key_id: await keyId(organisation, second) } }],
    });
    expect(await waitingStatus(perch(), organisation, run)).toBe("waiting");
    const third = await organisation.createKey({ permissions: ["approve"] });
    expect(ok(await approve(organisation, approval, { digest }, third)).data.status).toBe("approved");
    expect(await waitingStatus(perch(), organisation, run)).toBe("ready");
  });

  test("one rejection is enough, also after an approval", async () => {
    const { organisation, approver, second, run, approval, digest } = await createFourEyes();
    ok(await approve(organisation, approval, { digest }, approver));
    expect(ok(await reject(organisation, approval, { reason: "No." }, second)).data.status).toBe("rejected");
    expect(await waitingStatus(perch(), organisation, run)).toBe("ready");
  });

  test("an edit drops the approvals of what was before, counts as the editor's, and needs the others again", async () => {
    const { organisation, approver, second, approval, digest } = await createFourEyes();
    ok(await approve(organisation, approval, { digest }, approver));
    const edit = { digest, arguments: { amount: 1 } };
    const edited = ok(await approve(organisation, approval, edit, second)).data;
    expect(edited).toMatchObject({ status: "open", edited: true, contents: { arguments: { amount: 1 } } });
    expect(edited.approved_by).toHaveLength(1);
    expect(ok(await approve(organisation, approval, edit, second)).data).toEqual(edited);
    expectError(await approve(organisation, approval, { digest }, approver), "conflict");
    const approved = ok(await approve(organisation, approval, { digest: edited.digest }, approver)).data;
    expect(approved).toMatchObject({ status: "approved", edited: true, contents: { arguments: { amount: 1 } } });
    expect(ok(await approve(organisation, approval, { digest: edited.digest }, approver)).data).toEqual(approved);
  });
});
