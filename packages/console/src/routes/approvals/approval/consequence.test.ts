import type { Approval } from "@perch/sdk";
import { expect, test } from "vitest";
import { consequence } from "./consequence.ts";

const approval = (approvers: number, approved: number) =>
  ({ approvers, approved_by: Array.from({ length: approved }, () => ({})) }) as unknown as Approval;
const approving = (approvers: number, approved: number, isEdited = false) =>
  consequence(approval(approvers, approved), "approve", isEdited);

test("the last approval makes the call", () => {
  expect(approving(1, 0)).toBe("The call is made with the arguments that you see, and the run goes on.");
  expect(approving(3, 2)).toBe(approving(1, 0));
  expect(approving(1, 0, true)).toBe("The call is made with the arguments as you changed them, and the run goes on.");
});

test("an approval before the last shows how many are missing, and does not promise the call", () => {
  expect(approving(2, 0)).toBe(
    "Your approval counts for the arguments that you see. 1 more must approve them before the call is made.",
  );
  expect(approving(3, 0)).toContain("2 more must approve them");
  expect(approving(2, 0, true)).toBe(
    "Your approval counts for the arguments as you changed them. 1 more must approve them before the call is made.",
  );
});

test("an approver who changes arguments that others have approved learns that those approvals no longer count", () => {
  expect(approving(2, 1, true)).toBe(`${approving(2, 0, true)} The approvals so far do not count for them.`);
});
