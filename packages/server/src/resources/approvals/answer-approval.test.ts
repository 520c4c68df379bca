import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import {
  createOrganisationWithApprover,
  insertWaitingRun,
  type StoredCall,
  waitingStatus,
} from "../../../test/support/stored-approvals.ts";

const perch = usePerch();

const question: StoredCall = {
  kind: "question",
  tool: "ask_person",
  arguments: { question: "Which account?" },
  question: "Which account?",
  parameters: { type: "object", properties: { account: { type: "string" } }, required: ["account"] },
};

async function createQuestion(call: StoredCall = question) {
  const { organisation, approver } = await createOrganisationWithApprover(perch());
  const { run, approvals } = await insertWaitingRun(perch(), organisation, { calls: [call] });
  const params = { approval_id: approvals[0] ?? "" };
  const answer = (value: unknown) =>
    organisation.call(
      "POST /v1/approvals/{approval_id}/answer",
      { params, body: { answer: value as never } },
      approver,
    );
  return { organisation, approver, run, params, answer };
}

describe("POST /v1/approvals/{approval_id}/answer", () => {
  test("the answer is kept, and the run goes on", async () => {
    const { organisation, run, answer } = await createQuestion();
    const answered = ok(await answer({ account: "12-34" })).data;
    expect(answered).toMatchObject({
      status: "answered",
      contents: { question: "Which account?", answer: { account: "12-34" } },
    });
    expect(await waitingStatus(perch(), organisation, run)).toBe("ready");
    expect(ok(await answer({ account: "12-34" })).data).toEqual(answered);
    expect(expectError(await answer({ account: "other" }), "conflict").message).toContain("This was answered");
  });

  test("400 names what does not fit the schema in the agent's definition", async () => {
    const { answer } = await createQuestion();
    expect(expectError(await answer({}), "invalid_request").details).toEqual([
      { field: "answer.account", error: "Required" },
    ]);
    expect(expectError(await answer(null), "invalid_request").details).toMatchObject([{ field: "answer" }]);
  });

  test("any JSON can be an answer, if the schema allows it", async () => {
    for (const value of [null, false, 0, "", []]) {
      const { answer } = await createQuestion({ ...question, parameters: {} });
      expect(ok(await answer(value)).data.contents).toHaveProperty("answer", value);
    }
  });

  test("409 for a call, which is approved or rejected", async () => {
    const { answer } = await createQuestion({});
    expect(expectError(await answer("x"), "conflict").message).toContain("/approve");
  });
});

describe("POST /v1/approvals/{approval_id}/reject", () => {
  test("a question can be rejected, with a reason that only deciders see", async () => {
    const { organisation, approver, params, run } = await createQuestion();
    const body = { reason: "It is not known." };
    ok(await organisation.call("POST /v1/approvals/{approval_id}/reject", { params, body }, approver));
    const shown = ok(await organisation.call("GET /v1/approvals/{approval_id}", { params }, approver)).data;
    expect(shown).toMatchObject({ status: "rejected", contents: { reason: "It is not known." } });
    expect(ok(await organisation.call("GET /v1/approvals/{approval_id}", { params })).data.contents).toBeNull();
    expect(await waitingStatus(perch(), organisation, run)).toBe("ready");
    const log = ok(await organisation.call("GET /v1/audit-log", { query: { resource: params.approval_id } })).data;
    expect(log).toMatchObject([{ operation: "rejectApproval", details: { fields: ["reason"] } }]);
  });
});
