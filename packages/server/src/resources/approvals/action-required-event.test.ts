import { hash } from "node:crypto";
import { ApprovalSummary } from "@perch/contract";
import { expect, test } from "vitest";
import { newUuid, toPublicId } from "../../platform/ids.ts";
import { type AskedApproval, actionRequiredData } from "./action-required-event.ts";

const asked: AskedApproval = {
  id: newUuid(),
  agent_id: newUuid(),
  run_id: newUuid(),
  step: 2,
  call: 1,
  kind: "tool",
  tool: "refund",
  why: "`amount` is greater than 100",
  digest: hash("sha256", "refund", "buffer"),
  environment: "production",
  version: "3",
  user_id: "ada",
  session_id: null,
  approvers: 2,
  second_factor: true,
  created_at: new Date("2026-01-02T03:04:05.678Z"),
  expires_at: new Date("2026-01-09T03:04:05.678Z"),
};

test("the event of an approval is the approval as the list shows it, and no more", () => {
  const data = actionRequiredData({ ...asked, sealed_call: Buffer.from("x") } as AskedApproval, "bot");
  expect(ApprovalSummary.strict().parse(data)).toEqual(data);
  expect(data).toMatchObject({
    id: toPublicId("approval", asked.id),
    status: "open",
    agent_name: "bot",
    request_id: toPublicId("request", asked.run_id),
    digest: asked.digest.toString("hex"),
    approved_by: [],
    expires_at: "2026-01-09T03:04:05.678Z",
  });
});
