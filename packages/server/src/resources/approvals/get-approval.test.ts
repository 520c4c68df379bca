import { hash } from "node:crypto";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { describe, expect, test } from "vitest";
import { enrolSecondFactor } from "../../../test/support/authenticator.ts";
import { buildRequest, expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { createOrganisationWithApprover, insertWaitingRun } from "../../../test/support/stored-approvals.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch();

describe("GET /v1/approvals/{approval_id}", () => {
  test("contents are for keys that may decide; others with read see what waits, and why", async () => {
    const { organisation, approver } = await createOrganisationWithApprover(perch());
    const { approvals, run } = await insertWaitingRun(perch(), organisation, { userId: "user-1" });
    const params = { approval_id: approvals[0] ?? "" };
    const seen = ok(await organisation.call("GET /v1/approvals/{approval_id}", { params })).data;
    expect(seen).toMatchObject({
      id: params.approval_id,
      request_id: run,
      tool: "pay",
      agent_name: "bot",
      contents: null,
    });
    const { contents } = ok(await organisation.call("GET /v1/approvals/{approval_id}", { params }, approver)).data;
    expect(contents).toMatchObject({
      message: "Pay the invoice.",
      arguments: { amount: 250 },
      question: null,
      history: [],
    });
  });

  test("a key with read cannot guess arguments by the digest: it is keyed, and another one for the same call", async () => {
    const { organisation } = await createOrganisationWithApprover(perch());
    const args = { amount: 1 };
    await insertWaitingRun(perch(), organisation, { calls: [{ arguments: args }, { arguments: args }] });
    const reader = await organisation.createKey({ permissions: ["read"] });
    const { data } = ok(await organisation.call("GET /v1/approvals", {}, reader));
    const digests = data.map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(2);
    for (const { id, tool } of data)
      for (const guess of [[tool, args], [id, tool, args], [parsePublicId("approval", id), tool, args], args])
        expect(digests).not.toContain(hash("sha256", JSON.stringify(guess), "hex"));
  });

  test("the history lists the run's earlier steps, and the calls of the same reply that needed no approval", async () => {
    const { organisation, approver } = await createOrganisationWithApprover(perch());
    const call = (name: string, args: unknown) => ({ id: "call_1", name, arguments: args });
    const messages = [
      { role: "user" as const, content: "An earlier turn." },
      { role: "assistant" as const, content: "Done.", toolCalls: [call("old", {})] },
      { role: "user" as const, content: "Pay the invoice." },
      { role: "assistant" as const, content: "Let me look.", toolCalls: [call("find", { id: 7 })] },
      { role: "tool" as const, callId: "call_1", name: "find", content: "x".repeat(5000) },
    ];
    const reply = { text: "Paying.", toolCalls: [call("note", { a: 1 }), call("pay", { amount: 250 })], tokens: 1 };
    const results = [{ content: "noted", failed: false }, null];
    const before = { progress: { step: 2, messages }, reply, results };
    const { approvals } = await insertWaitingRun(perch(), organisation, { before });
    const params = { approval_id: approvals[0] ?? "" };
    const { contents } = ok(await organisation.call("GET /v1/approvals/{approval_id}", { params }, approver)).data;
    expect(contents?.history).toMatchObject([
      { step: 1, text: "Let me look.", calls: [{ tool: "find", arguments: { id: 7 }, failed: false }] },
      { step: 2, text: "Paying.", calls: [{ tool: "note", arguments: { a: 1 }, result: "noted", failed: false }] },
    ]);
    expect(contents?.history[0]?.calls[0]?.result).toHaveLength(4001);
  });

  test("404 is the same for a foreign, an unknown and a malformed id", async () => {
    const { organisation, approver } = await createOrganisationWithApprover(perch());
    const theirs = await createOrganisationWithApprover(perch());
    const { approvals } = await insertWaitingRun(perch(), theirs.organisation);
    const ids = [
      approvals[0] ?? "",
      "appr_01h455vb4pex5vsknk084sn02q",
      "appr_",
      "x",
      "agent_01h455vb4pex5vsknk084sn02q",
    ];
    for (const approval_id of ids) {
      const params = { approval_id };
      for (const answer of [
        await organisation.call("GET /v1/approvals/{approval_id}", { params }, approver),
        await organisation.call("POST /v1/approvals/{approval_id}/approve", { params, body: {} }, approver),
        await organisation.call("POST /v1/approvals/{approval_id}/reject", { params, body: {} }, approver),
        await organisation.call("POST /v1/approvals/{approval_id}/answer", { params, body: { answer: 1 } }, approver),
      ])
        expect(expectError(answer, "not_found").message).toBe(
          `There is no approval ${JSON.stringify(approval_id)} that this key can reach.`,
        );
    }
  });
});

describe("a decision that needs a second factor", () => {
  const createGuarded = async () => {
    const { organisation, approver } = await createOrganisationWithApprover(perch());
    const { approvals } = await insertWaitingRun(perch(), organisation, {
      calls: [{ secondFactor: true }, { secondFactor: true }],
    });
    const approve = async (approval_id: string, code?: string) => {
      const { path, init } = buildRequest("POST /v1/approvals/{approval_id}/approve", {
        params: { approval_id },
        body: {},
      });
      const headers = { ...init.headers, authorization: `Bearer ${approver}`, ...(code && { "x-mfa-code": code }) };
      const response = await fetch(perch().url + path, { ...init, headers });
      return { status: response.status, body: (await response.json()) as { error?: { message: string } } };
    };
    return { organisation, approver, first: approvals[0] ?? "", second: approvals[1] ?? "", approve };
  };

  test("403 without a factor, which says how to enrol", async () => {
    const { first, approve } = await createGuarded();
    const { status, body } = await approve(first, "123456");
    expect(status).toBe(403);
    expect(body.error?.message).toContain("POST /v1/mfa");
  });

  test("each decision spends a code; deciding again the same needs none", async () => {
    const { organisation, approver, first, second, approve } = await createGuarded();
    const { secret } = await enrolSecondFactor(organisation, approver);
    expect((await approve(first)).status).toBe(401);
    expect((await approve(first, "000000")).status).toBe(401);
    const code = generateTotpCode(secret);
    expect((await approve(first, code)).status).toBe(200);
    expect((await approve(first)).status).toBe(200);
    expect((await approve(second, code)).status).toBe(401);
    expect((await approve(second, generateTotpCode(secret, 1))).status).toBe(200);
  });
});
